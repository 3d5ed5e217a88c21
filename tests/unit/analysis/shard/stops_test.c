/* What the libraries refuse, on models of two units with three tensors each. */
#include "analysis/shard/stops.h"

#include "analysis/shard/shard.h"
#include "unit/analysis/analysis.h"

enum { UNITS = 2, EACH = 3 };

static struct budget budget;
static struct shard_model model;
static struct shard_options options;
static struct shard_tensor *tensors;

/* Each tensor is a layer, and the first of a unit its largest. */
static void begin(void)
{
    struct error err;
    const struct shard_sizes sizes = {
        .elements = 600, .element_size = 4, .layers = (size_t)UNITS * EACH};
    budget = (struct budget){.limit = 1 << 20};
    shard_model_init(&model, &budget);
    ck_assert_msg(shard_model_by_hand(&model, &sizes, &err), "%s", err.text);
    tensors = model.tensors;
    model.unit_count = UNITS + 1;
    model.type = SHARD_FLOAT32;
    for (uint32_t i = 0; i < UNITS * EACH; i++) {
        tensors[i].unit = model.layers[i].unit = i / EACH + 1;
        tensors[i].elements = i % EACH == 0 ? 100 : 10;
        tensors[i].place = i;
    }
    shard_options_init(&options);
    options.world = 2;
}

static enum shard_stop stop(enum shard_strategy strategy)
{
    struct error err;
    enum shard_stop found;
    ck_assert(shard_find_stop(&model, &options, strategy, &found, &err));
    return found;
}

static bool divides(enum shard_strategy strategy)
{
    struct error err;
    bool found;
    ck_assert(shard_divides(&model, &options, strategy, &found, &err));
    return found;
}

static void stop_all(enum shard_stop zero, enum shard_stop oss, enum shard_stop fsdp,
                     enum shard_stop fsdp1, enum shard_stop fsdp2)
{
    ck_assert_int_eq(stop(SHARD_DDP), SHARD_RUNS);
    ck_assert_int_eq(stop(SHARD_ZERO), zero);
    ck_assert_int_eq(stop(SHARD_OSS), oss);
    ck_assert_int_eq(stop(SHARD_SDP), oss);
    ck_assert_int_eq(stop(SHARD_FSDP), fsdp);
    ck_assert_int_eq(stop(SHARD_FSDP1), fsdp1);
    ck_assert_int_eq(stop(SHARD_FSDP2), fsdp2);
}

START_TEST(of_one_type)
{
    begin();
    stop_all(SHARD_RUNS, SHARD_RUNS, SHARD_RUNS, SHARD_RUNS, SHARD_RUNS);
    ck_assert(!divides(SHARD_FSDP1) && !divides(SHARD_FSDP2));
    options.parameter_size = 2;
    stop_all(SHARD_RUNS, SHARD_RUNS, SHARD_STOPS_AT_HALF, SHARD_RUNS, SHARD_RUNS);
    options.parameter_size = 0;
    model.type = SHARD_BFLOAT16;
    model.element_size = 2;
    stop_all(SHARD_RUNS, SHARD_RUNS, SHARD_STOPS_AT_HALF, SHARD_RUNS, SHARD_RUNS);
    shard_model_release(&model);
}
END_TEST

/* A module of another type in the first unit: its code divides the unit. */
START_TEST(of_several_types)
{
    begin();
    tensors[1].type = SHARD_BFLOAT16;
    stop_all(SHARD_STOPS_AT_TYPES, SHARD_STOPS_AT_TYPES, SHARD_STOPS_AT_HALF, SHARD_RUNS,
             SHARD_RUNS);
    ck_assert(divides(SHARD_FSDP1) && divides(SHARD_FSDP2) && !divides(SHARD_FSDP));
    options.has_flat_parameters = true;
    ck_assert(!divides(SHARD_FSDP1));
    ck_assert_int_eq(stop(SHARD_FSDP1), SHARD_STOPS_AT_TYPES);
    options.has_flat_parameters = false;
    options.parameter_size = 4;
    stop_all(SHARD_RUNS, SHARD_RUNS, SHARD_RUNS, SHARD_RUNS, SHARD_RUNS);
    options.parameter_size = 0;
    /* the module is the unit itself: it stays there, and those of the other type leave */
    model.layers[1].is_unit = true;
    stop_all(SHARD_STOPS_AT_TYPES, SHARD_STOPS_AT_TYPES, SHARD_STOPS_AT_HALF, SHARD_RUNS,
             SHARD_RUNS);
    model.layers[0].is_unit = true; /* both are parameters of that module */
    stop_all(SHARD_STOPS_AT_TYPES, SHARD_STOPS_AT_TYPES, SHARD_STOPS_AT_HALF, SHARD_STOPS_AT_TYPES,
             SHARD_STOPS_AT_TYPES);
    model.layers[0].is_unit = model.layers[1].is_unit = false;
    /* one module has both */
    model.layers[0].end_tensor = model.layers[1].first_tensor = 2;
    ck_assert_int_eq(stop(SHARD_FSDP1), SHARD_STOPS_AT_TYPES);
    ck_assert_int_eq(stop(SHARD_FSDP2), SHARD_STOPS_AT_TYPES);
    shard_model_release(&model);
}
END_TEST

/* OSS and fully_shard() look at what is trained. */
START_TEST(frozen_of_another_type)
{
    begin();
    for (uint32_t i = 0; i < EACH; i++) {
        tensors[i].type = SHARD_BFLOAT16;
        tensors[i].frozen = true;
    }
    stop_all(SHARD_STOPS_AT_TYPES, SHARD_RUNS, SHARD_STOPS_AT_HALF, SHARD_RUNS, SHARD_RUNS);
    ck_assert(!divides(SHARD_FSDP1) && !divides(SHARD_FSDP2));
    tensors[1] = (struct shard_tensor){.elements = 10, .unit = 1, .place = 1};
    stop_all(SHARD_STOPS_AT_TYPES, SHARD_RUNS, SHARD_STOPS_AT_HALF, SHARD_RUNS, SHARD_RUNS);
    ck_assert(divides(SHARD_FSDP1) && !divides(SHARD_FSDP2));
    shard_model_release(&model);
}
END_TEST

/* Each owner has one type, by chance: the rank that gets a tensor is the least loaded. */
START_TEST(owners)
{
    begin();
    tensors[3].type = SHARD_BFLOAT16;
    tensors[1].frozen = tensors[2].frozen = tensors[4].frozen = tensors[5].frozen = true;
    ck_assert_int_eq(stop(SHARD_OSS), SHARD_RUNS);
    options.world = 1;
    ck_assert_int_eq(stop(SHARD_OSS), SHARD_STOPS_AT_TYPES);
    shard_model_release(&model);
}
END_TEST

START_TEST(optimizers)
{
    begin();
    options.optimizer = shard_optimizer_find("adafactor");
    ck_assert_int_eq(stop(SHARD_FSDP2), SHARD_STOPS_AT_OPTIMIZER);
    ck_assert_int_eq(stop(SHARD_FSDP1), SHARD_RUNS);
    shard_model_release(&model);
}
END_TEST

TCase *shard_stops_tests(void)
{
    TCase *tcase = tcase_create("shard stops");
    tcase_add_test(tcase, of_one_type);
    tcase_add_test(tcase, of_several_types);
    tcase_add_test(tcase, frozen_of_another_type);
    tcase_add_test(tcase, owners);
    tcase_add_test(tcase, optimizers);
    return tcase;
}
