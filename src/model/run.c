#include "model/run.h"

#include <stdlib.h>

#include "decode/run/stats.h"
#include "decode/run/tables.h"

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
    run->operators.symbols = run->symbols;
    run->operators.budget = run->budget;
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
    vec_free(run->traces, 0, sizeof(*run->traces), run->budget);
    operator_tables_release(&run->operators);
    vec_free(run->tables, 0, sizeof(*run->tables), run->budget);
    vec_free(run->rows, 0, sizeof(*run->rows), run->budget);
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

struct table_loader {
    struct memory_run *run;
    uint32_t rank;
    size_t first_table;
};

/* MemProfiler repeats the heading above the modules. */
static bool add_heading(void *self, string_id function, uint32_t iteration, struct error *err)
{
    const struct table_loader *loader = self;
    struct memory_run *run = loader->run;
    struct run_table table = {{loader->rank, function, iteration, RUN_END},
                              .file = (uint32_t)run->file_count,
                              .first = run->row_count};
    if (run->table_count > loader->first_table &&
        run_key_compare(&run->tables[run->table_count - 1].key, &table.key) == 0)
        return true;
    return vec_push(run->tables, run->table_count, run->table_capacity, run->budget, err, table);
}

static bool add_row(void *self, const struct run_table_row *row, struct error *err)
{
    const struct table_loader *loader = self;
    struct memory_run *run = loader->run;
    if (run->table_count == loader->first_table && !add_heading(self, STRING_EMPTY, 0, err))
        return false;
    run->tables[run->table_count - 1].count++;
    return vec_push(run->rows, run->row_count, run->row_capacity, run->budget, err, *row);
}

bool memory_run_add_tables(struct memory_run *run, const char *path, uint32_t rank,
                           struct input *input, struct error *err)
{
    struct table_loader loader = {run, rank, run->table_count};
    const struct run_tables_sink sink = {&loader, add_heading, add_row};
    struct run_file facts = {.encoding = ENCODING_TEXT, .compression = input->source.compression};
    size_t tables = run->table_count, rows = run->row_count;
    uint32_t file;
    bool ok = decode_run_tables(&input->source, run->symbols, &sink, err);
    input_close(input);
    facts.bytes = input->bytes;
    free(input->budget);
    ok = ok && (run->row_count > rows || run->table_count > tables ||
                error_set(err, STATUS_BAD_INPUT, "no table of FSDP memory"));
    if (ok && memory_run_add_file(run, path, &facts, &file, err))
        return true;
    run->table_count = tables;
    run->row_count = rows;
    return false;
}

static void take_ooms(struct run_snapshot *snapshot, const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    snapshot->ooms = timeline->by_action[ACTION_OOM];
    snapshot->refused_time_us = TIME_NONE;
    for (size_t i = 0; snapshot->ooms > 0 && i < trace->count; i++)
        if (trace->action[i] == ACTION_OOM && trace_size(trace, i) > snapshot->refused_bytes) {
            snapshot->refused_bytes = trace_size(trace, i);
            snapshot->refused_time_us = trace_time(trace, i);
        }
}

bool memory_run_add_snapshot(struct memory_run *run, const struct run_key *key, uint32_t file,
                             const struct timeline *timeline, struct error *err)
{
    struct run_snapshot snapshot = {
        .key = *key,
        .file = file,
        .device = timeline->device,
        .events = timeline->trace->file_events,
        .knows_peak = timeline_knows_peak(timeline),
        .active_peak_bytes = timeline->active.peak_bytes,
        .allocated_peak_bytes = timeline->allocated.peak_bytes,
        .reserved_peak_bytes = timeline->reserved.peak_bytes,
        .state = timeline->state,
    };
    take_ooms(&snapshot, timeline);
    return vec_push(run->snapshots, run->snapshot_count, run->snapshot_capacity, run->budget, err,
                    snapshot);
}

bool memory_run_add_trace(struct memory_run *run, uint32_t rank, uint32_t file,
                          const struct timeline *timeline, bool has_reserved, struct error *err)
{
    return vec_push(run->traces, run->trace_count, run->trace_capacity, run->budget, err,
                    (struct run_trace){
                        .rank = rank,
                        .file = file,
                        .device = timeline->device,
                        .events = timeline->trace->file_events,
                        .active_peak_bytes = timeline->active.peak_bytes,
                        .reserved_peak_bytes = has_reserved && timeline->device != DEVICE_HOST
                                                   ? timeline->reserved.peak_bytes
                                                   : RUN_ABSENT,
                    });
}

bool memory_run_add_operators(struct memory_run *run, const char *path, struct input *input,
                              struct error *err)
{
    struct run_file facts = {.encoding = ENCODING_TEXT, .compression = input->source.compression};
    size_t tables = run->operators.count, rows = run->operators.row_count;
    uint32_t file;
    bool ok = operator_tables_add(&run->operators, (uint32_t)run->file_count, &input->source, err);
    input_close(input);
    facts.bytes = input->bytes;
    free(input->budget);
    ok = ok && (run->operators.count > tables ||
                error_set(err, STATUS_BAD_INPUT, "no complete table of torch.profiler"));
    if (ok && memory_run_add_file(run, path, &facts, &file, err))
        return true;
    run->operators.count = tables;
    run->operators.row_count = rows;
    return false;
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

static int compare_traces(const void *left, const void *right)
{
    const struct run_trace *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

static int compare_tables(const void *left, const void *right)
{
    const struct run_table *a = left, *b = right;
    int order = run_key_compare(&a->key, &b->key);
    return order ? order : (a->first > b->first) - (a->first < b->first);
}

void memory_run_finish(struct memory_run *run)
{
    if (run->point_count > 0)
        qsort(run->points, run->point_count, sizeof(*run->points), compare_points);
    if (run->trace_count > 0)
        qsort(run->traces, run->trace_count, sizeof(*run->traces), compare_traces);
    if (run->table_count > 0)
        qsort(run->tables, run->table_count, sizeof(*run->tables), compare_tables);
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
