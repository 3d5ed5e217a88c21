#include "analysis/shard/shard.h"

#include <stdlib.h>

#include "analysis/shard/partition.h"
#include "analysis/shard/walk.h"

static const char *const phase_names[] = {
    [SHARD_FORWARD] = "forward",         [SHARD_BACKWARD] = "backward",
    [SHARD_RECOMPUTATION] = "recompute", [SHARD_REDUCTION] = "reduction",
    [SHARD_STEP] = "optimizer",
};

const char *shard_phase_name(enum shard_phase phase)
{
    return phase_names[phase];
}

void walker_release(struct walker *walker)
{
    free(walker->owners);
    free(walker->is_bucketed);
    free(walker->walk.units);
    shard_division_release(&walker->division);
    *walker = (struct walker){0};
}

static bool set_owners(struct walker *walker, struct error *err)
{
    struct walk *walk = &walker->walk;
    size_t count = walk->model->tensor_count;
    if (walk->strategy == SHARD_DDP || shard_is_full(walk->strategy))
        return true;
    walker->owners = calloc(count, sizeof(*walker->owners));
    walker->is_bucketed = calloc(count, sizeof(*walker->is_bucketed));
    walk->owners = walker->owners;
    walk->is_bucketed = walker->is_bucketed;
    if (!walk->owners || !walk->is_bucketed)
        return error_out_of_memory(err);
    bool is_half = walk->options->half_broadcast && walk->strategy != SHARD_ZERO;
    return shard_partition(walk->model, walk->strategy, walk->options->world, walker->owners,
                           err) &&
           (!is_half || shard_broadcast(walk, &walk->broadcast_bytes, err)) &&
           (walk->strategy != SHARD_SDP ||
            shard_buckets(walk, walker->is_bucketed, &walk->bucket_elements, err));
}

bool walker_init(struct walker *walker, const struct shard_model *model,
                 const struct shard_options *options, enum shard_strategy strategy,
                 struct error *err)
{
    int64_t size = options->parameter_size > 0 ? options->parameter_size : model->element_size;
    *walker = (struct walker){0};
    struct walk *walk = &walker->walk;
    walk->model = model;
    walk->options = options;
    walk->strategy = strategy;
    walk->point = &walker->point;
    walk->parts =
        shard_has_groups(strategy) && options->group > 0 ? options->group : options->world;
    walk->size = walk->gradient_size = walk->compute_size = walk->reduce_size = size;
    if (shard_is_full(strategy) && options->compute_size > 0)
        walk->compute_size = options->compute_size;
    if (shard_is_full(strategy) && options->reduce_size > 0)
        walk->reduce_size = options->reduce_size;
    else if (strategy != SHARD_FSDP2) /* fsdp: unless fp32_reduce_scatter */
        walk->reduce_size = walk->compute_size;
    if (!shard_divide(&walker->division, model, options, strategy, err))
        return false;
    walk->division = &walker->division;
    if (walker->division.model.unit_count > 0)
        walk->model = &walker->division.model;
    walk->units = calloc(walk->model->unit_count, sizeof(*walk->units));
    if (!walk->units) {
        walker_release(walker);
        return error_out_of_memory(err);
    }
    walker_add_up(walk);
    if (set_owners(walker, err))
        return true;
    walker_release(walker);
    return false;
}

void walker_run(struct walk *walk)
{
    walk_set_states(walk);
    for (size_t i = 0; i < walk->model->unit_count; i++) {
        walk->units[i].is_open = false;
        walk->units[i].made = 0;
    }
    switch (walk->strategy) {
    case SHARD_FSDP:
        walk_flat(walk);
        break;
    case SHARD_FSDP1:
        walk_flat_torch(walk);
        break;
    case SHARD_FSDP2:
        walk_per_tensor(walk);
        break;
    default:
        walk_replicated(walk);
    }
}

int64_t shard_first_step_more(enum shard_strategy strategy, const struct shard_moment *moment)
{
    const struct shard_memory *memory = &moment->memory;
    int64_t gradients = memory->gradient_bytes - moment->main_gradient_bytes;
    bool is_before =
        moment->phase == SHARD_FORWARD || (moment->phase == SHARD_BACKWARD && gradients == 0);
    int64_t more = memory->parameter_bytes - memory->optimizer_state_bytes - gradients;
    return strategy == SHARD_SDP && is_before && more > 0 ? more : 0;
}

struct highest {
    enum shard_strategy strategy;
    struct shard_rank *rank;
};

static void take_highest(void *self, const struct shard_moment *moment)
{
    const struct highest *highest = self;
    struct shard_rank *rank = highest->rank;
    int64_t sum = shard_memory_sum(&moment->memory);
    int64_t first = sum + shard_first_step_more(highest->strategy, moment);
    if (first > rank->first_peak_bytes)
        rank->first_peak_bytes = first;
    if (sum <= rank->peak_bytes)
        return;
    rank->peak_bytes = sum;
    rank->at_peak = moment->memory;
    rank->peak_phase = moment->phase;
    rank->peak_unit = moment->unit;
}

static void walk_rank(struct walk *walk, uint32_t number, struct shard_rank *rank)
{
    int64_t parameters = 0, gradients = 0;
    struct highest highest = {walk->strategy, rank};
    *rank = (struct shard_rank){.rank = number};
    walk->rank = number;
    walk->take = take_highest;
    walk->self = &highest;
    walker_run(walk);
    if (rank->first_peak_bytes <= rank->peak_bytes)
        rank->first_peak_bytes = 0;
    for (size_t i = 0; i < walk->model->unit_count; i++) {
        const struct unit_sums *sums = &walk->units[i];
        parameters += (shard_is_full(walk->strategy) ? sums->shard : sums->elements) * walk->size;
        gradients += sums->trained_shard * walk->gradient_size;
    }
    if (walk_offloads(walk)) {
        rank->host_bytes = parameters + gradients + walk->main_gradient_bytes + walk->state_bytes;
        rank->held_parameter_bytes = walk->model->buffer_bytes;
        return;
    }
    rank->held_parameter_bytes = parameters + walk->model->buffer_bytes;
    rank->held_state_bytes = walk->state_bytes;
}

bool walker_set_heaviest(struct walk *walk, struct error *err)
{
    uint32_t world = (uint32_t)walk->options->world;
    walk->rank = 0;
    if (!walk->owners)
        return true;
    int64_t *loads = calloc(world, sizeof(*loads));
    if (!loads)
        return error_out_of_memory(err);
    for (size_t i = 0; i < walk->model->tensor_count; i++)
        if (!walk->model->tensors[i].frozen)
            loads[walk->owners[i]] += walk_elements(walk, &walk->model->tensors[i]);
    for (uint32_t i = 1; i < world; i++)
        if (loads[i] > loads[walk->rank])
            walk->rank = i;
    free(loads);
    return true;
}

/* Ranks that differ in nothing have the same curve. */
static bool walk_ranks(struct walk *walk, struct shard_result *result, struct error *err)
{
    size_t world = (size_t)walk->options->world;
    result->ranks = calloc(world, sizeof(*result->ranks));
    if (!result->ranks)
        return error_out_of_memory(err);
    result->rank_count = world;
    bool differ = walk->owners || shard_has_groups(walk->strategy);
    for (size_t i = 0; i < world; i++) {
        if (i == 0 || differ) {
            walk_rank(walk, (uint32_t)i, &result->ranks[i]);
        } else {
            result->ranks[i] = result->ranks[0];
            result->ranks[i].rank = (uint32_t)i;
        }
    }
    return true;
}

static bool walk_heaviest(struct walk *walk, struct shard_result *result, struct error *err)
{
    if (!walker_set_heaviest(walk, err))
        return false;
    result->ranks = calloc(1, sizeof(*result->ranks));
    if (!result->ranks)
        return error_out_of_memory(err);
    result->rank_count = 1;
    walk_rank(walk, walk->rank, result->ranks);
    return true;
}

bool shard_predict(const struct shard_model *model, const struct shard_options *options,
                   enum shard_strategy strategy, bool all_ranks, struct shard_result *result,
                   struct error *err)
{
    struct walker walker;
    struct shard_result made = {.strategy = strategy};
    if (!walker_init(&walker, model, options, strategy, err))
        return false;
    bool ok =
        all_ranks ? walk_ranks(&walker.walk, &made, err) : walk_heaviest(&walker.walk, &made, err);
    if (ok)
        shard_traffic_of(&walker.walk, &made.traffic);
    walker_release(&walker);
    if (!ok) {
        shard_result_release(&made);
        return false;
    }
    for (size_t i = 0; i < made.rank_count; i++) {
        if (made.ranks[i].peak_bytes <= made.peak_bytes)
            continue;
        made.peak_bytes = made.ranks[i].peak_bytes;
        made.peak_rank = made.ranks[i].rank;
    }
    *result = made;
    return true;
}

void shard_result_release(struct shard_result *result)
{
    free(result->ranks);
    *result = (struct shard_result){0};
}

bool shard_curve(const struct shard_model *model, const struct shard_options *options,
                 enum shard_strategy strategy, uint32_t rank, shard_moment_taker *take, void *self,
                 struct error *err)
{
    struct walker walker;
    if (!walker_init(&walker, model, options, strategy, err))
        return false;
    walker.walk.rank = rank;
    walker.walk.take = take;
    walker.walk.self = self;
    walker_run(&walker.walk);
    walker_release(&walker);
    return true;
}
