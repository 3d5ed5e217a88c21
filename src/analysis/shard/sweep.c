#include "analysis/shard/sweep.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/shard/room.h"
#include "analysis/shard/stops.h"
#include "analysis/shard/walk.h"

#define MOST_STEPS (UINT64_C(1) << 33) /* points and tensors of all walks */
#define WALKS      2                   /* of a row */

struct sweeper {
    const struct shard_model *model, *checkpointed;
    struct shard_options options;
    const struct fit_values *batches;
    uint64_t gpu_bytes;
    struct shard_room room;
};

/* Finds the largest batch in one walk: a moment of the step has bytes that stay and bytes that the
 * batch multiplies, so each tells the largest batch that it lets fit. */
struct fitter {
    const struct fit_values *batches;
    enum shard_strategy strategy;
    const struct shard_room *room;
    uint64_t gpu_bytes;
    size_t count; /* of the values that fit */
};

static void take_fitting(void *self, const struct shard_moment *moment)
{
    struct fitter *fitter = self;
    int64_t staying = shard_memory_sum(&moment->memory) +
                      shard_first_step_more(fitter->strategy, moment) - shard_enlarged(moment, 1);
    size_t low = 0, high = fitter->count, middle = high;
    while (low < high) {
        double batch = (double)fit_value(fitter->batches, middle - 1);
        int64_t bytes = staying + shard_enlarged(moment, batch);
        if ((uint64_t)bytes <=
            shard_usable_bytes(fitter->strategy, fitter->room, batch, fitter->gpu_bytes))
            low = middle;
        else
            high = middle - 1;
        middle = low + (high - low + 1) / 2;
    }
    fitter->count = low;
}

static void take_peak(void *self, const struct shard_moment *moment)
{
    int64_t *peak = self, bytes = shard_memory_sum(&moment->memory);
    *peak = bytes > *peak ? bytes : *peak;
}

static void walk_row(struct sweeper *sweeper, struct walk *walk, struct shard_sweep_row *row)
{
    const struct fit_values *batches = sweeper->batches;
    struct fitter fitter = {batches, row->strategy, &sweeper->room, sweeper->gpu_bytes,
                            batches->count};
    struct shard_traffic traffic;
    sweeper->options.batch = 1;
    walk->take = take_fitting;
    walk->self = &fitter;
    walker_run(walk);
    size_t count = fitter.count;
    row->largest_batch = count > 0 ? fit_value(batches, count - 1) : 0;
    row->is_last = count == batches->count;
    sweeper->options.batch = (double)fit_value(batches, count > 0 ? count - 1 : 0);
    walk->take = take_peak;
    walk->self = &row->peak_bytes;
    walker_run(walk);
    shard_traffic_of(walk, &traffic);
    row->traffic_bytes = shard_traffic_sum(&traffic);
}

static bool find_largest(struct sweeper *sweeper, struct shard_sweep_row *row, struct error *err)
{
    const struct shard_model *model = row->is_checkpointed ? sweeper->checkpointed : sweeper->model;
    struct walker walker;
    if (!walker_init(&walker, model, &sweeper->options, row->strategy, err))
        return false;
    bool ok = walker_set_heaviest(&walker.walk, err);
    if (ok)
        walk_row(sweeper, &walker.walk, row);
    walker_release(&walker);
    return ok;
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
    if (worlds->count * WALKS * SHARD_STRATEGIES > MOST_STEPS / (each + SHARD_MOST_WORLD))
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
        row->is_of_use = shard_is_of_use(&sweeper->options, row->strategy);
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
        !check_groups(worlds, (uint64_t)options->group, err) ||
        !shard_room_find(&sweeper.room, model, options, err))
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
