#include "analysis/shard/sweep.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/shard/stops.h"

#define MOST_STEPS (UINT64_C(1) << 33) /* points and tensors of all walks */
#define BISECTIONS 17                  /* of SHARD_MOST_BATCH values */

struct sweeper {
    const struct shard_model *model, *checkpointed;
    struct shard_options options;
    const struct fit_values *batches;
    uint64_t gpu_bytes;
};

/* Sets the peak of the row to that with a batch, and the traffic. */
static bool predict_row(struct sweeper *sweeper, struct shard_sweep_row *row, uint64_t batch,
                        struct error *err)
{
    struct shard_result result;
    const struct shard_model *model = row->is_checkpointed ? sweeper->checkpointed : sweeper->model;
    sweeper->options.batch = (double)batch;
    if (!shard_predict(model, &sweeper->options, row->strategy, false, &result, err))
        return false;
    row->peak_bytes = result.peak_bytes;
    row->traffic_bytes = shard_traffic_sum(&result.traffic);
    shard_result_release(&result);
    return true;
}

/* The number of values that fit is in low..high. */
static bool find_largest(struct sweeper *sweeper, struct shard_sweep_row *row, struct error *err)
{
    const struct fit_values *batches = sweeper->batches;
    size_t low = 0, high = batches->count;
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        if (!predict_row(sweeper, row, fit_value(batches, middle - 1), err))
            return false;
        if ((uint64_t)row->peak_bytes <= sweeper->gpu_bytes)
            low = middle;
        else
            high = middle - 1;
    }
    row->largest_batch = low > 0 ? fit_value(batches, low - 1) : 0;
    row->is_last = low == batches->count;
    return predict_row(sweeper, row, fit_value(batches, low > 0 ? low - 1 : 0), err);
}

/* Every number of ranks is within one group, or consists of whole ones. */
static bool check_groups(const struct fit_values *worlds, uint64_t group, struct error *err)
{
    for (size_t i = 0; group > 0 && i < worlds->count; i++)
        if (fit_value(worlds, i) > group && fit_value(worlds, i) % group != 0)
            return error_set(err, STATUS_USAGE,
                             "--sweep: %" PRIu64 " ranks are not a multiple of --group %" PRIu64,
                             fit_value(worlds, i), group);
    return true;
}

static bool check(const struct shard_model *model, const struct shard_model *checkpointed,
                  const struct fit_values *worlds, const struct fit_values *batches,
                  struct error *err)
{
    uint64_t each = model->point_count + model->tensor_count + model->layer_count;
    if (checkpointed)
        each += checkpointed->point_count + each;
    if (fit_value(worlds, 0) < 1 || fit_value(batches, 0) < 1)
        return error_set(err, STATUS_USAGE, "--sweep: values begin at 1");
    if (fit_value(worlds, worlds->count - 1) > SHARD_MOST_WORLD)
        return error_set(err, STATUS_USAGE, "--sweep: at most %d ranks", SHARD_MOST_WORLD);
    if (fit_value(batches, batches->count - 1) > SHARD_MOST_BATCH)
        return error_set(err, STATUS_USAGE, "--sweep: at most %d times the batch",
                         SHARD_MOST_BATCH);
    if (worlds->count * BISECTIONS * SHARD_STRATEGIES > MOST_STEPS / (each + SHARD_MOST_WORLD))
        return error_set(err, STATUS_LIMIT,
                         "--sweep: too many ranks for %zu layers; try world=1..1024*2",
                         model->layer_count);
    return true;
}

static bool add_rows(struct sweeper *sweeper, struct shard_sweep *made, uint64_t world,
                     int64_t group, struct error *err)
{
    int64_t all = (int64_t)world;
    sweeper->options.world = all;
    sweeper->options.group = group < all ? group : 0;
    for (size_t k = 0; k < made->each; k++) {
        struct shard_sweep_row *row = &made->rows[made->count++];
        row->strategy = (enum shard_strategy)(k % SHARD_STRATEGIES);
        row->is_checkpointed = k >= SHARD_STRATEGIES;
        row->world = world;
        bool is_grouped = shard_has_groups(row->strategy);
        row->group = is_grouped && sweeper->options.group > 0 ? sweeper->options.group : all;
        enum shard_stop stop;
        if (!find_largest(sweeper, row, err) ||
            !shard_find_stop(sweeper->model, &sweeper->options, row->strategy, &stop, err))
            return false;
        row->runs = stop == SHARD_RUNS;
    }
    return true;
}

bool shard_sweep_make(struct shard_sweep *sweep, const struct shard_model *model,
                      const struct shard_model *checkpointed, const struct shard_options *options,
                      const struct fit_values *worlds, const struct fit_values *batches,
                      uint64_t gpu_bytes, struct error *err)
{
    struct sweeper sweeper = {.model = model,
                              .checkpointed = checkpointed,
                              .options = *options,
                              .batches = batches,
                              .gpu_bytes = gpu_bytes};
    struct shard_sweep made = {.worlds = worlds,
                               .batches = batches,
                               .gpu_bytes = gpu_bytes,
                               .each = SHARD_STRATEGIES * (checkpointed ? 2 : 1)};
    if (!check(model, checkpointed, worlds, batches, err) ||
        !check_groups(worlds, (uint64_t)options->group, err))
        return false;
    made.rows = calloc(worlds->count, made.each * sizeof(*made.rows));
    if (!made.rows)
        return error_out_of_memory(err);
    for (size_t i = 0; i < worlds->count; i++) {
        if (!add_rows(&sweeper, &made, fit_value(worlds, i), options->group, err)) {
            shard_sweep_release(&made);
            return false;
        }
    }
    *sweep = made;
    return true;
}

void shard_sweep_release(struct shard_sweep *sweep)
{
    free(sweep->rows);
    *sweep = (struct shard_sweep){0};
}
