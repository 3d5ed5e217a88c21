/* The strategies that flatten the tensors of a unit: FairScale's and torch's
 * FullyShardedDataParallel. */
#include "analysis/shard/choice.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/shard/by_hand.h"

static struct by_hand hand;

/* The gradient of a unit is made of those of its tensors, while it is gathered, and the unit before
 * it is gathered ahead. */
START_TEST(torch_gathers_flat_units)
{
    by_hand_begin(&hand, 4000);
    int64_t states = ALL / 2 + ALL;
    /* the last unit's backward: itself, the one before, and its gradient */
    by_hand_peaks(&hand, SHARD_FSDP1, states + 4000 + 3 * LAYER);
    hand.options.backward_prefetch = SHARD_PREFETCH_POST;
    by_hand_peaks(&hand, SHARD_FSDP1, states + 4000 + 2 * LAYER);
    hand.options.backward_prefetch = SHARD_PREFETCH_NONE;
    by_hand_peaks(&hand, SHARD_FSDP1, states + 4000 + 2 * LAYER);
    hand.options.forward_prefetch = 1; /* no change of the last unit's backward */
    by_hand_peaks(&hand, SHARD_FSDP1, states + 4000 + 2 * LAYER);
    hand.options.forward_prefetch = 0;
    hand.options.offload = true; /* the shard is on the device with the unit */
    by_hand_peaks(&hand, SHARD_FSDP1, 4000 + 2 * LAYER + LAYER / 2);
    hand.options.has_flat_parameters = true;
    by_hand_peaks(&hand, SHARD_FSDP1, 4000 + 2 * LAYER);
    hand.options.offload = hand.options.has_flat_parameters = false;
    hand.options.reshard = SHARD_KEEP; /* SHARD_GRAD_OP */
    by_hand_peaks(&hand, SHARD_FSDP1, states + 4000 + ALL + LAYER);
    hand.options.reshard = SHARD_RESHARD;
    hand.options.group = 1; /* NO_SHARD */
    by_hand_peaks(&hand, SHARD_FSDP1, 3 * ALL + 4000 + LAYER);
    by_hand_end(&hand);
    by_hand_begin(&hand, 0);
    hand.options.optimizer = shard_optimizer_find("sgd");
    /* the second unit: itself, the one before, two gradients, and those of two units sharded */
    by_hand_peaks(&hand, SHARD_FSDP1, ALL / 2 + 4 * LAYER + 2 * (LAYER / 2));
    struct shard_rank rank = by_hand_predict(&hand, SHARD_FSDP1, 0);
    ck_assert_int_eq(rank.peak_phase, SHARD_REDUCTION);
    ck_assert_int_eq(rank.at_peak.parameter_bytes, ALL / 2 + 2 * LAYER);
    ck_assert_int_eq(rank.at_peak.buffer_bytes, 0);
    hand.options.backward_prefetch = SHARD_PREFETCH_NONE;
    by_hand_peaks(&hand, SHARD_FSDP1, ALL / 2 + 3 * LAYER + 3 * (LAYER / 2)); /* the first one */
    hand.options.forward_prefetch = 1; /* the second unit waits for the first, with its gradients */
    by_hand_peaks(&hand, SHARD_FSDP1, ALL / 2 + 5 * LAYER + 2 * (LAYER / 2));
    hand.options.forward_prefetch = 0;
    hand.options.offload = true; /* gradients are copied, and stay until the end */
    by_hand_peaks(&hand, SHARD_FSDP1, 3 * LAYER + 4 * (LAYER / 2));
    by_hand_end(&hand);
}
END_TEST

/* Two units run twice. Each is gathered from its first backward on, until its gradients are
 * complete: so both are when the second layer runs backward. */
START_TEST(units_that_run_again_stay_gathered)
{
    static const enum shard_strategy strategies[] = {SHARD_FSDP, SHARD_FSDP1};
    by_hand_begin(&hand, 4000);
    hand.options.backward_prefetch = SHARD_PREFETCH_NONE;
    for (size_t i = 0; i < LAYERS; i++)
        hand.model.layers[i].unit = hand.model.tensors[i].unit = 1 + i % 2;
    for (size_t i = 0; i < hand.model.point_count; i++)
        if (hand.model.points[i].is_backward && hand.model.points[i].layer == 1)
            hand.model.points[i].peak_bytes = 64 * MIB;
    for (size_t i = 0; i < 2; i++) {
        struct shard_rank rank = by_hand_predict(&hand, strategies[i], 0);
        ck_assert_int_eq(rank.peak_phase, SHARD_BACKWARD);
        ck_assert_int_eq(rank.at_peak.parameter_bytes, ALL / 2 + ALL);
    }
    struct shard_rank rank = by_hand_predict(&hand, SHARD_FSDP2, 0);
    ck_assert_int_eq(rank.at_peak.parameter_bytes, ALL / 2 + ALL / 2);
    by_hand_end(&hand);
}
END_TEST

/* 10 elements of a unit on 4 ranks are 3 each, of which the last has one. */
START_TEST(padding_has_no_state)
{
    by_hand_begin(&hand, 4000);
    hand.options.world = 4;
    struct shard_result result;
    struct error err;
    ck_assert(shard_predict(&hand.model, &hand.options, SHARD_FSDP1, true, &result, &err));
    ck_assert_int_eq(result.ranks[0].held_parameter_bytes, LAYERS * 3 * 4);
    ck_assert_int_eq(result.ranks[3].held_parameter_bytes, LAYERS * 3 * 4);
    ck_assert_int_eq(result.ranks[0].held_state_bytes, 2 * LAYERS * 3 * 4);
    ck_assert_int_eq(result.ranks[3].held_state_bytes, 2 * LAYERS * 1 * 4);
    shard_result_release(&result);
    hand.options.has_flat_parameters = true;
    ck_assert(shard_predict(&hand.model, &hand.options, SHARD_FSDP1, true, &result, &err));
    ck_assert_int_eq(result.ranks[3].held_state_bytes, 2 * LAYERS * 3 * 4);
    shard_result_release(&result);
    by_hand_end(&hand);
}
END_TEST

static int64_t reduced_by_fsdp1(const struct shard_choice *choice)
{
    const struct shard_row *row = shard_choice_row(choice, SHARD_FSDP1);
    return row->result.traffic.bytes[SHARD_REDUCE_SCATTER];
}

/* The flat tensor has a gradient as a whole. Else what is trained has one of its own. */
START_TEST(frozen_parameters_in_flat_tensors)
{
    by_hand_begin(&hand, 4000);
    ck_assert(!shard_model_mixes(&hand.model));
    hand.model.tensors[LAYERS - 1].frozen = true;
    ck_assert(!shard_model_mixes(&hand.model));
    hand.model.tensors[LAYERS - 1].unit = 1;
    ck_assert(shard_model_mixes(&hand.model));
    struct shard_choice choice;
    struct error err;
    ck_assert(shard_choose(&choice, &hand.model, NULL, NULL, &hand.options, 1, &err));
    ck_assert(!shard_choice_runs(&choice, SHARD_FSDP));
    ck_assert(shard_choice_runs(&choice, SHARD_FSDP1));
    ck_assert(shard_choice_runs(&choice, SHARD_FSDP2));
    ck_assert_int_eq(reduced_by_fsdp1(&choice), (ALL - LAYER) / 2);
    shard_choice_release(&choice);
    hand.options.has_flat_parameters = true;
    ck_assert(shard_choose(&choice, &hand.model, NULL, NULL, &hand.options, 1, &err));
    ck_assert(!shard_choice_runs(&choice, SHARD_FSDP1));
    ck_assert_int_eq(reduced_by_fsdp1(&choice), ALL / 2);
    shard_choice_release(&choice);
    by_hand_end(&hand);
}
END_TEST

START_TEST(large_units_of_fairscale)
{
    const struct shard_sizes sizes = {
        .elements = 8 * MIB, .element_size = 4, .layers = 1}; /* 32 MiB: beyond its bucket */
    by_hand_begin_with(&hand, &sizes);
    hand.options.optimizer = shard_optimizer_find("momentum");
    /* shard and state, then the unit, its gradients, and those in one piece */
    by_hand_peaks(&hand, SHARD_FSDP, 32 * MIB + 3 * 32 * MIB);
    hand.options.compute_size = 2; /* the unit and its cast shard, and its gradients twice */
    by_hand_peaks(&hand, SHARD_FSDP, 32 * MIB + 16 * MIB + 8 * MIB + 2 * 16 * MIB);
    hand.options.reduce_size = 4; /* gradients, these as float32, that in pieces, and the shard */
    by_hand_peaks(&hand, SHARD_FSDP, 32 * MIB + 16 * MIB + 32 * MIB + 32 * MIB + 16 * MIB);
    by_hand_end(&hand);
}
END_TEST

TCase *shard_flat_tests(void)
{
    TCase *tcase = tcase_create("shard with flat tensors");
    tcase_add_test(tcase, torch_gathers_flat_units);
    tcase_add_test(tcase, units_that_run_again_stay_gathered);
    tcase_add_test(tcase, padding_has_no_state);
    tcase_add_test(tcase, frozen_parameters_in_flat_tensors);
    tcase_add_test(tcase, large_units_of_fairscale);
    return tcase;
}
