/* Units with parameters of several kinds, and what their modules become. */
#include "analysis/shard/divide.h"

#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/shard/by_hand.h"

static struct text name_of(const char *name)
{
    return (struct text){name, strlen(name)};
}

/* A block with a float32 parameter of its own, and two modules of bfloat16. */
static void begin(struct by_hand *hand)
{
    static const char *const names[] = {"block", "block.up", "block.down"};
    by_hand_begin_with(hand,
                       &(struct shard_sizes){.elements = 300, .element_size = 2, .layers = 3});
    struct shard_model *model = &hand->model;
    model->type = SHARD_BFLOAT16;
    model->has_names = true;
    model->unit_count = 2;
    model->units[1].name = name_of(names[0]);
    for (size_t i = 0; i < 3; i++) {
        model->layers[i].name = name_of(names[i]);
        model->layers[i].unit = model->tensors[i].unit = 1;
        model->tensors[i].rows = model->tensors[i].elements;
    }
    model->layers[0].is_unit = true;
    model->tensors[0].elements = model->tensors[0].rows = 4;
    model->tensors[0].type = SHARD_FLOAT32;
}

static struct shard_division divide(const struct by_hand *hand, enum shard_strategy strategy)
{
    struct shard_division division;
    struct error err;
    ck_assert_msg(shard_divide(&division, &hand->model, &hand->options, strategy, &err), "%s",
                  err.text);
    return division;
}

START_TEST(of_several_types)
{
    struct by_hand hand;
    begin(&hand);
    struct shard_division division = divide(&hand, SHARD_FSDP2);
    ck_assert_uint_eq(division.model.unit_count, 4);
    static const uint32_t units[] = {3, 1, 2};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(division.model.layers[i].unit, units[i]);
        ck_assert_uint_eq(division.model.tensors[i].unit, units[i]);
        ck_assert_uint_eq(division.origins[i + 1], 1);
        ck_assert_uint_eq(division.outers[i + 1], i < 2 ? 3 : SHARD_ROOT);
    }
    shard_division_release(&division);
    hand.options.parameter_size = 2; /* of all */
    division = divide(&hand, SHARD_FSDP2);
    ck_assert_uint_eq(division.model.unit_count, 0);
    by_hand_end(&hand);
}
END_TEST

/* The module that leaves takes along what it contains, which leaves it then. */
START_TEST(within)
{
    struct by_hand hand;
    begin(&hand);
    hand.model.layers[0].is_unit = false;
    hand.model.units[1].name = name_of("net");
    hand.model.layers[0].name = name_of("net.block");
    hand.model.layers[1].name = name_of("net.block.up");
    hand.model.layers[2].name = name_of("net.down");
    struct shard_division division = divide(&hand, SHARD_FSDP1);
    ck_assert_uint_eq(division.model.unit_count, 4);
    ck_assert_uint_eq(division.model.layers[1].unit, 1);
    ck_assert_uint_eq(division.model.layers[0].unit, 2);
    ck_assert_uint_eq(division.model.layers[2].unit, 3);
    ck_assert_uint_eq(division.outers[1], 2);
    ck_assert_uint_eq(division.outers[2], 3);
    shard_division_release(&division);
    by_hand_end(&hand);
}
END_TEST

/* fully_shard() takes frozen parameters of any type beside the trained ones. */
START_TEST(frozen)
{
    struct by_hand hand;
    begin(&hand);
    hand.model.tensors[0].frozen = true;
    struct shard_division division = divide(&hand, SHARD_FSDP2);
    ck_assert_uint_eq(division.model.unit_count, 0);
    division = divide(&hand, SHARD_FSDP1);
    ck_assert_uint_eq(division.model.unit_count, 4);
    shard_division_release(&division);
    by_hand_end(&hand);
}
END_TEST

/* Layers of a snapshot: the embedding of the root, which is frozen; and one that may be of several
 * modules, because it has both. */
START_TEST(without_names)
{
    struct by_hand hand;
    begin(&hand);
    for (size_t i = 0; i < 3; i++) {
        hand.model.layers[i].name = (struct text){"", 0};
        hand.model.layers[i].is_unit = false;
        hand.model.tensors[i].type = SHARD_BFLOAT16;
    }
    hand.model.layers[0].unit = hand.model.tensors[0].unit = SHARD_ROOT;
    hand.model.layers[1].end_tensor = hand.model.layers[2].end_tensor;
    hand.model.layers[2].first_tensor = hand.model.layers[2].end_tensor;
    hand.model.tensors[0].frozen = hand.model.tensors[1].frozen = true;
    struct shard_division division = divide(&hand, SHARD_FSDP1);
    ck_assert_uint_eq(division.model.unit_count, 0); /* the root has nothing else */
    hand.model.layers[2].unit = hand.model.tensors[2].unit = SHARD_ROOT;
    hand.model.layers[1].end_tensor = hand.model.layers[2].first_tensor = 2;
    division = divide(&hand, SHARD_FSDP1);
    ck_assert_uint_eq(division.model.unit_count, 3);
    ck_assert_uint_eq(division.model.layers[0].unit, 1);
    ck_assert_uint_eq(division.model.layers[1].unit, 2);
    ck_assert_uint_eq(division.model.layers[2].unit, SHARD_ROOT);
    shard_division_release(&division);
    by_hand_end(&hand);
}
END_TEST

/* At the peak, "up" runs backward: its parameters and gradients, the block's parameter, and the
 * gradients of "down" with what fully_shard() reduces them from. */
START_TEST(peaks)
{
    struct by_hand hand;
    const int64_t own = 4 * 4, linear = 2 * 100, shards = (own + 2 * linear) / 2;
    begin(&hand);
    hand.options.optimizer = shard_optimizer_find("sgd");
    by_hand_peaks(&hand, SHARD_FSDP2, shards + own + 2 * linear + linear + linear / 2);
    /* the flat gradient of "down" beside its parts, and "up", which was gathered ahead */
    by_hand_peaks(&hand, SHARD_FSDP1, shards + own + 2 * linear + 2 * linear);
    struct shard_rank rank = by_hand_predict(&hand, SHARD_FSDP2, 0);
    ck_assert_uint_eq(rank.peak_unit, 1);
    by_hand_end(&hand);
}
END_TEST

TCase *shard_divide_tests(void)
{
    TCase *tcase = tcase_create("shard divide");
    tcase_add_test(tcase, of_several_types);
    tcase_add_test(tcase, within);
    tcase_add_test(tcase, frozen);
    tcase_add_test(tcase, without_names);
    tcase_add_test(tcase, peaks);
    return tcase;
}
