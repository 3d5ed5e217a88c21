#include <string.h>

#include "model/device.h"
#include "model/recording.h"
#include "render/analyze/analyze.h"
#include "render/analyze/findings.h"
#include "render/analyze/growth.h"
#include "render/analyze/internal.h"
#include "render/analyze/memory.h"
#include "render/core/input_line.h"
#include "render/core/site_type.h"

#define SCHEMA "memsnap.analyze/1"

static void put_time(struct json_writer *json, const char *key, int64_t time_us)
{
    if (time_us != TIME_NONE)
        json_put_integer(json, key, time_us);
}

static void put_input(struct json_writer *json, const struct analysis *analysis)
{
    const struct snapshot *snapshot = analysis->snapshot;
    const struct input_line input = {
        .path = analysis->path,
        .bytes = snapshot->input_bytes,
        .encoding = snapshot->encoding,
        .protocol = snapshot->protocol,
        .compression = snapshot->compression,
    };
    json_put_input(json, "input",
                   snapshot->profile.is_heap       ? "device-memory-profile"
                   : snapshot->profile.is_timeline ? "memory-timeline"
                   : snapshot->profile.is_profile  ? "profiler-trace"
                                                   : "allocator-snapshot",
                   &input);
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

static struct value peak_time(const void *data, const struct field_context *context)
{
    int64_t item = ((const struct curve *)data)->peak_event;
    int64_t time_us = item < 0 ? TIME_NONE : trace_time(context->trace, (size_t)item);
    return time_us == TIME_NONE ? value_none() : value_integer(time_us);
}

#define ROW struct curve
static const struct row_type active_type =
    ROW_TYPE("active", ROW, FIELD(ROW, BYTES, baseline_bytes), FIELD(ROW, BYTES, peak_bytes),
             FIELD(ROW, EVENT, peak_event), FIELD_CALL(TIME, "peak_time_us", peak_time),
             FIELD(ROW, BYTES, end_bytes));
static const struct row_type allocated_type =
    ROW_TYPE("allocated", ROW, FIELD(ROW, BYTES, baseline_bytes), FIELD(ROW, BYTES, peak_bytes),
             FIELD(ROW, EVENT, peak_event), FIELD(ROW, BYTES, end_bytes));
#undef ROW

#define ROW struct reserved_curve
static const struct row_type reserved_type =
    ROW_TYPE("reserved", ROW, FIELD(ROW, BYTES, start_bytes), FIELD(ROW, BYTES, peak_bytes),
             FIELD(ROW, EVENT, peak_event), FIELD(ROW, BYTES, end_bytes),
             FIELD(ROW, BYTES, at_active_peak_bytes), FIELD(ROW, BYTES, active_at_peak_bytes));
#undef ROW

#define ROW struct memory_state
static const struct row_type state_type =
    ROW_TYPE("state", ROW, FIELD(ROW, COUNT, segments), FIELD(ROW, COUNT, blocks),
             FIELD(ROW, BYTES, reserved_bytes), FIELD(ROW, BYTES, allocated_bytes),
             FIELD(ROW, BYTES, active_bytes), FIELD(ROW, BYTES, requested_bytes),
             FIELD(ROW, BYTES, rounding_bytes), FIELD(ROW, BYTES, inactive_bytes),
             FIELD(ROW, BYTES, largest_inactive_block_bytes));
#undef ROW

/* An object under the name of its type. */
static void put_object(struct json_writer *json, const struct row_type *type, const void *row,
                       const struct field_context *context)
{
    json_put_row(json, type->name, type, row, context);
}

/* Written only with --at. Without it, the lists describe the active peak. */
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

#define ROW struct open_annotation
static const struct row_type annotation_type = ROW_TYPE(
    "annotations", ROW, FIELD(ROW, STRING, name), FIELD_AS(ROW, TIME, "start_time_us", time_us));
#undef ROW

/* Written only if kinds of events were not recorded. Its curves are those that the lists describe;
 * the curves beside it follow their definitions literally. */
static void put_recording(struct json_writer *json, const struct timeline *timeline,
                          const struct field_context *context)
{
    const struct trace *trace = timeline->trace;
    if (!trace->unrecorded || timeline->snapshot->profile.is_profile)
        return;
    json_put_open(json, "recording", '{');
    json_put_open(json, "unrecorded", '[');
    for (unsigned action = 0; action < ACTION_OTHER; action++)
        if (trace->unrecorded & ACTION_BIT(action))
            json_put_string(json, NULL, action_texts[action].bytes);
    json_put_close(json, ']');
    if (trace_has_lifetimes(trace)) {
        json_put_string(json, "active_until", action_texts[trace->completion].bytes);
        json_put_string(json, "allocated_until", action_texts[trace->request].bytes);
    }
    put_object(json, &active_type, &timeline->active, context);
    put_object(json, &allocated_type, &timeline->allocated, context);
    json_put_integer(json, "reserved_at_active_peak_bytes",
                     timeline->reserved.at_active_peak_bytes);
    json_put_close(json, '}');
}

/* With kinds of events unrecorded, the categories do not sum to the literal peak beside them. The
 * last row is the difference. */
static void put_categories(struct json_writer *json, const struct device_report *report,
                           const struct field_context *context)
{
    const struct timeline *timeline = report->timeline;
    int64_t rest = timeline->literal.active.peak_bytes - timeline->active.peak_bytes;
    json_put_open(json, category_type.name, '[');
    for (size_t i = 0; i < report->category_count; i++)
        json_put_row(json, NULL, &category_type, &report->categories[i], context);
    if (rest != 0) {
        json_put_open(json, NULL, '{');
        json_put_string(json, "name", "unrecorded");
        json_put_integer(json, "bytes", rest);
        json_put_count(json, "count", 0);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static void put_device(struct json_writer *json, const char *key, const struct analysis *analysis,
                       const struct device_report *report)
{
    const struct timeline *timeline = report->timeline;
    const struct field_context context = report_context(report);
    json_put_open(json, key, '{');
    json_put_integer(json, "device", device_number(timeline->device));
    put_trace(json, timeline);
    const struct profile_facts *profile = &timeline->snapshot->profile;
    bool has_segments = !profile->is_timeline && !profile->is_heap;
    struct reserved_curve reserved = timeline->reserved;
    reserved.at_active_peak_bytes = timeline->literal.reserved_at_active_peak_bytes;
    put_object(json, &active_type, &timeline->literal.active, &context);
    put_object(json, &allocated_type, &timeline->literal.allocated, &context);
    if (has_segments)
        put_object(json, &reserved_type, &reserved, &context);
    if (recording_lacks_segments(timeline))
        json_put_bool(json, "reserved_is_assumed", true);
    put_recording(json, timeline, &context);
    if (has_segments)
        put_object(json, &state_type, &timeline->state, &context);
    if (analysis->at_given)
        put_at(json, report);
    if (report->annotations.count > 0)
        json_put_rows(json, &annotation_type, report->annotations.items, report->annotations.count,
                      &context);
    baseline_json(json, report);
    phases_json(json, report);
    put_categories(json, report, &context);
    json_put_rows(json, &site_type, report->sites, report->site_count, &context);
    joint_json(json, analysis, report);
    groups_json(json, report);
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
            snprintf(text, sizeof(text), "%s: %s", DEVICE_WORDS(report->timeline->device),
                     report->notices[n].text);
            json_put_string(json, NULL, text);
        }
    }
    for (size_t i = 0; i < analysis->left_out_count; i++) {
        char text[sizeof(analysis->left_out[i].text) + 32];
        snprintf(text, sizeof(text), "not shown: %s", analysis->left_out[i].text);
        json_put_string(json, NULL, text);
    }
    json_put_close(json, ']');
}

#define ROW struct unknown_key
static const struct row_type unknown_key_type =
    ROW_TYPE("unknown_keys", ROW, FIELD(ROW, WORD, where), FIELD(ROW, STRING, key));
#undef ROW

static void put_timeline(struct json_writer *json, const struct profile_facts *profile)
{
    json_put_open(json, "timeline", '{');
    json_put_bool(json, "has_allocations", !profile->is_sums);
    if (!profile->is_sums)
        json_put_count(json, "preexisting_count", profile->older_count);
    json_put_integer(json, "preexisting_bytes", profile->older_bytes);
    json_put_count(json, "unmatched_frees", profile->unmatched_count);
    json_put_count(json, "recategorized_frees", profile->recategorized_count);
    json_put_close(json, '}');
}

static void put_profile(struct json_writer *json, const struct profile_facts *profile)
{
    if (profile->is_timeline)
        put_timeline(json, profile);
    if (!profile->is_profile || profile->is_timeline || profile->is_heap)
        return;
    json_put_open(json, "profile", '{');
    if (profile->rank >= 0)
        json_put_integer(json, "rank", profile->rank);
    if (profile->world_size >= 0)
        json_put_integer(json, "world_size", profile->world_size);
    json_put_bool(json, "has_addresses", !profile->no_addresses);
    json_put_bool(json, "has_reserved", profile->has_reserved);
    json_put_bool(json, "has_python_stacks", profile->has_python);
    json_put_count(json, "ooms", profile->oom_count);
    if (profile->is_cut)
        json_put_count(json, "cut_at", profile->cut_at);
    json_put_close(json, '}');
}

bool analyze_json(FILE *out, const struct analysis *analysis)
{
    const struct field_context context = {.symbols = analysis->snapshot->symbols};
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    put_input(&json, analysis);
    put_settings(&json, analysis->snapshot);
    put_profile(&json, &analysis->snapshot->profile);
    json_put_open(&json, "devices", '[');
    const struct device_report *host = NULL;
    for (size_t i = 0; i < analysis->device_count; i++) {
        if (analysis->devices[i]->timeline->device == DEVICE_HOST)
            host = analysis->devices[i];
        else
            put_device(&json, NULL, analysis, analysis->devices[i]);
    }
    json_put_close(&json, ']');
    if (host)
        put_device(&json, "host", analysis, host);
    put_warnings(&json, analysis);
    if (analysis->verbose)
        json_put_rows(&json, &unknown_key_type, analysis->snapshot->unknown_keys,
                      analysis->snapshot->unknown_key_count, &context);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
