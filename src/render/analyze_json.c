#include "render/analyze.h"

#include <string.h>

#include "render/analyze_findings.h"
#include "render/analyze_growth.h"
#include "render/analyze_memory.h"
#include "render/analyze_parts.h"
#include "render/json_frames.h"

#define SCHEMA "memsnap.analyze/1"

static void put_text(struct json_writer *json, const char *key, const struct symbols *symbols,
                     string_id id)
{
    emit_name(json, key, symbols_text(symbols, id));
}

static void put_time(struct json_writer *json, const char *key, int64_t time_us)
{
    if (time_us != TIME_NONE)
        emit_integer(json, key, time_us);
}

static void put_input(struct json_writer *json, const struct analysis *analysis)
{
    const struct snapshot *snapshot = analysis->snapshot;
    emit_open(json, "input", '{');
    emit_word(json, "path", analysis->path);
    emit_word(json, "format", "allocator-snapshot");
    if (snapshot->input_bytes)
        emit_count(json, "bytes", snapshot->input_bytes);
    emit_word(json, "encoding", snapshot->encoding == ENCODING_PICKLE ? "pickle" : "json");
    if (snapshot->encoding == ENCODING_PICKLE)
        emit_integer(json, "protocol", snapshot->protocol);
    emit_word(json, "compression", snapshot->compression == COMPRESSION_GZIP ? "gzip" : "none");
    emit_close(json, '}');
}

static void put_settings(struct json_writer *json, const struct snapshot *snapshot)
{
    if (snapshot->setting_count == 0)
        return;
    emit_open(json, "settings", '{');
    for (size_t i = 0; i < snapshot->setting_count; i++) {
        struct text key = symbols_text(snapshot->symbols, snapshot->settings[i].key);
        struct text value = symbols_text(snapshot->symbols, snapshot->settings[i].value);
        emit_input_pair(json, key.bytes, key.size, value.bytes, value.size);
    }
    emit_close(json, '}');
}

static void put_trace(struct json_writer *json, const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    const struct snapshot *snapshot = timeline->snapshot;
    emit_open(json, "trace", '{');
    emit_count(json, "events", trace->count);
    if (trace->count != trace->file_events) {
        emit_count(json, "first_event", trace->first_event);
        emit_count(json, "file_events", trace->file_events);
    }
    emit_open(json, "by_action", '{');
    for (size_t code = 0; code < snapshot->action_code_count; code++) {
        if (timeline->by_action[code] == 0)
            continue;
        struct text name = symbols_text(snapshot->symbols, snapshot->action_names[code]);
        emit_input_count(json, name.bytes, name.size, timeline->by_action[code]);
    }
    emit_close(json, '}');
    if (trace->count) {
        put_time(json, "first_time_us", trace_time(trace, 0));
        put_time(json, "last_time_us", trace_time(trace, trace->count - 1));
    }
    emit_close(json, '}');
}

static void put_curve(struct json_writer *json, const char *key, const struct trace *trace,
                      const struct curve *curve, bool with_time)
{
    emit_open(json, key, '{');
    emit_integer(json, "baseline_bytes", curve->baseline_bytes);
    emit_integer(json, "peak_bytes", curve->peak_bytes);
    emit_integer(json, "peak_event", trace_file_event(trace, curve->peak_event));
    if (with_time && curve->peak_event >= 0)
        put_time(json, "peak_time_us", trace_time(trace, (size_t)curve->peak_event));
    emit_integer(json, "end_bytes", curve->end_bytes);
    emit_close(json, '}');
}

static void put_reserved(struct json_writer *json, const struct timeline *timeline)
{
    const struct reserved_curve *reserved = &timeline->reserved;
    emit_open(json, "reserved", '{');
    emit_integer(json, "start_bytes", reserved->start_bytes);
    emit_integer(json, "peak_bytes", reserved->peak_bytes);
    emit_integer(json, "peak_event", trace_file_event(timeline->trace, reserved->peak_event));
    emit_integer(json, "end_bytes", reserved->end_bytes);
    emit_integer(json, "at_active_peak_bytes", reserved->at_active_peak_bytes);
    emit_integer(json, "active_at_peak_bytes", reserved->active_at_peak_bytes);
    emit_close(json, '}');
}

static void put_state(struct json_writer *json, const struct memory_state *state)
{
    emit_open(json, "state", '{');
    emit_count(json, "segments", state->segments);
    emit_count(json, "blocks", state->blocks);
    emit_count(json, "reserved_bytes", state->reserved_bytes);
    emit_count(json, "allocated_bytes", state->allocated_bytes);
    emit_count(json, "active_bytes", state->active_bytes);
    emit_count(json, "requested_bytes", state->requested_bytes);
    emit_integer(json, "rounding_bytes", state->rounding_bytes);
    emit_count(json, "inactive_bytes", state->inactive_bytes);
    emit_count(json, "largest_inactive_block_bytes", state->largest_inactive_block_bytes);
    emit_close(json, '}');
}

/* Only where --at was given: without it the lists describe the active peak. */
static void put_at(struct json_writer *json, const struct device_report *report)
{
    const struct trace *trace = report->timeline->trace;
    emit_open(json, "at", '{');
    emit_integer(json, "event", trace_file_event(trace, report->at_item));
    if (report->at_item >= 0)
        put_time(json, "time_us", trace_time(trace, (size_t)report->at_item));
    emit_integer(json, "active_bytes", report->at.active_bytes);
    emit_integer(json, "allocated_bytes", report->at.allocated_bytes);
    emit_integer(json, "reserved_bytes", report->at.reserved_bytes);
    emit_close(json, '}');
}

static void put_categories(struct json_writer *json, const struct device_report *report)
{
    emit_open(json, "categories", '[');
    for (size_t i = 0; i < report->category_count; i++) {
        const struct category_row *row = &report->categories[i];
        emit_open(json, NULL, '{');
        emit_word(json, "name", category_name(row->category));
        emit_integer(json, "bytes", row->bytes);
        emit_count(json, "count", row->count);
        emit_integer(json, "low_confidence_bytes", row->low_bytes);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

static void put_sites(struct json_writer *json, const struct device_report *report)
{
    const struct symbols *symbols = report->timeline->snapshot->symbols;
    emit_open(json, "sites", '[');
    for (size_t i = 0; i < report->site_count; i++) {
        const struct site_row *row = &report->sites[i];
        emit_open(json, NULL, '{');
        emit_integer(json, "bytes", row->bytes);
        emit_count(json, "count", row->count);
        if (row->is_remainder) {
            emit_word(json, "label", row->label.full);
            emit_flag(json, "remainder", true);
        } else {
            emit_word(json, "category", category_name(row->category));
            emit_word(json, "label", row->label.full);
            if (row->site.op != STRING_EMPTY)
                put_text(json, "op", symbols, row->site.op);
            emit_count(json, "stacks", row->stacks);
            emit_frames(json, symbols, row->stack);
        }
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

static void put_largest(struct json_writer *json, const struct device_report *report)
{
    const struct timeline *timeline = report->timeline;
    emit_open(json, "largest", '[');
    for (size_t i = 0; i < report->largest_count; i++) {
        const struct live_row *row = &report->largest[i];
        emit_open(json, NULL, '{');
        emit_count(json, "bytes", row->live.size);
        emit_count(json, "address", row->live.addr);
        emit_word(json, "category", category_name(row->category));
        emit_word(json, "label", row->label.full);
        if (row->site.op != STRING_EMPTY)
            put_text(json, "op", timeline->snapshot->symbols, row->site.op);
        if (row->born_item >= 0)
            emit_integer(json, "alloc_event", trace_file_event(timeline->trace, row->born_item));
        if (row->freed_item >= 0)
            emit_integer(json, "free_event", trace_file_event(timeline->trace, row->freed_item));
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

static void put_annotations(struct json_writer *json, const struct device_report *report)
{
    if (report->annotations.count == 0)
        return;
    emit_open(json, "annotations", '[');
    for (size_t i = 0; i < report->annotations.count; i++) {
        emit_open(json, NULL, '{');
        put_text(json, "name", report->timeline->snapshot->symbols,
                 report->annotations.items[i].name);
        put_time(json, "start_time_us", report->annotations.items[i].time_us);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

static void put_device(struct json_writer *json, const struct analysis *analysis,
                       const struct device_report *report)
{
    const struct timeline *timeline = report->timeline;
    emit_open(json, NULL, '{');
    emit_count(json, "device", timeline->device);
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
    put_categories(json, report);
    put_sites(json, report);
    put_largest(json, report);
    growth_json(json, report);
    fragmentation_json(json, report);
    ooms_json(json, report);
    findings_json(json, report);
    if (analysis->allocations)
        allocations_json(json, report);
    emit_close(json, '}');
}

static void put_warnings(struct json_writer *json, const struct analysis *analysis)
{
    emit_open(json, "warnings", '[');
    for (size_t i = 0; i < analysis->device_count; i++) {
        const struct device_report *report = analysis->devices[i];
        for (size_t n = 0; n < report->notice_count; n++) {
            char text[sizeof(report->notices[n].text) + 32];
            snprintf(text, sizeof(text), "device %u: %s", report->timeline->device,
                     report->notices[n].text);
            emit_word(json, NULL, text);
        }
    }
    emit_close(json, ']');
}

static void put_unknown_keys(struct json_writer *json, const struct snapshot *snapshot)
{
    emit_open(json, "unknown_keys", '[');
    for (size_t i = 0; i < snapshot->unknown_key_count; i++) {
        emit_open(json, NULL, '{');
        emit_word(json, "where", snapshot->unknown_keys[i].where);
        put_text(json, "key", snapshot->symbols, snapshot->unknown_keys[i].key);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

bool analyze_json(FILE *out, const struct analysis *analysis)
{
    struct json_writer json;
    json_writer_init(&json, out);
    emit_open(&json, NULL, '{');
    emit_word(&json, "schema", SCHEMA);
    put_input(&json, analysis);
    put_settings(&json, analysis->snapshot);
    emit_open(&json, "devices", '[');
    for (size_t i = 0; i < analysis->device_count; i++)
        put_device(&json, analysis, analysis->devices[i]);
    emit_close(&json, ']');
    put_warnings(&json, analysis);
    if (analysis->verbose)
        put_unknown_keys(&json, analysis->snapshot);
    emit_close(&json, '}');
    return json_writer_finish(&json);
}
