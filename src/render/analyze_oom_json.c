#include "render/analyze_memory.h"
#include "render/json_frames.h"

static void put_layout(struct json_writer *json, const struct oom_row *row)
{
    const struct oom_layout *layout = &row->layout;
    if (!layout->is_known)
        return;
    emit_integer(json, "rounding_bytes", (int64_t)layout->block_bytes - row->at.active_bytes);
    emit_count(json, "inactive_bytes", layout->inactive_bytes);
    emit_count(json, "pool_inactive_bytes", layout->pool_bytes);
    emit_count(json, "largest_hole_bytes", layout->largest_bytes);
    emit_count(json, "elsewhere_bytes", layout->elsewhere_bytes);
    emit_count(json, "elsewhere_largest_hole_bytes", layout->elsewhere_largest_bytes);
    if (layout->unsure_bytes > 0)
        emit_count(json, "unsure_bytes", layout->unsure_bytes);
}

static void put_device(struct json_writer *json, const struct oom_row *row)
{
    if (row->device_bytes == 0)
        return;
    emit_count(json, "device_bytes", row->device_bytes);
    emit_flag(json, "device_bytes_is_least", row->device_is_least);
    emit_count(json, "other_bytes", row->other_bytes);
}

static void put_live(struct json_writer *json, const struct oom_row *row)
{
    emit_open(json, "categories", '[');
    for (size_t i = 0; i < row->category_count; i++) {
        emit_open(json, NULL, '{');
        emit_word(json, "name", category_name(row->categories[i].category));
        emit_integer(json, "bytes", row->categories[i].bytes);
        emit_count(json, "count", row->categories[i].count);
        emit_close(json, '}');
    }
    emit_close(json, ']');
    emit_open(json, "sites", '[');
    for (size_t i = 0; i < row->site_count; i++) {
        emit_open(json, NULL, '{');
        emit_integer(json, "bytes", row->sites[i].bytes);
        emit_count(json, "count", row->sites[i].count);
        emit_word(json, "category", category_name(row->sites[i].category));
        emit_word(json, "label", row->sites[i].label);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

static void put_asker(struct json_writer *json, const struct oom_row *row,
                      const struct symbols *symbols)
{
    if (!row->asker)
        return;
    emit_word(json, "asked_by", row->asker);
    emit_frames(json, symbols, row->stack);
}

static void put_oom(struct json_writer *json, const struct timeline *timeline,
                    const struct oom_row *row)
{
    const struct trace *trace = timeline->trace;
    emit_open(json, NULL, '{');
    emit_integer(json, "event", (int64_t)trace->first_event + row->item);
    if (trace_time(trace, (size_t)row->item) != TIME_NONE)
        emit_integer(json, "time_us", trace_time(trace, (size_t)row->item));
    emit_count(json, "requested_bytes", row->requested_bytes);
    emit_count(json, "segment_bytes", row->segment_bytes);
    emit_word(json, "segment_type", row->key.is_small ? "small" : "large");
    emit_open(json, "pool_id", '[');
    emit_count(json, NULL, row->key.pool[0]);
    emit_count(json, NULL, row->key.pool[1]);
    emit_close(json, ']');
    emit_integer(json, "stream", row->key.stream);
    emit_count(json, "device_free_bytes", row->device_free_bytes);
    emit_integer(json, "reserved_bytes", row->at.reserved_bytes);
    emit_integer(json, "allocated_bytes", row->at.allocated_bytes);
    emit_integer(json, "active_bytes", row->at.active_bytes);
    put_layout(json, row);
    put_device(json, row);
    emit_word(json, "verdict", oom_verdict_name(row->verdict));
    emit_word(json, "sentence", row->sentence);
    emit_word(json, "next", row->next);
    put_live(json, row);
    put_asker(json, row, timeline->snapshot->symbols);
    emit_close(json, '}');
}

void ooms_json(struct json_writer *json, const struct device_report *report)
{
    const struct ooms *ooms = &report->ooms;
    if (ooms->total > ooms->count)
        emit_count(json, "ooms_total", ooms->total);
    emit_open(json, "ooms", '[');
    for (size_t i = 0; i < ooms->count; i++)
        put_oom(json, report->timeline, &ooms->items[i]);
    emit_close(json, ']');
}
