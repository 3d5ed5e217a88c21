#include "render/analyze_memory.h"

static void put_pool_figures(struct json_writer *json, const struct pool_row *row)
{
    emit_count(json, "segments", row->segments);
    emit_count(json, "reserved_bytes", row->reserved_bytes);
    emit_count(json, "allocated_bytes", row->allocated_bytes);
    emit_count(json, "active_bytes", row->active_bytes);
    emit_integer(json, "rounding_bytes", (int64_t)(row->active_bytes - row->requested_bytes));
    emit_count(json, "inactive_split_bytes", row->inactive_split_bytes);
    emit_count(json, "releasable_bytes", row->releasable_bytes);
    emit_count(json, "releasable_after_graphs_bytes", row->after_graphs_bytes);
    emit_count(json, "largest_hole_bytes", row->largest_hole_bytes);
    if (pool_row_unexplained(row) != 0)
        emit_integer(json, "unexplained_bytes", pool_row_unexplained(row));
}

static void put_pools(struct json_writer *json, const struct pool_rows *rows)
{
    emit_open(json, "pools", '[');
    for (size_t i = 0; i < rows->count; i++) {
        const struct pool_row *row = &rows->items[i];
        emit_open(json, NULL, '{');
        if (row->pools == 1) {
            emit_word(json, "segment_type", row->key.is_small ? "small" : "large");
            emit_open(json, "pool_id", '[');
            emit_count(json, NULL, row->key.pool[0]);
            emit_count(json, NULL, row->key.pool[1]);
            emit_close(json, ']');
            emit_integer(json, "stream", row->key.stream);
        } else {
            emit_flag(json, "remainder", true);
            emit_count(json, "pools", row->pools);
        }
        put_pool_figures(json, row);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

static void put_pinned(struct json_writer *json, const struct pin_rows *rows)
{
    emit_open(json, "pinned", '[');
    for (size_t i = 0; i < rows->count; i++) {
        const struct pin_row *row = &rows->items[i];
        emit_open(json, NULL, '{');
        emit_count(json, "pinned_bytes", row->pinned_bytes);
        emit_count(json, "segments", row->segments);
        emit_count(json, "block_bytes", row->block_bytes);
        emit_count(json, "largest_block_bytes", row->largest_bytes);
        emit_word(json, "category", category_name(row->category));
        emit_word(json, "label", row->label);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

static void put_settings(struct json_writer *json, const struct advice *advice)
{
    emit_open(json, "settings", '[');
    for (int i = 0; i < SETTING_COUNT; i++) {
        emit_open(json, NULL, '{');
        emit_word(json, "setting", advice[i].setting);
        emit_flag(json, "in_force", advice[i].in_force);
        if (advice[i].is_derivable)
            emit_count(json, "would_save_bytes", advice[i].would_save_bytes);
        emit_word(json, "why", advice[i].why);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

/* Of the moment that sites and categories describe. */
static void put_moment(struct json_writer *json, const struct fragmentation *fragmentation)
{
    if (fragmentation->no_moment)
        emit_word(json, "no_at_moment", fragmentation->no_moment);
    if (!fragmentation->has_moment)
        return;
    emit_open(json, "at_moment", '{');
    put_pool_figures(json, &fragmentation->moment.pools.total);
    if (fragmentation->moment_doubts.unsure_bytes > 0)
        emit_count(json, "unsure_bytes", fragmentation->moment_doubts.unsure_bytes);
    put_pools(json, &fragmentation->moment.pools);
    put_settings(json, fragmentation->moment.advice);
    emit_flag(json, "notable", cut_up_is_notable(&fragmentation->moment));
    emit_close(json, '}');
}

/* Of the end of the trace; pools and settings then are those of the dump. */
static void put_end(struct json_writer *json, const struct device_report *report)
{
    const struct cut_up *end = &report->fragmentation.dump;
    if (!trace_has_end(report->timeline->trace))
        return;
    emit_open(json, "at_end", '{');
    put_pool_figures(json, &end->pools.total);
    emit_flag(json, "notable", cut_up_is_notable(end));
    emit_close(json, '}');
}

void fragmentation_json(struct json_writer *json, const struct device_report *report)
{
    const struct fragmentation *fragmentation = &report->fragmentation;
    const struct pin_rows *pinned = &fragmentation->pinned;
    const struct reserved_curve *reserved = &report->timeline->reserved;
    emit_open(json, "fragmentation", '{');
    put_pools(json, &fragmentation->dump.pools);
    put_pinned(json, pinned);
    emit_open(json, "pinned_total", '{');
    emit_count(json, "pinned_bytes", pinned->pinned_bytes);
    emit_count(json, "segments", pinned->segments);
    emit_count(json, "block_bytes", pinned->block_bytes);
    emit_close(json, '}');
    put_settings(json, fragmentation->dump.advice);
    emit_integer(json, "at_reserved_peak_bytes",
                 reserved->peak_bytes - reserved->active_at_peak_bytes);
    put_moment(json, fragmentation);
    put_end(json, report);
    emit_close(json, '}');
}
