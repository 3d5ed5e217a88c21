/* Predictions for chains of equal layers, against closed forms worked out by hand. */
#include "analysis/shard/shard.h"

#include "analysis/shard/choice.h"
#include "analysis/shard/partition.h"
#include "analysis/shard/sweep.h"
#include "unit/analysis/analysis.h"

#define LAYERS   4
#define ELEMENTS 10                      /* of a layer */
#define LAYER    (4 * (int64_t)ELEMENTS) /* bytes */
#define ALL      (LAYERS * LAYER)        /* bytes of parameters */
#define MIB      (INT64_C(1) << 20)

static struct budget budget;
static struct shard_model model;
static struct shard_options options;

static void begin(int64_t activations)
{
    struct error err;
    const struct shard_sizes sizes = {LAYERS * ELEMENTS, activations, 4, LAYERS};
    budget = (struct budget){.limit = 1 << 20};
    shard_model_init(&model, &budget);
    ck_assert_msg(shard_model_by_hand(&model, &sizes, &err), "%s", err.text);
    ck_assert_msg(shard_model_check(&model, &err), "%s", err.text);
    shard_options_init(&options);
    options.world = 2;
}

static void end(void)
{
    shard_model_release(&model);
    ck_assert_uint_eq(budget.used, 0);
}

static struct shard_rank predict(enum shard_strategy strategy, uint32_t rank)
{
    struct shard_result result;
    struct error err;
    ck_assert_msg(shard_predict(&model, &options, strategy, true, &result, &err), "%s", err.text);
    ck_assert_uint_eq(result.rank_count, (size_t)options.world);
    struct shard_rank found = result.ranks[rank];
    ck_assert_uint_eq(found.rank, rank);
    ck_assert_int_eq(shard_memory_sum(&found.at_peak), found.peak_bytes);
    ck_assert_int_le(found.peak_bytes, result.peak_bytes);
    shard_result_release(&result);
    return found;
}

static void peaks(enum shard_strategy strategy, int64_t wanted)
{
    for (uint32_t rank = 0; rank < 2; rank++)
        ck_assert_int_eq(predict(strategy, rank).peak_bytes, wanted);
}

/* Parameters, buckets, two states; then the last layer's backward has all activations and its own
 * gradient. */
START_TEST(activations_make_the_peak)
{
    begin(4000);
    peaks(SHARD_DDP, 4 * ALL + 4000 + LAYER);
    peaks(SHARD_ZERO, 3 * ALL + 4000 + LAYER);
    peaks(SHARD_OSS, 3 * ALL + 4000 + LAYER);
    peaks(SHARD_SDP, 2 * ALL + 4000 + LAYER);
    /* half of the parameters and of the state, the layer, the one gathered ahead, its gradient */
    peaks(SHARD_FSDP2, ALL / 2 + ALL + 4000 + 3 * LAYER);
    struct shard_rank rank = predict(SHARD_FSDP2, 1);
    ck_assert_int_eq(rank.peak_phase, SHARD_BACKWARD);
    ck_assert_uint_eq(rank.peak_unit, LAYERS);
    ck_assert_int_eq(rank.at_peak.buffer_bytes, LAYER);
    ck_assert_int_eq(rank.held_parameter_bytes, ALL / 2);
    ck_assert_int_eq(rank.held_state_bytes, ALL);
    end();
}
END_TEST

START_TEST(model_states_make_the_peak)
{
    begin(0);
    /* the optimizer step: parameters, buckets, gradients, two states, and temporaries */
    peaks(SHARD_DDP, 6 * ALL);
    ck_assert_int_eq(predict(SHARD_DDP, 0).peak_phase, SHARD_STEP);
    peaks(SHARD_ZERO, 3 * ALL + ALL + ALL / 2);
    /* the second unit's backward: itself, the first one gathered, the third one being reduced, its
     * gradient, and two gradients already sharded */
    peaks(SHARD_FSDP2, ALL / 2 + ALL + 4 * LAYER + 2 * (LAYER / 2));
    /* FairScale: a bucket of 25 MiB and its half, the shards, a unit, and its gradient twice */
    peaks(SHARD_FSDP, ALL / 2 + ALL + 25 * MIB + 25 * MIB / 2 + LAYER + 2 * LAYER);
    options.bucket_view = true;
    peaks(SHARD_DDP, 5 * ALL);
    options.optimizer = shard_optimizer_find("momentum");
    peaks(SHARD_DDP, 3 * ALL + LAYER); /* backward: no temporaries in the step */
    /* own gradients, a fresh one, and the one before it, which is being reduced */
    peaks(SHARD_SDP, ALL + ALL / 2 + 3 * LAYER);
    options.bucket_view = false;
    peaks(SHARD_DDP, 4 * ALL);
    end();
}
END_TEST

START_TEST(options_change_the_walk)
{
    begin(4000);
    options.batch = 2;
    peaks(SHARD_DDP, 4 * ALL + 8000 + LAYER);
    options.batch = 1;
    options.accumulation = 2; /* gradients of the pass before */
    peaks(SHARD_DDP, 5 * ALL + 4000 + LAYER);
    options.accumulation = 1;
    options.offload = true;
    peaks(SHARD_FSDP2, 4000 + 3 * LAYER);
    ck_assert_int_eq(predict(SHARD_FSDP2, 0).host_bytes, ALL / 2 + ALL / 2 + ALL);
    options.offload = false;
    options.reshard = SHARD_KEEP; /* all units stay, and nothing is gathered ahead */
    peaks(SHARD_FSDP2, ALL / 2 + ALL + 4000 + ALL + LAYER);
    options.reshard = SHARD_RESHARD;
    options.prefetch = 2; /* one more beside the last unit's backward */
    peaks(SHARD_FSDP2, ALL / 2 + ALL + 4000 + 4 * LAYER);
    options.prefetch = 1;
    options.forward_prefetch = 2; /* gathered in forward: no change of the peak in backward */
    peaks(SHARD_FSDP2, ALL / 2 + ALL + 4000 + 3 * LAYER);
    options.compute_size = 2; /* gathered and gradients have half the size */
    peaks(SHARD_FSDP2, ALL / 2 + ALL + 4000 + 3 * LAYER / 2);
    options.compute_size = 0;
    options.world = 4;
    options.group = 2;
    ck_assert_int_eq(predict(SHARD_FSDP2, 3).peak_bytes, ALL / 2 + ALL + 4000 + 3 * LAYER);
    end();
}
END_TEST

/* The gradient of a unit is made of those of its tensors, while it is gathered, and the unit before
 * it is gathered ahead. */
START_TEST(torch_gathers_flat_units)
{
    begin(4000);
    int64_t states = ALL / 2 + ALL;
    /* the last unit's backward: itself, the one before, and its gradient */
    peaks(SHARD_FSDP1, states + 4000 + 3 * LAYER);
    options.backward_prefetch = SHARD_PREFETCH_POST;
    peaks(SHARD_FSDP1, states + 4000 + 2 * LAYER);
    options.backward_prefetch = SHARD_PREFETCH_NONE;
    peaks(SHARD_FSDP1, states + 4000 + 2 * LAYER);
    options.forward_prefetch = 1; /* no change of the last unit's backward */
    peaks(SHARD_FSDP1, states + 4000 + 2 * LAYER);
    options.forward_prefetch = 0;
    options.offload = true; /* the shard is on the device with the unit */
    peaks(SHARD_FSDP1, 4000 + 2 * LAYER + LAYER / 2);
    options.has_flat_parameters = true;
    peaks(SHARD_FSDP1, 4000 + 2 * LAYER);
    options.offload = options.has_flat_parameters = false;
    options.reshard = SHARD_KEEP; /* SHARD_GRAD_OP */
    peaks(SHARD_FSDP1, states + 4000 + ALL + LAYER);
    options.reshard = SHARD_RESHARD;
    options.group = 1; /* NO_SHARD */
    peaks(SHARD_FSDP1, 3 * ALL + 4000 + LAYER);
    end();
    begin(0);
    options.optimizer = shard_optimizer_find("sgd");
    /* the second unit: itself, the one before, two gradients, and those of two units sharded */
    peaks(SHARD_FSDP1, ALL / 2 + 4 * LAYER + 2 * (LAYER / 2));
    ck_assert_int_eq(predict(SHARD_FSDP1, 0).peak_phase, SHARD_REDUCTION);
    options.backward_prefetch = SHARD_PREFETCH_NONE;
    peaks(SHARD_FSDP1, ALL / 2 + 3 * LAYER + 3 * (LAYER / 2)); /* the first one */
    options.forward_prefetch = 1; /* the second unit waits for the first, with its gradients */
    peaks(SHARD_FSDP1, ALL / 2 + 5 * LAYER + 2 * (LAYER / 2));
    options.forward_prefetch = 0;
    options.offload = true; /* gradients are copied, and stay until the end */
    peaks(SHARD_FSDP1, 3 * LAYER + 4 * (LAYER / 2));
    end();
}
END_TEST

/* 10 elements of a unit on 4 ranks are 3 each, of which the last has one. */
START_TEST(padding_has_no_state)
{
    begin(4000);
    options.world = 4;
    struct shard_result result;
    struct error err;
    ck_assert(shard_predict(&model, &options, SHARD_FSDP1, true, &result, &err));
    ck_assert_int_eq(result.ranks[0].held_parameter_bytes, LAYERS * 3 * 4);
    ck_assert_int_eq(result.ranks[3].held_parameter_bytes, LAYERS * 3 * 4);
    ck_assert_int_eq(result.ranks[0].held_state_bytes, 2 * LAYERS * 3 * 4);
    ck_assert_int_eq(result.ranks[3].held_state_bytes, 2 * LAYERS * 1 * 4);
    shard_result_release(&result);
    options.has_flat_parameters = true;
    ck_assert(shard_predict(&model, &options, SHARD_FSDP1, true, &result, &err));
    ck_assert_int_eq(result.ranks[3].held_state_bytes, 2 * LAYERS * 3 * 4);
    shard_result_release(&result);
    end();
}
END_TEST

static void take_last(void *self, const struct shard_moment *moment)
{
    *(struct shard_moment *)self = *moment;
}

/* Parameters, gradients and state in the optimizer's step. */
static int64_t model_states(enum shard_strategy strategy)
{
    struct shard_moment last;
    struct error err;
    ck_assert_msg(shard_curve(&model, &options, strategy, 0, take_last, &last, &err), "%s",
                  err.text);
    ck_assert_int_eq(last.phase, SHARD_STEP);
    return last.memory.parameter_bytes + last.memory.gradient_bytes +
           last.memory.optimizer_state_bytes;
}

/* The second layer keeps a copy of its parameters from its forward to its backward pass. */
START_TEST(recurrent_layers_pack)
{
    begin(4000);
    model.layers[1].packed = ELEMENTS;
    shard_model_set_packed(&model);
    ck_assert_int_eq(model.points[0].packed_elements, 0);
    ck_assert_int_eq(model.points[1].packed_elements, ELEMENTS);
    ck_assert_int_eq(model.points[LAYERS].packed_elements, ELEMENTS);
    ck_assert_int_eq(model.points[model.point_count - 1].packed_elements, 0);
    peaks(SHARD_DDP, 4 * ALL + 4000 + LAYER);
    peaks(SHARD_ZERO, 3 * ALL + 4000 + LAYER);
    peaks(SHARD_OSS, 3 * ALL + 4000 + LAYER + LAYER);
    peaks(SHARD_FSDP2, ALL / 2 + ALL + 4000 + 3 * LAYER + LAYER);
    end();
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
    begin(4000);
    ck_assert(!shard_model_mixes(&model));
    model.tensors[LAYERS - 1].frozen = true;
    ck_assert(!shard_model_mixes(&model));
    model.tensors[LAYERS - 1].unit = 1;
    ck_assert(shard_model_mixes(&model));
    struct shard_choice choice;
    struct error err;
    ck_assert(shard_choose(&choice, &model, NULL, 0, &options, 1, &err));
    ck_assert(!shard_choice_runs(&choice, SHARD_FSDP));
    ck_assert(shard_choice_runs(&choice, SHARD_FSDP1));
    ck_assert(shard_choice_runs(&choice, SHARD_FSDP2));
    ck_assert_int_eq(reduced_by_fsdp1(&choice), (ALL - LAYER) / 2);
    shard_choice_release(&choice);
    options.has_flat_parameters = true;
    ck_assert(shard_choose(&choice, &model, NULL, 0, &options, 1, &err));
    ck_assert(!shard_choice_runs(&choice, SHARD_FSDP1));
    ck_assert_int_eq(reduced_by_fsdp1(&choice), ALL / 2);
    shard_choice_release(&choice);
    end();
}
END_TEST

static int64_t buffers_in_step(const char *optimizer)
{
    struct shard_moment last;
    struct error err;
    options.optimizer = shard_optimizer_find(optimizer);
    ck_assert(shard_curve(&model, &options, SHARD_ZERO, 0, take_last, &last, &err));
    return last.memory.buffer_bytes;
}

/* Only the workspace that is not among what is left of backward. */
START_TEST(muon_has_a_workspace)
{
    begin(4000);
    int64_t muon = buffers_in_step("muon"), adam = buffers_in_step("adam");
    model.library_bytes = 1000;
    ck_assert_int_eq(buffers_in_step("muon"), muon + 1000);
    ck_assert_int_eq(buffers_in_step("adam"), adam);
    model.end_bytes = 300;
    ck_assert_int_eq(buffers_in_step("muon"), muon + 700);
    model.end_bytes = 1100;
    ck_assert_int_eq(buffers_in_step("muon"), muon);
    end();
}
END_TEST

/* DeepSpeed's formulas for 2 bytes of parameters and of gradients, and 12 of Adam's state. */
START_TEST(formulas_of_zero)
{
    const int64_t elements = LAYERS * ELEMENTS, n = 2;
    begin(4000);
    options.parameter_size = 2;
    options.has_master = true;
    ck_assert_int_eq(model_states(SHARD_DDP), 16 * elements);
    ck_assert_int_eq(model_states(SHARD_ZERO), 4 * elements + 12 * elements / n);
    ck_assert_int_eq(model_states(SHARD_OSS), 4 * elements + 12 * elements / n);
    ck_assert_int_eq(model_states(SHARD_SDP), 2 * elements + 14 * elements / n);
    ck_assert_int_eq(model_states(SHARD_FSDP2), 16 * elements / n);
    end();
}
END_TEST

START_TEST(uneven_rows_are_padded)
{
    begin(0);
    for (size_t i = 0; i < LAYERS; i++)
        model.tensors[i].rows = 5; /* of two elements: three rows for rank 0, two for rank 1 */
    struct shard_rank first = predict(SHARD_FSDP2, 0), second = predict(SHARD_FSDP2, 1);
    ck_assert_int_eq(first.held_parameter_bytes, LAYERS * 3 * 2 * 4);
    ck_assert_int_eq(second.held_parameter_bytes, LAYERS * 3 * 2 * 4);
    ck_assert_int_eq(first.held_state_bytes, 2 * LAYERS * 3 * 2 * 4);
    ck_assert_int_eq(second.held_state_bytes, 2 * LAYERS * 2 * 2 * 4);
    options.world = 8; /* five ranks have a row each */
    ck_assert_int_eq(predict(SHARD_FSDP2, 4).held_state_bytes, 2 * LAYERS * 2 * 4);
    ck_assert_int_eq(predict(SHARD_FSDP2, 5).held_state_bytes, 0);
    ck_assert_int_eq(predict(SHARD_FSDP2, 5).held_parameter_bytes, LAYERS * 2 * 4);
    end();
}
END_TEST

START_TEST(large_units_of_fairscale)
{
    const struct shard_sizes sizes = {8 * MIB, 0, 4, 1}; /* 32 MiB: beyond its bucket */
    struct error err;
    budget = (struct budget){.limit = 1 << 20};
    shard_model_init(&model, &budget);
    ck_assert(shard_model_by_hand(&model, &sizes, &err));
    shard_options_init(&options);
    options.world = 2;
    options.optimizer = shard_optimizer_find("momentum");
    /* shard and state, then the unit, its gradients, and those in one piece */
    peaks(SHARD_FSDP, 32 * MIB + 3 * 32 * MIB);
    options.compute_size = 2; /* the unit and its cast shard, and its gradients twice */
    peaks(SHARD_FSDP, 32 * MIB + 16 * MIB + 8 * MIB + 2 * 16 * MIB);
    options.reduce_size = 4; /* gradients, these as float32, that in pieces, and the shard */
    peaks(SHARD_FSDP, 32 * MIB + 16 * MIB + 32 * MIB + 32 * MIB + 16 * MIB);
    end();
}
END_TEST

START_TEST(owners_of_tensors)
{
    static const int64_t sizes[] = {1, 1, 1, 10};
    uint32_t owners[LAYERS];
    struct error err;
    begin(0);
    for (size_t i = 0; i < LAYERS; i++)
        model.tensors[i].elements = sizes[i];
    ck_assert(shard_partition(&model, SHARD_OSS, 2, owners, &err));
    ck_assert_uint_eq(owners[0], 0);
    ck_assert_uint_eq(owners[1], 1);
    ck_assert_uint_eq(owners[2], 0);
    ck_assert_uint_eq(owners[3], 1); /* the giant comes last, to a rank that has some */
    ck_assert(shard_partition(&model, SHARD_ZERO, 2, owners, &err));
    ck_assert_uint_eq(owners[3], 0);
    ck_assert_uint_eq(owners[0], 1);
    ck_assert_uint_eq(owners[2], 1);
    ck_assert_int_eq(predict(SHARD_OSS, 1).held_state_bytes, 2 * 4 * 11);
    ck_assert_int_eq(predict(SHARD_OSS, 0).held_state_bytes, 2 * 4 * 2);
    model.tensors[0].elements = 100; /* frozen: as light as one element for OSS */
    model.tensors[0].frozen = true;
    ck_assert(shard_partition(&model, SHARD_OSS, 2, owners, &err));
    ck_assert_uint_eq(owners[2], 0);
    ck_assert(shard_partition(&model, SHARD_ZERO, 2, owners, &err));
    ck_assert_uint_eq(owners[0], 0);
    ck_assert_uint_eq(owners[3], 1);
    ck_assert(shard_partition(&model, SHARD_OSS, 16, owners, &err));
    ck_assert_uint_eq(owners[3], 3);
    end();
}
END_TEST

/* Layers use the parameters in another order than model.parameters() has them. */
START_TEST(owners_by_place)
{
    static const uint32_t places[] = {3, 2, 1, 0};
    uint32_t owners[LAYERS];
    struct error err;
    begin(0);
    model.tensors[3].elements = 100;
    for (size_t i = 0; i < LAYERS; i++)
        model.tensors[i].place = places[i];
    ck_assert(shard_partition(&model, SHARD_OSS, 2, owners, &err));
    ck_assert_uint_eq(owners[3], 0); /* the giant comes first, and all others go to the other */
    ck_assert_uint_eq(owners[0], 1);
    ck_assert_uint_eq(owners[2], 1);
    ck_assert(shard_partition(&model, SHARD_ZERO, 3, owners, &err)); /* equal sizes by place */
    ck_assert_uint_eq(owners[2], 1);
    ck_assert_uint_eq(owners[1], 2);
    end();
}
END_TEST

/* The backward of the loss runs before the root's hook gathers the last unit. */
START_TEST(nothing_is_gathered_behind_the_loss)
{
    begin(4000);
    model.layers[LAYERS - 1].outside = true;
    model.unit_count--;
    model.layers[LAYERS - 1].unit = SHARD_ROOT;
    model.tensors[LAYERS - 1].unit = SHARD_ROOT;
    /* half of the parameters and of the state, the root, its gradient */
    peaks(SHARD_FSDP2, ALL / 2 + ALL + 4000 + 2 * LAYER);
    model.layers[LAYERS - 1].outside = false;
    peaks(SHARD_FSDP2, ALL / 2 + ALL + 4000 + 3 * LAYER);
    options.prefetch = 2; /* of units, not of the root */
    peaks(SHARD_FSDP2, ALL / 2 + ALL + 4000 + 3 * LAYER);
    end();
}
END_TEST

START_TEST(buckets_of_sdp)
{
    begin(0);
    options.reduce_buffer = ELEMENTS + 1; /* one tensor of each owner's two */
    struct shard_rank rank = predict(SHARD_SDP, 0);
    ck_assert_int_eq(rank.at_peak.buffer_bytes, 2 * LAYER + ALL / 2); /* and temporaries */
    ck_assert_int_eq(rank.at_peak.gradient_bytes, 2 * LAYER + LAYER); /* bucketed, and its own */
    options.reduce_buffer = ELEMENTS;                                 /* the limit is exclusive */
    ck_assert_int_eq(predict(SHARD_SDP, 0).at_peak.buffer_bytes, ALL / 2);
    end();
}
END_TEST

/* Half of all as float16; the first owner's then become float32 beside it. */
START_TEST(broadcast_as_float16)
{
    begin(0);
    options.optimizer = shard_optimizer_find("sgd");
    options.half_broadcast = true;
    ck_assert_int_eq(predict(SHARD_OSS, 0).at_peak.buffer_bytes, ALL + ALL / 2 + ALL / 2);
    model.tensors[3].elements = 3 * ELEMENTS; /* rank 0 has 2, and rank 1 has 4 of 6 parts */
    ck_assert_int_eq(predict(SHARD_OSS, 0).at_peak.buffer_bytes,
                     6 * LAYER + 4 * LAYER / 2 + 4 * LAYER);
    ck_assert_int_eq(predict(SHARD_ZERO, 0).at_peak.buffer_bytes, 6 * LAYER); /* no such option */
    end();
}
END_TEST

START_TEST(bytes_sent)
{
    struct shard_result result;
    struct error err;
    begin(4000);
    options.world = 5; /* divides the elements, so nothing is padded */
    ck_assert(shard_predict(&model, &options, SHARD_DDP, false, &result, &err));
    ck_assert_int_eq(result.traffic.bytes[SHARD_ALL_REDUCE], 2 * ALL * 4 / 5);
    ck_assert_int_eq(shard_traffic_sum(&result.traffic), 2 * ALL * 4 / 5);
    shard_result_release(&result);
    options.bandwidth = 60;
    options.latency_us = 1;
    ck_assert(shard_predict(&model, &options, SHARD_FSDP2, false, &result, &err));
    ck_assert_int_eq(result.traffic.bytes[SHARD_ALL_GATHER], 2 * ALL * 4 / 5);
    ck_assert_int_eq(result.traffic.bytes[SHARD_REDUCE_SCATTER], ALL * 4 / 5);
    ck_assert_int_eq(result.traffic.calls[SHARD_ALL_GATHER], 2 * LAYERS);
    ck_assert_double_eq_tol(result.traffic.us, 3 * ALL * 4.0 / 5 / 60 * 1e6 + 3 * LAYERS, 1);
    shard_result_release(&result);
    end();
}
END_TEST

static const struct shard_point *point_of(size_t layer, bool is_backward, bool recomputes)
{
    for (size_t i = 0; i < model.point_count; i++)
        if (model.points[i].layer == layer && model.points[i].is_backward == is_backward &&
            model.points[i].recomputes == recomputes)
            return &model.points[i];
    ck_abort_msg("no such point");
    return NULL;
}

START_TEST(checkpoints)
{
    static const struct shard_segment segments[] = {{0, 2}, {2, 4}};
    struct error err;
    begin(4000);
    for (size_t i = 0; i < LAYERS; i++)
        model.layers[i].output = 100;
    ck_assert(shard_model_checkpoint(&model, segments, 2, &err));
    ck_assert_int_eq(point_of(0, false, false)->peak_bytes, 1000);
    /* the second segment's input, the layer's own, and its input */
    ck_assert_int_eq(point_of(3, false, false)->peak_bytes, 100 + 1000 + 100);
    /* beside the gradient of the segment's output */
    ck_assert_int_eq(point_of(2, true, true)->peak_bytes, 100 + 1000 + 100);
    ck_assert_int_eq(point_of(3, true, true)->peak_bytes, 100 + 2000 + 100);
    ck_assert_int_eq(point_of(3, true, false)->peak_bytes, 100 + 2000);
    ck_assert_int_eq(point_of(1, true, false)->peak_bytes, 2000);
    ck_assert_uint_eq(model.point_count, 3 * LAYERS);
    end();
}
END_TEST

static int64_t peak_of(enum shard_strategy strategy, int64_t world, uint64_t batch)
{
    struct shard_result result;
    struct error err;
    options.world = world;
    options.batch = (double)batch;
    ck_assert(shard_predict(&model, &options, strategy, true, &result, &err));
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
    begin(4000);
    ck_assert(fit_values_parse("world=1,2,4,16", &worlds, &err));
    ck_assert(fit_values_parse("batch=1..8", &batches, &err));
    ck_assert(
        shard_sweep_make(&sweep, &model, NULL, &options, &worlds, &batches, (uint64_t)gpu, &err));
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
    ck_assert(shard_sweep_make(&sweep, &model, NULL, &options, &worlds, &batches, 1 << 30, &err));
    ck_assert_uint_eq(sweep.rows[0].largest_batch, 8);
    ck_assert(sweep.rows[0].is_last);
    shard_sweep_release(&sweep);
    end();
}
END_TEST

START_TEST(refused)
{
    struct error err;
    begin(0);
    model.tensors[0].elements = SHARD_MOST_BYTES / 8;
    ck_assert(!shard_model_check(&model, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    model.tensor_count = 0;
    ck_assert(!shard_model_check(&model, &err));
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    end();
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
    begin(4000);
    for (int64_t ahead = 0; ahead < 4; ahead++) {
        struct forward forward = {{0}};
        options.forward_prefetch = ahead;
        ck_assert(shard_curve(&model, &options, SHARD_FSDP2, 0, take_forward, &forward, &err));
        for (size_t i = 1; i <= LAYERS; i++)
            ck_assert_int_eq(forward.buffers[i], wanted[ahead][i] * LAYER);
    }
    end();
}
END_TEST

/* Without exchange until the last pass, every rank has all gradients, which are freed in that. */
START_TEST(accumulated_gradients_of_sdp)
{
    begin(4000);
    options.accumulation = 2;
    /* parameters, state of half; all gradients, and the fresh one */
    peaks(SHARD_SDP, 2 * ALL + 4000 + ALL + LAYER);
    end();
}
END_TEST

TCase *shard_tests(void)
{
    TCase *tcase = tcase_create("shard");
    tcase_add_test(tcase, activations_make_the_peak);
    tcase_add_test(tcase, model_states_make_the_peak);
    tcase_add_test(tcase, options_change_the_walk);
    tcase_add_test(tcase, torch_gathers_flat_units);
    tcase_add_test(tcase, padding_has_no_state);
    tcase_add_test(tcase, recurrent_layers_pack);
    tcase_add_test(tcase, frozen_parameters_in_flat_tensors);
    tcase_add_test(tcase, muon_has_a_workspace);
    tcase_add_test(tcase, uneven_rows_are_padded);
    tcase_add_test(tcase, large_units_of_fairscale);
    tcase_add_test(tcase, owners_of_tensors);
    tcase_add_test(tcase, owners_by_place);
    tcase_add_test(tcase, nothing_is_gathered_behind_the_loss);
    tcase_add_test(tcase, buckets_of_sdp);
    tcase_add_test(tcase, broadcast_as_float16);
    tcase_add_test(tcase, bytes_sent);
    tcase_add_test(tcase, formulas_of_zero);
    tcase_add_test(tcase, gathered_ahead_in_forward);
    tcase_add_test(tcase, accumulated_gradients_of_sdp);
    tcase_add_test(tcase, checkpoints);
    tcase_add_test(tcase, sweep_finds_the_largest_batch);
    tcase_add_test(tcase, refused);
    return tcase;
}
