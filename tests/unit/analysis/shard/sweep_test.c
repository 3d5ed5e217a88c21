/* The largest batch for several numbers of ranks. */
#include "analysis/shard/room.h"
#include "analysis/shard/sweep.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/shard/by_hand.h"

static struct by_hand hand;

/* The highest peak of any rank; `any_step`: of the first step, too. */
static int64_t peak_of(enum shard_strategy strategy, int64_t world, uint64_t batch, bool any_step)
{
    struct shard_result result;
    struct error err;
    hand.options.world = world;
    hand.options.batch = (double)batch;
    ck_assert(shard_predict(&hand.model, &hand.options, strategy, true, &result, &err));
    int64_t peak = result.peak_bytes;
    for (size_t i = 0; any_step && i < result.rank_count; i++)
        if (result.ranks[i].first_peak_bytes > peak)
            peak = result.ranks[i].first_peak_bytes;
    shard_result_release(&result);
    return peak;
}

/* A context, a fifth of the peak, and a gathered unit where parameters are sharded. */
START_TEST(a_gpu_has_room_for_more_than_active_memory)
{
    const uint64_t mib = 1 << 20, gpu = 512 * mib + 120 * mib;
    const struct shard_room room = {.unit_bytes = 6 * 1024}, none = {0},
                            all = {.unit_bytes = (int64_t)gpu};
    ck_assert_uint_eq(shard_usable_bytes(SHARD_DDP, &room, 1, gpu), 100 * mib);
    ck_assert_uint_eq(shard_usable_bytes(SHARD_SDP, &room, 1, gpu), 100 * mib);
    ck_assert_uint_eq(shard_usable_bytes(SHARD_FSDP2, &room, 1, gpu), 100 * mib - 5 * 1024);
    ck_assert_uint_eq(shard_usable_bytes(SHARD_DDP, &none, 1, 512 * mib), 0);
    ck_assert_uint_eq(shard_usable_bytes(SHARD_FSDP2, &all, 1, gpu), 0);
}
END_TEST

/* Holes as large as two of the largest tensors, where these are more than a fifth of the peak. */
START_TEST(large_tensors_need_more_room)
{
    const uint64_t mib = 1 << 20, gpu = 512 * mib + 120 * mib;
    const struct shard_room room = {.tensor_bytes = 8 * 1024 * 1024};
    ck_assert_uint_eq(shard_usable_bytes(SHARD_DDP, &room, 1, gpu), 100 * mib);
    ck_assert_uint_eq(shard_usable_bytes(SHARD_DDP, &room, 2, gpu), 88 * mib);
    ck_assert_uint_eq(shard_usable_bytes(SHARD_DDP, &room, 7.5, gpu), 0);
    ck_assert_uint_eq(shard_usable_bytes(SHARD_DDP, &room, 65536, gpu), 0);
}
END_TEST

/* The largest tensor is the largest output of a layer, or one that is known to be larger. */
START_TEST(outputs_of_layers_are_tensors)
{
    struct shard_room room;
    struct error err;
    by_hand_begin(&hand, 4000);
    hand.model.layers[0].output = 700;
    ck_assert(shard_room_find(&room, &hand.model, &hand.options, &err));
    ck_assert_int_eq(room.tensor_bytes, 700);
    hand.model.tensor_bytes = 900;
    ck_assert(shard_room_find(&room, &hand.model, &hand.options, &err));
    ck_assert_int_eq(room.tensor_bytes, 900);
    by_hand_end(&hand);
}
END_TEST

/* There is room for the largest batch, but not for the next one. */
START_TEST(sweep_finds_the_largest_batch)
{
    const uint64_t gpu = SHARD_CONTEXT_BYTES + 25000;
    struct shard_room room;
    struct fit_values worlds, batches;
    struct shard_sweep sweep;
    struct error err;
    by_hand_begin(&hand, 4000);
    ck_assert(shard_room_find(&room, &hand.model, &hand.options, &err));
    ck_assert_int_gt(room.unit_bytes, 0);
    ck_assert(fit_values_parse("world=1,2,4,16", &worlds, &err));
    ck_assert(fit_values_parse("batch=1..8", &batches, &err));
    ck_assert(
        shard_sweep_make(&sweep, &hand.model, NULL, &hand.options, &worlds, &batches, gpu, &err));
    ck_assert_uint_eq(sweep.count, 4 * SHARD_STRATEGIES);
    for (size_t i = 0; i < sweep.count; i++) {
        const struct shard_sweep_row *row = &sweep.rows[i];
        int64_t world = (int64_t)row->world;
        int64_t usable = (int64_t)shard_usable_bytes(row->strategy, &room, 1, gpu);
        if (row->strategy == SHARD_FSDP) { /* its bucket does not fit */
            ck_assert_uint_eq(row->largest_batch, 0);
            ck_assert_int_gt(row->peak_bytes, usable);
            continue;
        }
        ck_assert_uint_gt(row->largest_batch, 0);
        ck_assert_int_eq(row->peak_bytes, peak_of(row->strategy, world, row->largest_batch, false));
        ck_assert_int_le(peak_of(row->strategy, world, row->largest_batch, true), usable);
        ck_assert_int_gt(peak_of(row->strategy, world, row->largest_batch + 1, true), usable);
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

/* One rank shares nothing, but may keep shards on the host. */
START_TEST(one_rank_uses_the_plain_program)
{
    struct fit_values worlds, batches;
    struct shard_sweep sweep;
    struct error err;
    by_hand_begin(&hand, 4000);
    ck_assert(fit_values_parse("world=1,2", &worlds, &err));
    ck_assert(fit_values_parse("batch=1", &batches, &err));
    for (int offload = 0; offload <= 1; offload++) {
        hand.options.offload = offload;
        ck_assert(shard_sweep_make(&sweep, &hand.model, NULL, &hand.options, &worlds, &batches,
                                   1 << 30, &err));
        for (size_t i = 0; i < sweep.count; i++) {
            const struct shard_sweep_row *row = &sweep.rows[i];
            bool is_of_use = row->world > 1 || row->strategy == SHARD_DDP ||
                             (offload && row->strategy >= SHARD_FSDP);
            ck_assert_int_eq(row->is_of_use, is_of_use);
        }
        shard_sweep_release(&sweep);
    }
    by_hand_end(&hand);
}
END_TEST

/* Until its first gradient is reduced, sdp holds the parameters twice, and no optimizer state. */
START_TEST(the_first_step_of_sdp_may_take_more)
{
    struct shard_moment moment = {
        .phase = SHARD_FORWARD,
        .memory = {.parameter_bytes = 100, .optimizer_state_bytes = 30, .activation_bytes = 500}};
    ck_assert_int_eq(shard_first_step_more(SHARD_SDP, &moment), 70);
    ck_assert_int_eq(shard_first_step_more(SHARD_OSS, &moment), 0);
    moment.phase = SHARD_BACKWARD;
    ck_assert_int_eq(shard_first_step_more(SHARD_SDP, &moment), 70);
    moment.memory.gradient_bytes = 10;
    ck_assert_int_eq(shard_first_step_more(SHARD_SDP, &moment), 0);
    moment = (struct shard_moment){.phase = SHARD_STEP, .memory = {.parameter_bytes = 100}};
    ck_assert_int_eq(shard_first_step_more(SHARD_SDP, &moment), 0);
}
END_TEST

TCase *shard_sweep_tests(void)
{
    TCase *tcase = tcase_create("shard --sweep");
    tcase_add_test(tcase, a_gpu_has_room_for_more_than_active_memory);
    tcase_add_test(tcase, large_tensors_need_more_room);
    tcase_add_test(tcase, outputs_of_layers_are_tensors);
    tcase_add_test(tcase, sweep_finds_the_largest_batch);
    tcase_add_test(tcase, one_rank_uses_the_plain_program);
    tcase_add_test(tcase, the_first_step_of_sdp_may_take_more);
    return tcase;
}
