#include "model/run.h"

#include <stdlib.h>

#include "decode/run/stats.h"

struct memory_run *memory_run_create(size_t max_memory, struct error *err)
{
    struct memory_run *run = calloc(1, sizeof(*run));
    if (run)
        run->budget = calloc(1, sizeof(*run->budget));
    if (!run || !run->budget) {
        free(run);
        error_out_of_memory(err);
        return NULL;
    }
    run->budget->limit = max_memory ? max_memory : budget_default_limit();
    run->symbols = symbols_create(run->budget, err);
    if (run->symbols)
        return run;
    memory_run_destroy(run);
    return NULL;
}

void memory_run_destroy(struct memory_run *run)
{
    if (!run)
        return;
    /* the budget is destroyed, too */
    vec_free(run->files, 0, sizeof(*run->files), run->budget);
    vec_free(run->points, 0, sizeof(*run->points), run->budget);
    vec_free(run->stats, 0, sizeof(*run->stats), run->budget);
    vec_free(run->snapshots, 0, sizeof(*run->snapshots), run->budget);
    symbols_destroy(run->symbols);
    free(run->budget);
    free(run);
}

bool memory_run_add_file(struct memory_run *run, const char *path, const struct run_file *facts,
                         uint32_t *file, struct error *err)
{
    struct run_file added = *facts;
    size_t count = run->file_count;
    if (!symbols_string(run->symbols, path, strlen(path), &added.path, err) ||
        !vec_push(run->files, run->file_count, run->file_capacity, run->budget, err, added))
        return false;
    *file = (uint32_t)count;
    return true;
}

static bool add_point(void *self, const struct run_key *key, struct error *err)
{
    struct memory_run *run = self;
    return vec_push(run->points, run->point_count, run->point_capacity, run->budget, err,
                    (struct run_point){
                        .key = *key, .file = (uint32_t)run->file_count, .first = run->stat_count});
}

static bool add_stat(void *self, string_id name, int64_t number, struct error *err)
{
    struct memory_run *run = self;
    run->points[run->point_count - 1].count++;
    return vec_push(run->stats, run->stat_count, run->stat_capacity, run->budget, err,
                    (struct run_stat){name, number});
}

bool memory_run_add_stats(struct memory_run *run, const char *path, struct input *input,
                          struct error *err)
{
    const struct run_stats_sink sink = {run, add_point, add_stat};
    struct run_file facts = {.compression = input->source.compression};
    size_t points = run->point_count, stats = run->stat_count;
    uint32_t file;
    bool ok = decode_run_stats(&input->source, run->symbols, &sink, &facts.encoding, err);
    input_close(input);
    facts.bytes = input->bytes;
    free(input->budget);
    if (ok && memory_run_add_file(run, path, &facts, &file, err))
        return true;
    run->point_count = points;
    run->stat_count = stats;
    return false;
}

bool memory_run_add_snapshot(struct memory_run *run, const struct run_key *key, uint32_t file,
                             const struct timeline *timeline, struct error *err)
{
    return vec_push(run->snapshots, run->snapshot_count, run->snapshot_capacity, run->budget, err,
                    (struct run_snapshot){
                        .key = *key,
                        .file = file,
                        .device = timeline->device,
                        .events = timeline->trace->file_events,
                        .knows_peak = timeline_knows_peak(timeline),
                        .active_peak_bytes = timeline->active.peak_bytes,
                        .allocated_peak_bytes = timeline->allocated.peak_bytes,
                        .reserved_peak_bytes = timeline->reserved.peak_bytes,
                        .state = timeline->state,
                    });
}

int run_key_compare(const struct run_key *a, const struct run_key *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->function != b->function) /* ids ascend in order of appearance */
        return a->function < b->function ? -1 : 1;
    if (a->iteration != b->iteration)
        return a->iteration < b->iteration ? -1 : 1;
    return (int)a->side - (int)b->side;
}

static int compare_points(const void *left, const void *right)
{
    const struct run_point *a = left, *b = right;
    int order = run_key_compare(&a->key, &b->key);
    if (order == 0)
        order = (a->file > b->file) - (a->file < b->file);
    return order ? order : (a->first > b->first) - (a->first < b->first);
}

static int compare_snapshots(const void *left, const void *right)
{
    const struct run_snapshot *a = left, *b = right;
    int order = run_key_compare(&a->key, &b->key);
    if (order == 0)
        order = (a->file > b->file) - (a->file < b->file);
    return order ? order : (a->device > b->device) - (a->device < b->device);
}

void memory_run_finish(struct memory_run *run)
{
    if (run->point_count > 0)
        qsort(run->points, run->point_count, sizeof(*run->points), compare_points);
    if (run->snapshot_count > 0)
        qsort(run->snapshots, run->snapshot_count, sizeof(*run->snapshots), compare_snapshots);
}

int64_t run_point_number(const struct memory_run *run, const struct run_point *point,
                         const char *name)
{
    for (size_t i = point->count; i-- > 0;) {
        const struct run_stat *stat = &run->stats[point->first + i];
        if (text_equals(symbols_text(run->symbols, stat->name), name))
            return stat->number;
    }
    return RUN_ABSENT;
}
