#include "render/analyze/memory.h"
#include "render/core/json_frames.h"

static void put_layout(struct json_writer *json, const struct oom_row *row)
{
    const struct oom_layout *layout = &row->layout;
    if (!layout->is_known)
        return;
    json_put_integer(json, "rounding_bytes", (int64_t)layout->block_bytes - row->at.active_bytes);
    json_put_count(json, "inactive_bytes", layout->inactive_bytes);
    json_put_count(json, "pool_inactive_bytes", layout->pool_bytes);
    json_put_count(json, "largest_hole_bytes", layout->largest_bytes);
    json_put_count(json, "elsewhere_bytes", layout->elsewhere_bytes);
    json_put_count(json, "elsewhere_largest_hole_bytes", layout->elsewhere_largest_bytes);
    if (layout->unsure_bytes > 0)
        json_put_count(json, "unsure_bytes", layout->unsure_bytes);
}

static void put_device(struct json_writer *json, const struct oom_row *row)
{
    if (row->device_bytes == 0)
        return;
    json_put_count(json, "device_bytes", row->device_bytes);
    json_put_bool(json, "device_bytes_is_least", row->device_is_least);
    json_put_count(json, "other_bytes", row->other_bytes);
}

static void put_live(struct json_writer *json, const struct oom_row *row)
{
    json_put_open(json, "categories", '[');
    for (size_t i = 0; i < row->category_count; i++) {
        json_put_open(json, NULL, '{');
        json_put_string(json, "name", category_name(row->categories[i].category));
        json_put_integer(json, "bytes", row->categories[i].bytes);
        json_put_count(json, "count", row->categories[i].count);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
    json_put_open(json, "sites", '[');
    for (size_t i = 0; i < row->site_count; i++) {
        json_put_open(json, NULL, '{');
        json_put_integer(json, "bytes", row->sites[i].bytes);
        json_put_count(json, "count", row->sites[i].count);
        json_put_string(json, "category", category_name(row->sites[i].category));
        json_put_string(json, "label", row->sites[i].label);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static void put_asker(struct json_writer *json, const struct oom_row *row,
                      const struct symbols *symbols)
{
    if (!row->asker)
        return;
    json_put_string(json, "asked_by", row->asker);
    emit_frames(json, symbols, row->stack);
}

static void put_oom(struct json_writer *json, const struct timeline *timeline,
                    const struct oom_row *row)
{
    const struct trace *trace = timeline->trace;
    json_put_open(json, NULL, '{');
    json_put_integer(json, "event", (int64_t)trace->first_event + row->item);
    if (trace_time(trace, (size_t)row->item) != TIME_NONE)
        json_put_integer(json, "time_us", trace_time(trace, (size_t)row->item));
    json_put_count(json, "requested_bytes", row->requested_bytes);
    json_put_count(json, "segment_bytes", row->segment_bytes);
    json_put_string(json, "segment_type", row->key.is_small ? "small" : "large");
    json_put_open(json, "pool_id", '[');
    json_put_count(json, NULL, row->key.pool[0]);
    json_put_count(json, NULL, row->key.pool[1]);
    json_put_close(json, ']');
    json_put_integer(json, "stream", row->key.stream);
    json_put_count(json, "device_free_bytes", row->device_free_bytes);
    json_put_integer(json, "reserved_bytes", row->at.reserved_bytes);
    json_put_integer(json, "allocated_bytes", row->at.allocated_bytes);
    json_put_integer(json, "active_bytes", row->at.active_bytes);
    put_layout(json, row);
    put_device(json, row);
    json_put_string(json, "verdict", oom_verdict_name(row->verdict));
    json_put_string(json, "sentence", row->sentence);
    json_put_string(json, "next", row->next);
    put_live(json, row);
    put_asker(json, row, timeline->snapshot->symbols);
    json_put_close(json, '}');
}

void ooms_json(struct json_writer *json, const struct device_report *report)
{
    const struct ooms *ooms = &report->ooms;
    if (ooms->total > ooms->count)
        json_put_count(json, "ooms_total", ooms->total);
    json_put_open(json, "ooms", '[');
    for (size_t i = 0; i < ooms->count; i++)
        put_oom(json, report->timeline, &ooms->items[i]);
    json_put_close(json, ']');
}
