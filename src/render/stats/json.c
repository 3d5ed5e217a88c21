#include "render/core/json.h"
#include "render/core/input_line.h"
#include "render/stats/stats.h"

#define SCHEMA   "memsnap.analyze/1"
#define KEY_SIZE 64

/* The curves as far as the counters tell, under the names that reports of snapshots use. */
static const struct {
    const char *key;
    enum stats_metric metric;
} curves[] = {
    {"active", STATS_ACTIVE_BYTES},
    {"allocated", STATS_ALLOCATED_BYTES},
    {"requested", STATS_REQUESTED_BYTES},
    {"reserved", STATS_RESERVED_BYTES},
};

static void put_curves(struct json_writer *json, const struct stats_row *row)
{
    for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++) {
        enum stats_metric metric = curves[i].metric;
        if (row->present[metric] == 0)
            continue;
        json_put_open(json, curves[i].key, '{');
        if (stats_has(row, metric, STATS_ALL, STATS_PEAK))
            json_put_integer(json, "peak_bytes", row->values[metric][STATS_ALL][STATS_PEAK]);
        if (stats_has(row, metric, STATS_ALL, STATS_CURRENT))
            json_put_integer(json, "end_bytes", row->values[metric][STATS_ALL][STATS_CURRENT]);
        json_put_close(json, '}');
    }
}

static void put_metric(struct json_writer *json, const struct stats_row *row,
                       enum stats_metric metric)
{
    for (enum stats_pool pool = 0; pool < STATS_POOLS; pool++)
        for (enum stats_moment moment = 0; moment < STATS_MOMENTS; moment++) {
            char key[KEY_SIZE];
            if (!stats_has(row, metric, pool, moment))
                continue;
            snprintf(key, sizeof(key), "%s%s%s.%s", stats_metric_names[metric],
                     stats_has_pools(metric) ? "." : "",
                     stats_has_pools(metric) ? stats_pool_names[pool] : "",
                     stats_moment_names[moment]);
            json_put_integer(json, key, row->values[metric][pool][moment]);
        }
}

static void put_row(struct json_writer *json, const struct stats_row *row)
{
    json_put_open(json, NULL, '{');
    if (row->device >= 0)
        json_put_integer(json, "device", row->device);
    if (row->line > 0)
        json_put_count(json, "line", row->line);
    put_curves(json, row);
    json_put_open(json, "stats", '{');
    for (enum stats_metric metric = 0; metric < STATS_METRICS; metric++)
        put_metric(json, row, metric);
    for (unsigned i = 0; i < STATS_COUNTERS; i++)
        if (row->counters_present >> i & 1)
            json_put_integer(json, stats_counter_names[i], row->counters[i]);
    json_put_close(json, '}');
    json_put_bool(json, "is_rounded", row->is_rounded);
    json_put_bool(json, "is_cut", row->is_cut);
    json_put_close(json, '}');
}

bool stats_json(FILE *out, const struct stats_analysis *analysis)
{
    const struct memory_stats *stats = analysis->stats;
    const struct input_line input = {.path = analysis->path,
                                     .bytes = stats->input_bytes,
                                     .encoding = stats->encoding,
                                     .protocol = stats->protocol,
                                     .compression = stats->compression};
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    json_put_input(&json, "input", "memory-stats", &input);
    json_put_open(&json, "devices", '[');
    for (size_t i = 0; i < stats->count; i++)
        put_row(&json, &stats->rows[i]);
    json_put_close(&json, ']');
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
