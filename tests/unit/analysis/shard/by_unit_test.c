/* What units contribute: that it adds up, and to which unit it goes. */
#include "analysis/shard/by_unit.h"

#include "unit/analysis/analysis.h"
#include "unit/analysis/shard/by_hand.h"

static struct by_hand hand;
static struct shard_by_unit table;

static void add(struct shard_memory *sum, const struct shard_memory *memory)
{
    sum->parameter_bytes += memory->parameter_bytes;
    sum->gradient_bytes += memory->gradient_bytes;
    sum->optimizer_state_bytes += memory->optimizer_state_bytes;
    sum->activation_bytes += memory->activation_bytes;
    sum->buffer_bytes += memory->buffer_bytes;
}

/* Makes the table of rank 0, and compares its sums with the rank. */
static void make(enum shard_strategy strategy)
{
    struct shard_result result;
    struct error err;
    ck_assert(shard_predict(&hand.model, &hand.options, strategy, true, &result, &err));
    ck_assert(shard_by_unit_make(&table, &hand.model, &hand.options, strategy, 0, &err));
    ck_assert_uint_eq(table.count, hand.model.unit_count);
    struct shard_memory peak = table.none, step = {0};
    for (size_t i = 0; i < table.count; i++) {
        ck_assert_uint_eq(table.rows[i].unit, i);
        add(&peak, &table.rows[i].at_peak);
        add(&step, &table.rows[i].in_step);
    }
    const struct shard_rank *rank = &result.ranks[0];
    ck_assert_int_eq(shard_memory_sum(&peak), rank->peak_bytes);
    ck_assert_int_eq(peak.parameter_bytes, rank->at_peak.parameter_bytes);
    ck_assert_int_eq(peak.gradient_bytes, rank->at_peak.gradient_bytes);
    ck_assert_int_eq(step.parameter_bytes + hand.model.buffer_bytes, rank->held_parameter_bytes);
    ck_assert_int_eq(step.optimizer_state_bytes, rank->held_state_bytes);
    shard_result_release(&result);
}

static void check_unit(uint32_t unit, int64_t parameters, int64_t gradients, int64_t buffers)
{
    const struct shard_unit_row *row = &table.rows[unit];
    ck_assert_int_eq(row->elements, ELEMENTS);
    ck_assert_int_eq(row->at_peak.parameter_bytes, parameters);
    ck_assert_int_eq(row->at_peak.gradient_bytes, gradients);
    ck_assert_int_eq(row->at_peak.buffer_bytes, buffers);
}

/* The peak is the backward of the last unit, beside what is gathered for the one before it. */
START_TEST(gathered_unit)
{
    by_hand_begin(&hand, 4000);
    make(SHARD_FSDP2);
    check_unit(LAYERS, LAYER / 2 + LAYER, LAYER, 0);
    check_unit(LAYERS - 1, LAYER / 2, 0, LAYER);
    check_unit(1, LAYER / 2, 0, 0);
    ck_assert(table.rows[LAYERS].is_unsharded);
    ck_assert(!table.rows[LAYERS - 1].is_unsharded);
    for (size_t i = 1; i <= LAYERS; i++)
        ck_assert_int_eq(table.rows[i].at_peak.activation_bytes, 1000);
    ck_assert_int_eq(shard_memory_sum(&table.none), 0);
    shard_by_unit_release(&table);
    by_hand_end(&hand);
}
END_TEST

START_TEST(replicated_units)
{
    by_hand_begin(&hand, 0);
    make(SHARD_ZERO); /* the peak is the step; buckets, and temporaries of two of the tensors */
    for (uint32_t i = 1; i <= LAYERS; i++) {
        int64_t owned = i % 2 == 1;
        check_unit(i, LAYER, LAYER, LAYER + owned * LAYER);
        ck_assert_int_eq(table.rows[i].in_step.optimizer_state_bytes, owned * 2 * LAYER);
        ck_assert(table.rows[i].is_unsharded);
    }
    shard_by_unit_release(&table);
    by_hand_end(&hand);
}
END_TEST

/* FairScale's bucket of 25 MiB and its half belong to the last unit, whose gradients come first.
 * The peak is the reduction of another one, which a walk without that unit lacks. */
START_TEST(shared_bucket)
{
    const int64_t bucket = INT64_C(25) << 20;
    by_hand_begin(&hand, 0);
    make(SHARD_FSDP);
    ck_assert_int_eq(table.peak.phase, SHARD_REDUCTION);
    ck_assert_uint_lt(table.peak.unit, LAYERS);
    ck_assert_int_eq(shard_memory_sum(&table.none), 0);
    check_unit(LAYERS, LAYER / 2, bucket / 2, bucket);
    check_unit(table.peak.unit, LAYER / 2 + LAYER, 2 * LAYER, 0);
    ck_assert(table.rows[table.peak.unit].is_unsharded);
    shard_by_unit_release(&table);
    by_hand_end(&hand);
}
END_TEST

START_TEST(every_strategy_adds_up)
{
    for (int k = 0; k < SHARD_STRATEGIES; k++) {
        by_hand_begin(&hand, 400);
        for (size_t i = 0; i < LAYERS; i++)
            hand.model.tensors[i].elements = (int64_t)(i + 1) * ELEMENTS;
        hand.model.tensors[1].frozen = true;
        hand.model.buffer_bytes = 12;
        hand.options.reduce_buffer = 2 * ELEMENTS + 1;
        hand.options.accumulation = 2;
        make((enum shard_strategy)k);
        shard_by_unit_release(&table);
        by_hand_end(&hand);
    }
}
END_TEST

/* A checkpoint keeps its output, not what its layers save. */
START_TEST(kept_by_checkpoints)
{
    static const struct shard_segment segments[] = {{.first = 0, .end = 2}, {.first = 2, .end = 4}};
    struct error err;
    by_hand_begin(&hand, 4000);
    for (size_t i = 0; i < LAYERS; i++)
        hand.model.layers[i].output = 100;
    ck_assert(shard_model_checkpoint(&hand.model, segments, 2, &err));
    make(SHARD_DDP); /* the peak is in the second segment's backward */
    ck_assert_int_eq(table.rows[1].at_peak.activation_bytes, 0);
    ck_assert_int_eq(table.rows[2].at_peak.activation_bytes, 100);
    ck_assert_int_eq(table.rows[3].at_peak.activation_bytes, 0);
    shard_by_unit_release(&table);
    by_hand_end(&hand);
}
END_TEST

START_TEST(too_many_units)
{
    struct error err;
    by_hand_begin(&hand, 0);
    size_t points = hand.model.point_count;
    hand.model.point_count = SIZE_MAX / 2;
    ck_assert(!shard_by_unit_make(&table, &hand.model, &hand.options, SHARD_DDP, 0, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    hand.model.point_count = points;
    by_hand_end(&hand);
}
END_TEST

TCase *shard_by_unit_tests(void)
{
    TCase *tcase = tcase_create("units of shard");
    tcase_add_test(tcase, gathered_unit);
    tcase_add_test(tcase, replicated_units);
    tcase_add_test(tcase, shared_bucket);
    tcase_add_test(tcase, every_strategy_adds_up);
    tcase_add_test(tcase, kept_by_checkpoints);
    tcase_add_test(tcase, too_many_units);
    return tcase;
}
