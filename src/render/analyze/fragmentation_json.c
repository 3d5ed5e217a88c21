#include "render/analyze/memory.h"

static void put_pool_figures(struct json_writer *json, const struct pool_row *row)
{
    json_put_count(json, "segments", row->segments);
    json_put_count(json, "reserved_bytes", row->reserved_bytes);
    json_put_count(json, "allocated_bytes", row->allocated_bytes);
    json_put_count(json, "active_bytes", row->active_bytes);
    json_put_integer(json, "rounding_bytes", (int64_t)(row->active_bytes - row->requested_bytes));
    json_put_count(json, "inactive_split_bytes", row->inactive_split_bytes);
    json_put_count(json, "releasable_bytes", row->releasable_bytes);
    json_put_count(json, "releasable_after_graphs_bytes", row->after_graphs_bytes);
    json_put_count(json, "largest_hole_bytes", row->largest_hole_bytes);
    if (pool_row_unexplained(row) != 0)
        json_put_integer(json, "unexplained_bytes", pool_row_unexplained(row));
}

static void put_pools(struct json_writer *json, const struct pool_rows *rows)
{
    json_put_open(json, "pools", '[');
    for (size_t i = 0; i < rows->count; i++) {
        const struct pool_row *row = &rows->items[i];
        json_put_open(json, NULL, '{');
        if (row->pools == 1) {
            json_put_string(json, "segment_type", row->key.is_small ? "small" : "large");
            json_put_open(json, "pool_id", '[');
            json_put_count(json, NULL, row->key.pool[0]);
            json_put_count(json, NULL, row->key.pool[1]);
            json_put_close(json, ']');
            json_put_integer(json, "stream", row->key.stream);
        } else {
            json_put_bool(json, "remainder", true);
            json_put_count(json, "pools", row->pools);
        }
        put_pool_figures(json, row);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static void put_pinned(struct json_writer *json, const struct pin_rows *rows)
{
    json_put_open(json, "pinned", '[');
    for (size_t i = 0; i < rows->count; i++) {
        const struct pin_row *row = &rows->items[i];
        json_put_open(json, NULL, '{');
        json_put_count(json, "pinned_bytes", row->pinned_bytes);
        json_put_count(json, "segments", row->segments);
        json_put_count(json, "block_bytes", row->block_bytes);
        json_put_count(json, "largest_block_bytes", row->largest_bytes);
        json_put_string(json, "category", category_name(row->category));
        json_put_string(json, "label", row->label);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static void put_settings(struct json_writer *json, const struct advice *advice)
{
    json_put_open(json, "settings", '[');
    for (int i = 0; i < SETTING_COUNT; i++) {
        json_put_open(json, NULL, '{');
        json_put_string(json, "setting", advice[i].setting);
        json_put_bool(json, "in_force", advice[i].in_force);
        if (advice[i].is_derivable)
            json_put_count(json, "would_save_bytes", advice[i].would_save_bytes);
        json_put_string(json, "why", advice[i].why);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

/* Of the moment that sites and categories describe. */
static void put_moment(struct json_writer *json, const struct fragmentation *fragmentation)
{
    if (fragmentation->no_moment)
        json_put_string(json, "no_at_moment", fragmentation->no_moment);
    if (!fragmentation->has_moment)
        return;
    json_put_open(json, "at_moment", '{');
    put_pool_figures(json, &fragmentation->moment.pools.total);
    if (fragmentation->moment_doubts.unsure_bytes > 0)
        json_put_count(json, "unsure_bytes", fragmentation->moment_doubts.unsure_bytes);
    put_pools(json, &fragmentation->moment.pools);
    put_settings(json, fragmentation->moment.advice);
    json_put_bool(json, "notable", cut_up_is_notable(&fragmentation->moment));
    json_put_close(json, '}');
}

/* Of the end of the trace; pools and settings then are those of the dump. */
static void put_end(struct json_writer *json, const struct device_report *report)
{
    const struct cut_up *end = &report->fragmentation.dump;
    if (!trace_has_end(report->timeline->trace))
        return;
    json_put_open(json, "at_end", '{');
    put_pool_figures(json, &end->pools.total);
    json_put_bool(json, "notable", cut_up_is_notable(end));
    json_put_close(json, '}');
}

void fragmentation_json(struct json_writer *json, const struct device_report *report)
{
    const struct fragmentation *fragmentation = &report->fragmentation;
    const struct pin_rows *pinned = &fragmentation->pinned;
    const struct reserved_curve *reserved = &report->timeline->reserved;
    json_put_open(json, "fragmentation", '{');
    put_pools(json, &fragmentation->dump.pools);
    put_pinned(json, pinned);
    json_put_open(json, "pinned_total", '{');
    json_put_count(json, "pinned_bytes", pinned->pinned_bytes);
    json_put_count(json, "segments", pinned->segments);
    json_put_count(json, "block_bytes", pinned->block_bytes);
    json_put_close(json, '}');
    put_settings(json, fragmentation->dump.advice);
    json_put_integer(json, "at_reserved_peak_bytes",
                     reserved->peak_bytes - reserved->active_at_peak_bytes);
    put_moment(json, fragmentation);
    put_end(json, report);
    json_put_close(json, '}');
}
