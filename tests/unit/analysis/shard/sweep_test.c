/* The largest batch for several numbers of ranks. */
#include "analysis/shard/sweep.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/shard/by_hand.h"

static struct by_hand hand;

static int64_t peak_of(enum shard_strategy strategy, int64_t world, uint64_t batch)
{
    struct shard_result result;
    struct error err;
    hand.options.world = world;
    hand.options.batch = (double)batch;
    ck_assert(shard_predict(&hand.model, &hand.options, strategy, true, &result, &err));
    int64_t peak = result.peak_bytes;
    shard_result_release(&result);
    return peak;
}

/* The largest batch fits, and the next one does not. */
START_TEST(sweep_finds_the_largest_batch)
{
    const int64_t gpu = 20000;
    struct fit_values worlds, batches;
    struct shard_sweep sweep;
    struct error err;
    by_hand_begin(&hand, 4000);
    ck_assert(fit_values_parse("world=1,2,4,16", &worlds, &err));
    ck_assert(fit_values_parse("batch=1..8", &batches, &err));
    ck_assert(shard_sweep_make(&sweep, &hand.model, NULL, &hand.options, &worlds, &batches,
                               (uint64_t)gpu, &err));
    ck_assert_uint_eq(sweep.count, 4 * SHARD_STRATEGIES);
    for (size_t i = 0; i < sweep.count; i++) {
        const struct shard_sweep_row *row = &sweep.rows[i];
        int64_t world = (int64_t)row->world;
        if (row->strategy == SHARD_FSDP) { /* its bucket does not fit */
            ck_assert_uint_eq(row->largest_batch, 0);
            ck_assert_int_gt(row->peak_bytes, gpu);
            continue;
        }
        ck_assert_uint_eq(row->largest_batch, 4);
        ck_assert_int_eq(row->peak_bytes, peak_of(row->strategy, world, 4));
        ck_assert_int_le(row->peak_bytes, gpu);
        ck_assert_int_gt(peak_of(row->strategy, world, 5), gpu);
    }
    shard_sweep_release(&sweep);
    ck_assert(shard_sweep_make(&sweep, &hand.model, NULL, &hand.options, &worlds, &batches, 1 << 30,
                               &err));
    ck_assert_uint_eq(sweep.rows[0].largest_batch, 8);
    ck_assert(sweep.rows[0].is_last);
    shard_sweep_release(&sweep);
    by_hand_end(&hand);
}
END_TEST

TCase *shard_sweep_tests(void)
{
    TCase *tcase = tcase_create("shard --sweep");
    tcase_add_test(tcase, sweep_finds_the_largest_batch);
    return tcase;
}
