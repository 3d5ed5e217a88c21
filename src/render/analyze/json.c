#include "render/analyze/analyze.h"

#include <string.h>

#include "render/analyze/findings.h"
#include "render/analyze/growth.h"
#include "render/analyze/internal.h"
#include "render/analyze/memory.h"
#include "render/core/json_frames.h"
#include "render/core/site_type.h"

#define SCHEMA "memsnap.analyze/1"

static void put_text(struct json_writer *json, const char *key, const struct symbols *symbols,
                     string_id id)
{
    json_put_name(json, key, symbols_text(symbols, id));
}

static void put_time(struct json_writer *json, const char *key, int64_t time_us)
{
    if (time_us != TIME_NONE)
        json_put_integer(json, key, time_us);
}

static void put_input(struct json_writer *json, const struct analysis *analysis)
{
    const struct snapshot *snapshot = analysis->snapshot;
    json_put_open(json, "input", '{');
    json_put_string(json, "path", analysis->path);
    json_put_string(json, "format", "allocator-snapshot");
    if (snapshot->input_bytes)
        json_put_count(json, "bytes", snapshot->input_bytes);
    json_put_string(json, "encoding", snapshot->encoding == ENCODING_PICKLE ? "pickle" : "json");
    if (snapshot->encoding == ENCODING_PICKLE)
        json_put_integer(json, "protocol", snapshot->protocol);
    json_put_string(json, "compression",
                    snapshot->compression == COMPRESSION_GZIP ? "gzip" : "none");
    json_put_close(json, '}');
}

static void put_settings(struct json_writer *json, const struct snapshot *snapshot)
{
    if (snapshot->setting_count == 0)
        return;
    json_put_open(json, "settings", '{');
    for (size_t i = 0; i < snapshot->setting_count; i++) {
        struct text key = symbols_text(snapshot->symbols, snapshot->settings[i].key);
        struct text value = symbols_text(snapshot->symbols, snapshot->settings[i].value);
        json_put_input_pair(json, key.bytes, key.size, value.bytes, value.size);
    }
    json_put_close(json, '}');
}

static void put_trace(struct json_writer *json, const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    const struct snapshot *snapshot = timeline->snapshot;
    json_put_open(json, "trace", '{');
    json_put_count(json, "events", trace->count);
    if (trace->count != trace->file_events) {
        json_put_count(json, "first_event", trace->first_event);
        json_put_count(json, "file_events", trace->file_events);
    }
    json_put_open(json, "by_action", '{');
    for (size_t code = 0; code < snapshot->action_code_count; code++) {
        if (timeline->by_action[code] == 0)
            continue;
        struct text name = symbols_text(snapshot->symbols, snapshot->action_names[code]);
        json_put_input_count(json, name.bytes, name.size, timeline->by_action[code]);
    }
    json_put_close(json, '}');
    if (trace->count) {
        put_time(json, "first_time_us", trace_time(trace, 0));
        put_time(json, "last_time_us", trace_time(trace, trace->count - 1));
    }
    json_put_close(json, '}');
}

static void put_curve(struct json_writer *json, const char *key, const struct trace *trace,
                      const struct curve *curve, bool with_time)
{
    json_put_open(json, key, '{');
    json_put_integer(json, "baseline_bytes", curve->baseline_bytes);
    json_put_integer(json, "peak_bytes", curve->peak_bytes);
    json_put_integer(json, "peak_event", trace_file_event(trace, curve->peak_event));
    if (with_time && curve->peak_event >= 0)
        put_time(json, "peak_time_us", trace_time(trace, (size_t)curve->peak_event));
    json_put_integer(json, "end_bytes", curve->end_bytes);
    json_put_close(json, '}');
}

static void put_reserved(struct json_writer *json, const struct timeline *timeline)
{
    const struct reserved_curve *reserved = &timeline->reserved;
    json_put_open(json, "reserved", '{');
    json_put_integer(json, "start_bytes", reserved->start_bytes);
    json_put_integer(json, "peak_bytes", reserved->peak_bytes);
    json_put_integer(json, "peak_event", trace_file_event(timeline->trace, reserved->peak_event));
    json_put_integer(json, "end_bytes", reserved->end_bytes);
    json_put_integer(json, "at_active_peak_bytes", reserved->at_active_peak_bytes);
    json_put_integer(json, "active_at_peak_bytes", reserved->active_at_peak_bytes);
    json_put_close(json, '}');
}

static void put_state(struct json_writer *json, const struct memory_state *state)
{
    json_put_open(json, "state", '{');
    json_put_count(json, "segments", state->segments);
    json_put_count(json, "blocks", state->blocks);
    json_put_count(json, "reserved_bytes", state->reserved_bytes);
    json_put_count(json, "allocated_bytes", state->allocated_bytes);
    json_put_count(json, "active_bytes", state->active_bytes);
    json_put_count(json, "requested_bytes", state->requested_bytes);
    json_put_integer(json, "rounding_bytes", state->rounding_bytes);
    json_put_count(json, "inactive_bytes", state->inactive_bytes);
    json_put_count(json, "largest_inactive_block_bytes", state->largest_inactive_block_bytes);
    json_put_close(json, '}');
}

/* Only where --at was given: without it the lists describe the active peak. */
static void put_at(struct json_writer *json, const struct device_report *report)
{
    const struct trace *trace = report->timeline->trace;
    json_put_open(json, "at", '{');
    json_put_integer(json, "event", trace_file_event(trace, report->at_item));
    if (report->at_item >= 0)
        put_time(json, "time_us", trace_time(trace, (size_t)report->at_item));
    json_put_integer(json, "active_bytes", report->at.active_bytes);
    json_put_integer(json, "allocated_bytes", report->at.allocated_bytes);
    json_put_integer(json, "reserved_bytes", report->at.reserved_bytes);
    json_put_close(json, '}');
}

static void put_annotations(struct json_writer *json, const struct device_report *report)
{
    if (report->annotations.count == 0)
        return;
    json_put_open(json, "annotations", '[');
    for (size_t i = 0; i < report->annotations.count; i++) {
        json_put_open(json, NULL, '{');
        put_text(json, "name", report->timeline->snapshot->symbols,
                 report->annotations.items[i].name);
        put_time(json, "start_time_us", report->annotations.items[i].time_us);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static void put_device(struct json_writer *json, const struct analysis *analysis,
                       const struct device_report *report)
{
    const struct timeline *timeline = report->timeline;
    const struct field_context context = report_context(report);
    json_put_open(json, NULL, '{');
    json_put_count(json, "device", timeline->device);
    put_trace(json, timeline);
    put_curve(json, "active", timeline->trace, &timeline->active, true);
    put_curve(json, "allocated", timeline->trace, &timeline->allocated, false);
    put_reserved(json, timeline);
    put_state(json, &timeline->state);
    if (analysis->at_given)
        put_at(json, report);
    put_annotations(json, report);
    baseline_json(json, report);
    phases_json(json, report);
    json_put_rows(json, &category_type, report->categories, report->category_count, &context);
    json_put_rows(json, &site_type, report->sites, report->site_count, &context);
    json_put_rows(json, &largest_type, report->largest, report->largest_count, &context);
    growth_json(json, report);
    fragmentation_json(json, report);
    ooms_json(json, report);
    findings_json(json, report);
    if (analysis->allocations)
        allocations_json(json, report);
    json_put_close(json, '}');
}

static void put_warnings(struct json_writer *json, const struct analysis *analysis)
{
    json_put_open(json, "warnings", '[');
    for (size_t i = 0; i < analysis->device_count; i++) {
        const struct device_report *report = analysis->devices[i];
        for (size_t n = 0; n < report->notice_count; n++) {
            char text[sizeof(report->notices[n].text) + 32];
            snprintf(text, sizeof(text), "device %u: %s", report->timeline->device,
                     report->notices[n].text);
            json_put_string(json, NULL, text);
        }
    }
    json_put_close(json, ']');
}

static void put_unknown_keys(struct json_writer *json, const struct snapshot *snapshot)
{
    json_put_open(json, "unknown_keys", '[');
    for (size_t i = 0; i < snapshot->unknown_key_count; i++) {
        json_put_open(json, NULL, '{');
        json_put_string(json, "where", snapshot->unknown_keys[i].where);
        put_text(json, "key", snapshot->symbols, snapshot->unknown_keys[i].key);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

bool analyze_json(FILE *out, const struct analysis *analysis)
{
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    put_input(&json, analysis);
    put_settings(&json, analysis->snapshot);
    json_put_open(&json, "devices", '[');
    for (size_t i = 0; i < analysis->device_count; i++)
        put_device(&json, analysis, analysis->devices[i]);
    json_put_close(&json, ']');
    put_warnings(&json, analysis);
    if (analysis->verbose)
        put_unknown_keys(&json, analysis->snapshot);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
