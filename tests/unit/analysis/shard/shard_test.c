/* Predictions for chains of equal layers, against closed forms worked out by hand. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/shard/by_hand.h"

static struct by_hand hand;

/* Parameters, buckets, two states; then the last layer's backward has all activations and its own
 * gradient. */
START_TEST(activations_make_the_peak)
{
    by_hand_begin(&hand, 4000);
    by_hand_peaks(&hand, SHARD_DDP, 4 * ALL + 4000 + LAYER);
    by_hand_peaks(&hand, SHARD_ZERO, 3 * ALL + 4000 + LAYER);
    by_hand_peaks(&hand, SHARD_OSS, 3 * ALL + 4000 + LAYER);
    by_hand_peaks(&hand, SHARD_SDP, 2 * ALL + 4000 + LAYER);
    /* half of the parameters and of the state, the layer, the one gathered ahead, its gradient */
    by_hand_peaks(&hand, SHARD_FSDP2, ALL / 2 + ALL + 4000 + 3 * LAYER);
    struct shard_rank rank = by_hand_predict(&hand, SHARD_FSDP2, 1);
    ck_assert_int_eq(rank.peak_phase, SHARD_BACKWARD);
    ck_assert_uint_eq(rank.peak_unit, LAYERS);
    ck_assert_int_eq(rank.at_peak.buffer_bytes, LAYER);
    ck_assert_int_eq(rank.held_parameter_bytes, ALL / 2);
    ck_assert_int_eq(rank.held_state_bytes, ALL);
    by_hand_end(&hand);
}
END_TEST

/* One rank: ddp is the plain program, without buckets, also if they would be the gradients. */
START_TEST(one_rank_is_the_plain_program)
{
    by_hand_begin(&hand, 4000);
    hand.options.world = 1;
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_DDP, 0).peak_bytes, 3 * ALL + 4000 + LAYER);
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_ZERO, 0).peak_bytes, 4 * ALL + 4000 + LAYER);
    by_hand_end(&hand);
    by_hand_begin(&hand, 0);
    hand.options.world = 1;
    hand.options.bucket_view = true;
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_DDP, 0).peak_bytes, 5 * ALL);
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_DDP, 0).at_peak.gradient_bytes, ALL);
    by_hand_end(&hand);
}
END_TEST

/* The last pass of sdp drops gradients as it reduces them; those before it drop none. The last
 * backward, which makes the first layer's gradient, has the peak. */
START_TEST(earlier_passes_of_sdp_keep_all_gradients)
{
    by_hand_begin(&hand, 0);
    hand.options.world = LAYERS;
    hand.model.points[hand.model.point_count - 1].peak_bytes = 4000;
    const int64_t held = ALL + 2 * LAYER + 4000;
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_SDP, 1).peak_bytes, held + 2 * LAYER);
    hand.options.accumulation = 2;
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_SDP, 1).peak_bytes, held + ALL);
    hand.options.accumulation = 3; /* the second one begins with all */
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_SDP, 1).peak_bytes, held + ALL + LAYER);
    by_hand_end(&hand);
}
END_TEST

START_TEST(model_states_make_the_peak)
{
    by_hand_begin(&hand, 0);
    /* the optimizer step: parameters, buckets, gradients, two states, and temporaries */
    by_hand_peaks(&hand, SHARD_DDP, 6 * ALL);
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_DDP, 0).peak_phase, SHARD_STEP);
    by_hand_peaks(&hand, SHARD_ZERO, 3 * ALL + ALL + ALL / 2);
    /* the second unit's backward: itself, the first one gathered, the third one being reduced, its
     * gradient, and two gradients already sharded */
    by_hand_peaks(&hand, SHARD_FSDP2, ALL / 2 + ALL + 4 * LAYER + 2 * (LAYER / 2));
    /* FairScale: a bucket of 25 MiB and its half, the shards, a unit, and its gradient twice */
    by_hand_peaks(&hand, SHARD_FSDP, ALL / 2 + ALL + 25 * MIB + 25 * MIB / 2 + LAYER + 2 * LAYER);
    hand.options.bucket_view = true;
    by_hand_peaks(&hand, SHARD_DDP, 5 * ALL);
    hand.options.optimizer = shard_optimizer_find("momentum");
    by_hand_peaks(&hand, SHARD_DDP, 3 * ALL + LAYER); /* backward: no temporaries in the step */
    /* own gradients, a fresh one, and the one before it, which is being reduced */
    by_hand_peaks(&hand, SHARD_SDP, ALL + ALL / 2 + 3 * LAYER);
    hand.options.bucket_view = false;
    by_hand_peaks(&hand, SHARD_DDP, 4 * ALL);
    by_hand_end(&hand);
}
END_TEST

START_TEST(options_change_the_walk)
{
    by_hand_begin(&hand, 4000);
    hand.options.batch = 2;
    by_hand_peaks(&hand, SHARD_DDP, 4 * ALL + 8000 + LAYER);
    hand.options.batch = 1;
    hand.options.accumulation = 2; /* gradients of the pass before */
    by_hand_peaks(&hand, SHARD_DDP, 5 * ALL + 4000 + LAYER);
    hand.options.accumulation = 1;
    hand.options.offload = true;
    by_hand_peaks(&hand, SHARD_FSDP2, 4000 + 3 * LAYER);
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_FSDP2, 0).host_bytes, ALL / 2 + ALL / 2 + ALL);
    hand.options.offload = false;
    hand.options.reshard = SHARD_KEEP; /* all units stay, and nothing is gathered ahead */
    by_hand_peaks(&hand, SHARD_FSDP2, ALL / 2 + ALL + 4000 + ALL + LAYER);
    hand.options.reshard = SHARD_RESHARD;
    hand.options.prefetch = 2; /* one more beside the last unit's backward */
    by_hand_peaks(&hand, SHARD_FSDP2, ALL / 2 + ALL + 4000 + 4 * LAYER);
    hand.options.prefetch = 1;
    hand.options.forward_prefetch = 2; /* gathered in forward: no change of the peak in backward */
    by_hand_peaks(&hand, SHARD_FSDP2, ALL / 2 + ALL + 4000 + 3 * LAYER);
    hand.options.compute_size = 2; /* gathered and gradients have half the size */
    by_hand_peaks(&hand, SHARD_FSDP2, ALL / 2 + ALL + 4000 + 3 * LAYER / 2);
    hand.options.compute_size = 0;
    hand.options.world = 4;
    hand.options.group = 2;
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_FSDP2, 3).peak_bytes,
                     ALL / 2 + ALL + 4000 + 3 * LAYER);
    by_hand_end(&hand);
}
END_TEST

/* Parameters, gradients and state in the optimizer's step. */
static int64_t model_states(enum shard_strategy strategy)
{
    struct shard_moment last;
    struct error err;
    ck_assert_msg(
        shard_curve(&hand.model, &hand.options, strategy, 0, by_hand_take_last, &last, &err), "%s",
        err.text);
    ck_assert_int_eq(last.phase, SHARD_STEP);
    return last.memory.parameter_bytes + last.memory.gradient_bytes +
           last.memory.optimizer_state_bytes;
}

/* The second layer keeps a copy of its parameters from its forward to its backward pass. */
START_TEST(recurrent_layers_pack)
{
    by_hand_begin(&hand, 4000);
    hand.model.layers[1].packed = ELEMENTS;
    shard_model_set_packed(&hand.model);
    ck_assert_int_eq(hand.model.points[0].packed_elements, 0);
    ck_assert_int_eq(hand.model.points[1].packed_elements, ELEMENTS);
    ck_assert_int_eq(hand.model.points[LAYERS].packed_elements, ELEMENTS);
    ck_assert_int_eq(hand.model.points[hand.model.point_count - 1].packed_elements, 0);
    by_hand_peaks(&hand, SHARD_DDP, 4 * ALL + 4000 + LAYER);
    by_hand_peaks(&hand, SHARD_ZERO, 3 * ALL + 4000 + LAYER);
    by_hand_peaks(&hand, SHARD_OSS, 3 * ALL + 4000 + LAYER + LAYER);
    by_hand_peaks(&hand, SHARD_FSDP2, ALL / 2 + ALL + 4000 + 3 * LAYER + LAYER);
    by_hand_end(&hand);
}
END_TEST

static int64_t buffers_in_step(const char *optimizer)
{
    struct shard_moment last;
    struct error err;
    hand.options.optimizer = shard_optimizer_find(optimizer);
    ck_assert(
        shard_curve(&hand.model, &hand.options, SHARD_ZERO, 0, by_hand_take_last, &last, &err));
    return last.memory.buffer_bytes;
}

/* Only the workspace that is not among what is left of backward. */
START_TEST(muon_has_a_workspace)
{
    by_hand_begin(&hand, 4000);
    int64_t muon = buffers_in_step("muon"), adam = buffers_in_step("adam");
    hand.model.library_bytes = 1000;
    ck_assert_int_eq(buffers_in_step("muon"), muon + 1000);
    ck_assert_int_eq(buffers_in_step("adam"), adam);
    hand.model.end_bytes = 300;
    ck_assert_int_eq(buffers_in_step("muon"), muon + 700);
    hand.model.end_bytes = 1100;
    ck_assert_int_eq(buffers_in_step("muon"), muon);
    by_hand_end(&hand);
}
END_TEST

/* DeepSpeed's formulas for 2 bytes of parameters and of gradients, and 12 of Adam's state. */
START_TEST(formulas_of_zero)
{
    const int64_t elements = LAYERS * ELEMENTS, n = 2;
    by_hand_begin(&hand, 4000);
    hand.options.parameter_size = 2;
    hand.options.has_master = true;
    ck_assert_int_eq(model_states(SHARD_DDP), 16 * elements);
    ck_assert_int_eq(model_states(SHARD_ZERO), 4 * elements + 12 * elements / n);
    ck_assert_int_eq(model_states(SHARD_OSS), 4 * elements + 12 * elements / n);
    ck_assert_int_eq(model_states(SHARD_SDP), 2 * elements + 14 * elements / n);
    ck_assert_int_eq(model_states(SHARD_FSDP2), 16 * elements / n);
    by_hand_end(&hand);
}
END_TEST

/* Megatron's 18 bytes a parameter, with gradients of 4 bytes in the step in place of those of 2;
 * and 6 with 12 divided, if the optimizer's own are, but here also what it has of gradients. */
START_TEST(optimizers_keep_gradients)
{
    const int64_t elements = LAYERS * ELEMENTS, n = 2;
    by_hand_begin(&hand, 0);
    hand.options.parameter_size = 2;
    hand.options.has_master = hand.options.has_main_gradients = true;
    ck_assert_int_eq(model_states(SHARD_DDP), 18 * elements);
    ck_assert_int_eq(model_states(SHARD_ZERO), 2 * elements + 16 * elements / n);
    ck_assert_int_eq(model_states(SHARD_FSDP2), 18 * elements / n);
    hand.options.keeps_gradients = true;
    ck_assert_int_eq(model_states(SHARD_DDP), 20 * elements);
    hand.options.keeps_gradients = false;
    struct shard_rank rank = by_hand_predict(&hand, SHARD_DDP, 0);
    hand.options.has_main_gradients = false;
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_DDP, 0).peak_bytes + 2 * elements,
                     rank.peak_bytes);
    hand.options.offload = true;
    rank = by_hand_predict(&hand, SHARD_FSDP2, 0);
    hand.options.has_main_gradients = true;
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_FSDP2, 0).peak_bytes, rank.peak_bytes);
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_FSDP2, 0).host_bytes,
                     rank.host_bytes + 4 * elements / n);
    by_hand_end(&hand);
}
END_TEST

/* What the first step of ShardedDataParallel has twice does not depend on them. */
START_TEST(kept_gradients_are_no_news)
{
    struct shard_moment moment = {.phase = SHARD_BACKWARD,
                                  .memory = {.parameter_bytes = 100, .gradient_bytes = 40},
                                  .main_gradient_bytes = 40};
    ck_assert_int_eq(shard_first_step_more(SHARD_SDP, &moment), 100);
    moment.main_gradient_bytes = 30;
    ck_assert_int_eq(shard_first_step_more(SHARD_SDP, &moment), 0);
}
END_TEST

START_TEST(uneven_rows_are_padded)
{
    by_hand_begin(&hand, 0);
    for (size_t i = 0; i < LAYERS; i++)
        hand.model.tensors[i].rows = 5; /* of two elements: three rows for rank 0, two for rank 1 */
    struct shard_rank first = by_hand_predict(&hand, SHARD_FSDP2, 0),
                      second = by_hand_predict(&hand, SHARD_FSDP2, 1);
    ck_assert_int_eq(first.held_parameter_bytes, LAYERS * 3 * 2 * 4);
    ck_assert_int_eq(second.held_parameter_bytes, LAYERS * 3 * 2 * 4);
    ck_assert_int_eq(first.held_state_bytes, 2 * LAYERS * 3 * 2 * 4);
    ck_assert_int_eq(second.held_state_bytes, 2 * LAYERS * 2 * 2 * 4);
    hand.options.world = 8; /* five ranks have a row each */
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_FSDP2, 4).held_state_bytes, 2 * LAYERS * 2 * 4);
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_FSDP2, 5).held_state_bytes, 0);
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_FSDP2, 5).held_parameter_bytes, LAYERS * 2 * 4);
    by_hand_end(&hand);
}
END_TEST

/* The backward of the loss runs before the root's hook gathers the last unit. */
START_TEST(nothing_is_gathered_behind_the_loss)
{
    by_hand_begin(&hand, 4000);
    hand.model.layers[LAYERS - 1].outside = true;
    hand.model.unit_count--;
    hand.model.layers[LAYERS - 1].unit = SHARD_ROOT;
    hand.model.tensors[LAYERS - 1].unit = SHARD_ROOT;
    /* half of the parameters and of the state, the root, its gradient */
    by_hand_peaks(&hand, SHARD_FSDP2, ALL / 2 + ALL + 4000 + 2 * LAYER);
    hand.model.layers[LAYERS - 1].outside = false;
    by_hand_peaks(&hand, SHARD_FSDP2, ALL / 2 + ALL + 4000 + 3 * LAYER);
    hand.options.prefetch = 2; /* of units, not of the root */
    by_hand_peaks(&hand, SHARD_FSDP2, ALL / 2 + ALL + 4000 + 3 * LAYER);
    by_hand_end(&hand);
}
END_TEST

START_TEST(bytes_sent)
{
    struct shard_result result;
    struct error err;
    by_hand_begin(&hand, 4000);
    hand.options.world = 5; /* divides the elements, so nothing is padded */
    ck_assert(shard_predict(&hand.model, &hand.options, SHARD_DDP, false, &result, &err));
    ck_assert_int_eq(result.traffic.bytes[SHARD_ALL_REDUCE], 2 * ALL * 4 / 5);
    ck_assert_int_eq(shard_traffic_sum(&result.traffic), 2 * ALL * 4 / 5);
    shard_result_release(&result);
    hand.options.bandwidth = 60;
    hand.options.latency_us = 1;
    ck_assert(shard_predict(&hand.model, &hand.options, SHARD_FSDP2, false, &result, &err));
    ck_assert_int_eq(result.traffic.bytes[SHARD_ALL_GATHER], 2 * ALL * 4 / 5);
    ck_assert_int_eq(result.traffic.bytes[SHARD_REDUCE_SCATTER], ALL * 4 / 5);
    ck_assert_int_eq(result.traffic.calls[SHARD_ALL_GATHER], 2 * LAYERS);
    ck_assert_double_eq_tol(result.traffic.us, 3 * ALL * 4.0 / 5 / 60 * 1e6 + 3 * LAYERS, 1);
    shard_result_release(&result);
    by_hand_end(&hand);
}
END_TEST

static struct shard_traffic traffic_of(enum shard_strategy strategy)
{
    struct shard_result result;
    struct error err;
    ck_assert(shard_predict(&hand.model, &hand.options, strategy, false, &result, &err));
    struct shard_traffic traffic = result.traffic;
    shard_result_release(&result);
    return traffic;
}

/* Gradients of 4 MiB: the first is a bucket, seven have the size of the second, four are left. */
START_TEST(ddp_sends_whole_gradients)
{
    const struct shard_sizes sizes = {.elements = 12 * MIB, .element_size = 4, .layers = 12};
    by_hand_begin_with(&hand, &sizes);
    ck_assert_int_eq(traffic_of(SHARD_DDP).calls[SHARD_ALL_REDUCE], 3);
    by_hand_end(&hand);
    const struct shard_sizes giant = {.elements = 400 * MIB, .element_size = 4, .layers = 2};
    by_hand_begin_with(&hand, &giant);
    ck_assert_int_eq(traffic_of(SHARD_DDP).calls[SHARD_ALL_REDUCE], 2);
    by_hand_end(&hand);
}
END_TEST

/* 12 gradients of 4 MiB: six fit into a bucket. What is larger is not put into one. */
START_TEST(fairscale_fills_buckets)
{
    const struct shard_sizes sizes = {.elements = 12 * MIB, .element_size = 4, .layers = 12};
    by_hand_begin_with(&hand, &sizes);
    ck_assert_int_eq(traffic_of(SHARD_FSDP).calls[SHARD_REDUCE_SCATTER], 2);
    ck_assert_int_eq(traffic_of(SHARD_FSDP2).calls[SHARD_REDUCE_SCATTER], 12);
    ck_assert_int_eq(traffic_of(SHARD_SDP).calls[SHARD_REDUCE], 12);
    hand.options.reduce_buffer = 3 * MIB; /* two of each owner's six gradients */
    ck_assert_int_eq(traffic_of(SHARD_SDP).calls[SHARD_REDUCE], 2 + 2 * 4);
    by_hand_end(&hand);
    const struct shard_sizes giant = {.elements = 400 * MIB, .element_size = 4, .layers = 2};
    by_hand_begin_with(&hand, &giant);
    ck_assert_int_eq(traffic_of(SHARD_FSDP).calls[SHARD_REDUCE_SCATTER], 2);
    by_hand_end(&hand);
}
END_TEST

START_TEST(batch_norms_are_units_in_mixed_precision)
{
    by_hand_begin(&hand, 0);
    hand.model.batch_norms = 3;
    ck_assert_int_eq(traffic_of(SHARD_FSDP2).calls[SHARD_ALL_GATHER], 2 * LAYERS);
    hand.options.compute_size = 2;
    ck_assert_int_eq(traffic_of(SHARD_FSDP2).calls[SHARD_ALL_GATHER], 2 * LAYERS + 6);
    ck_assert_int_eq(traffic_of(SHARD_FSDP1).calls[SHARD_REDUCE_SCATTER], LAYERS + 3);
    by_hand_end(&hand);
}
END_TEST

START_TEST(buffers_are_sent_once_a_step)
{
    by_hand_begin(&hand, 0);
    hand.model.buffer_bytes = 100;
    hand.options.accumulation = 3;
    ck_assert_int_eq(traffic_of(SHARD_DDP).bytes[SHARD_BROADCAST], 50);
    ck_assert_int_eq(traffic_of(SHARD_SDP).bytes[SHARD_BROADCAST], 50 + ALL / 2);
    hand.model.beside_bytes = 40;
    ck_assert_int_eq(traffic_of(SHARD_DDP).bytes[SHARD_BROADCAST], 30);
    by_hand_end(&hand);
}
END_TEST

/* DDP sends them in a call for each type, ShardedDataParallel one by one. */
START_TEST(calls_for_buffers)
{
    by_hand_begin(&hand, 0);
    hand.model.buffer_bytes = 100;
    int64_t flat = traffic_of(SHARD_SDP).calls[SHARD_BROADCAST];
    hand.model.batch_norms = 5;
    ck_assert_int_eq(traffic_of(SHARD_DDP).calls[SHARD_BROADCAST], 2);
    ck_assert_int_eq(traffic_of(SHARD_SDP).calls[SHARD_BROADCAST], flat - 1 + 15);
    by_hand_end(&hand);
}
END_TEST

/* The factor of the batch leaves workspaces of cuBLAS as they are. */
START_TEST(workspaces_do_not_grow)
{
    by_hand_begin(&hand, 4000);
    hand.options.batch = 3;
    for (enum shard_strategy i = 0; i < SHARD_STRATEGIES; i++) {
        int64_t without = by_hand_predict(&hand, i, 0).peak_bytes;
        for (size_t k = 0; k < hand.model.point_count; k++) {
            hand.model.points[k].peak_bytes += ALL * 100;
            hand.model.points[k].fixed_bytes = ALL * 100;
        }
        ck_assert_int_le(by_hand_predict(&hand, i, 0).peak_bytes, without + ALL * 100);
        ck_assert_int_gt(by_hand_predict(&hand, i, 0).peak_bytes, without);
        for (size_t k = 0; k < hand.model.point_count; k++) {
            hand.model.points[k].peak_bytes -= ALL * 100;
            hand.model.points[k].fixed_bytes = 0;
        }
    }
    by_hand_end(&hand);
}
END_TEST

/* Temporaries of reductions grow until there are limit_bytes. */
START_TEST(some_temporaries_grow_to_a_limit)
{
    static const double batches[] = {1, 3, 100};
    static const int64_t grown[] = {ALL, 3 * ALL, 5 * ALL};
    by_hand_begin(&hand, 4000);
    for (size_t at = 0; at < 3; at++) {
        hand.options.batch = batches[at];
        int64_t without = by_hand_predict(&hand, SHARD_DDP, 0).peak_bytes;
        for (size_t k = 0; k < hand.model.point_count; k++) {
            hand.model.points[k].peak_bytes += ALL;
            hand.model.points[k].limited_bytes = ALL;
            hand.model.points[k].limit_bytes = 5 * ALL;
        }
        ck_assert_int_le(by_hand_predict(&hand, SHARD_DDP, 0).peak_bytes, without + grown[at]);
        ck_assert_int_gt(by_hand_predict(&hand, SHARD_DDP, 0).peak_bytes, without);
        for (size_t k = 0; k < hand.model.point_count; k++) {
            hand.model.points[k].peak_bytes -= ALL;
            hand.model.points[k].limited_bytes = hand.model.points[k].limit_bytes = 0;
        }
    }
    by_hand_end(&hand);
}
END_TEST

static const struct shard_point *point_of(size_t layer, bool is_backward, bool recomputes)
{
    for (size_t i = 0; i < hand.model.point_count; i++)
        if (hand.model.points[i].layer == layer &&
            hand.model.points[i].is_backward == is_backward &&
            hand.model.points[i].recomputes == recomputes)
            return &hand.model.points[i];
    ck_abort_msg("no such point");
    return NULL;
}

START_TEST(checkpoints)
{
    static const struct shard_segment segments[] = {{.first = 0, .end = 2}, {.first = 2, .end = 4}};
    struct error err;
    by_hand_begin(&hand, 4000);
    for (size_t i = 0; i < LAYERS; i++)
        hand.model.layers[i].output = 100;
    ck_assert(shard_model_checkpoint(&hand.model, segments, 2, &err));
    ck_assert_int_eq(point_of(0, false, false)->peak_bytes, 1000);
    /* the second segment's input, the layer's own, and its input */
    ck_assert_int_eq(point_of(3, false, false)->peak_bytes, 100 + 1000 + 100);
    /* beside the gradient of the segment's output */
    ck_assert_int_eq(point_of(2, true, true)->peak_bytes, 100 + 1000 + 100);
    ck_assert_int_eq(point_of(3, true, true)->peak_bytes, 100 + 2000 + 100);
    ck_assert_int_eq(point_of(3, true, false)->peak_bytes, 100 + 2000);
    ck_assert_int_eq(point_of(1, true, false)->peak_bytes, 2000);
    ck_assert_uint_eq(hand.model.point_count, 3 * LAYERS);
    by_hand_end(&hand);
}
END_TEST

/* A layer between two segments does not change that the first makes the input of the second. */
START_TEST(checkpoints_keep_what_others_take)
{
    static const struct shard_segment segments[] = {
        {.first = 0, .end = 2, .is_known = true, .kept = 700},
        {.first = 3, .end = 4, .is_known = true, .kept = 0}};
    struct error err;
    by_hand_begin(&hand, 4000);
    ck_assert(shard_model_checkpoint(&hand.model, segments, 2, &err));
    ck_assert_int_eq(point_of(2, false, false)->peak_bytes, 700 + 1000);
    ck_assert_int_eq(point_of(2, true, false)->peak_bytes, 700 + 1000);
    ck_assert_int_eq(hand.model.layers[1].saved, 700);
    by_hand_end(&hand);
}
END_TEST

/* The first segment hands on another result than what looks like its output, a sum; the forward
 * pass frees the output of the second. */
START_TEST(checkpoints_keep_what_is_handed_on)
{
    static const struct shard_segment segments[] = {{.first = 0, .end = 2}, {.first = 2, .end = 4}};
    struct error err;
    by_hand_begin(&hand, 4000);
    for (size_t i = 0; i < LAYERS; i++)
        hand.model.layers[i].output = 300;
    hand.model.layers[1].is_sum = true;
    hand.model.layers[1].passed = 100;
    hand.model.layers[3].passes = true;
    ck_assert(shard_model_checkpoint(&hand.model, segments, 2, &err));
    ck_assert_int_eq(hand.model.layers[1].saved, 100);
    ck_assert_int_eq(hand.model.layers[3].saved, 0);
    ck_assert_int_eq(point_of(2, false, false)->peak_bytes, 100 + 1000);
    by_hand_end(&hand);
}
END_TEST

/* 50 bytes of the forward pass do not exist in backward, and nothing returns a gradient. */
START_TEST(checkpoints_run_again_in_backward)
{
    static const struct shard_segment segments[] = {{.first = 0, .end = 2}, {.first = 2, .end = 4}};
    struct error err;
    by_hand_begin(&hand, 4000);
    hand.model.has_backward = true;
    for (size_t i = 0; i < LAYERS; i++)
        hand.model.layers[i].output = 100;
    hand.model.points[1].end_bytes += 50;
    hand.model.points[2].peak_bytes += 50;
    ck_assert(shard_model_checkpoint(&hand.model, segments, 2, &err));
    ck_assert_int_eq(point_of(2, true, true)->peak_bytes, 100 + 1000);
    by_hand_end(&hand);
}
END_TEST

START_TEST(refused)
{
    struct error err;
    by_hand_begin(&hand, 0);
    hand.model.tensors[0].elements = SHARD_MOST_BYTES / 8;
    ck_assert(!shard_model_check(&hand.model, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    hand.model.tensor_count = 0;
    ck_assert(!shard_model_check(&hand.model, &err));
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    by_hand_end(&hand);
}
END_TEST

struct forward {
    int64_t buffers[LAYERS + 1]; /* the highest while a unit runs forward */
};

static void take_forward(void *self, const struct shard_moment *moment)
{
    struct forward *forward = self;
    if (moment->phase == SHARD_FORWARD &&
        forward->buffers[moment->unit] < moment->memory.buffer_bytes)
        forward->buffers[moment->unit] = moment->memory.buffer_bytes;
}

/* A unit runs beside its own buffer and those of the units ahead; before that, beside the buffer of
 * the one before. */
START_TEST(gathered_ahead_in_forward)
{
    static const int64_t wanted[][LAYERS + 1] = {
        {0, 1, 2, 2, 2}, {0, 2, 2, 2, 2}, {0, 3, 3, 3, 2}, {0, 4, 4, 3, 2}};
    struct error err;
    by_hand_begin(&hand, 4000);
    for (int64_t ahead = 0; ahead < 4; ahead++) {
        struct forward forward = {{0}};
        hand.options.forward_prefetch = ahead;
        ck_assert(
            shard_curve(&hand.model, &hand.options, SHARD_FSDP2, 0, take_forward, &forward, &err));
        for (size_t i = 1; i <= LAYERS; i++)
            ck_assert_int_eq(forward.buffers[i], wanted[ahead][i] * LAYER);
    }
    by_hand_end(&hand);
}
END_TEST

TCase *shard_tests(void)
{
    TCase *tcase = tcase_create("shard");
    tcase_add_test(tcase, activations_make_the_peak);
    tcase_add_test(tcase, earlier_passes_of_sdp_keep_all_gradients);
    tcase_add_test(tcase, one_rank_is_the_plain_program);
    tcase_add_test(tcase, model_states_make_the_peak);
    tcase_add_test(tcase, options_change_the_walk);
    tcase_add_test(tcase, recurrent_layers_pack);
    tcase_add_test(tcase, muon_has_a_workspace);
    tcase_add_test(tcase, formulas_of_zero);
    tcase_add_test(tcase, optimizers_keep_gradients);
    tcase_add_test(tcase, kept_gradients_are_no_news);
    tcase_add_test(tcase, uneven_rows_are_padded);
    tcase_add_test(tcase, nothing_is_gathered_behind_the_loss);
    tcase_add_test(tcase, bytes_sent);
    tcase_add_test(tcase, ddp_sends_whole_gradients);
    tcase_add_test(tcase, fairscale_fills_buckets);
    tcase_add_test(tcase, batch_norms_are_units_in_mixed_precision);
    tcase_add_test(tcase, buffers_are_sent_once_a_step);
    tcase_add_test(tcase, calls_for_buffers);
    tcase_add_test(tcase, workspaces_do_not_grow);
    tcase_add_test(tcase, some_temporaries_grow_to_a_limit);
    tcase_add_test(tcase, checkpoints);
    tcase_add_test(tcase, checkpoints_keep_what_others_take);
    tcase_add_test(tcase, checkpoints_keep_what_is_handed_on);
    tcase_add_test(tcase, checkpoints_run_again_in_backward);
    tcase_add_test(tcase, refused);
    tcase_add_test(tcase, gathered_ahead_in_forward);
    return tcase;
}
