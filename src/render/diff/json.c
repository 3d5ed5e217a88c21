#include <string.h>

#include "render/core/json_frames.h"
#include "render/diff/internal.h"

static void put_text(struct json_writer *json, const char *key, const struct diff *diff,
                     string_id id)
{
    emit_name(json, key, symbols_text(diff->symbols, id));
}

void diff_json_bytes(struct json_writer *json, const int64_t bytes[2])
{
    json_put_integer(json, "a_bytes", bytes[0]);
    json_put_integer(json, "b_bytes", bytes[1]);
    json_put_integer(json, "delta_bytes", diff_delta(bytes[0], bytes[1]));
}

void diff_json_counts(struct json_writer *json, const uint64_t count[2])
{
    json_put_count(json, "a_count", count[0]);
    json_put_count(json, "b_count", count[1]);
}

void diff_json_input(struct json_writer *json, const char *key, const struct input_line *input)
{
    json_put_open(json, key, '{');
    json_put_string(json, "path", input->path);
    if (input->bytes)
        json_put_count(json, "bytes", input->bytes);
    json_put_string(json, "encoding", encoding_name(input->encoding));
    if (input->encoding == ENCODING_PICKLE)
        json_put_integer(json, "protocol", input->protocol);
    json_put_string(json, "compression", input->compression == COMPRESSION_GZIP ? "gzip" : "none");
    json_put_close(json, '}');
}

void diff_json_limit(struct json_writer *json, const struct diff_limit *limit)
{
    if (!limit->given)
        return;
    json_put_open(json, "fail_over", '{');
    json_put_integer(json, "limit_bytes", limit->bytes);
    json_put_bool(json, "exceeded", limit->exceeded);
    json_put_close(json, '}');
}

/* The moment of one side, and what the device held then. */
static void put_side(struct json_writer *json, const char *key, const struct diff_side *side)
{
    json_put_open(json, key, '{');
    json_put_count(json, "device", side->device);
    json_put_integer(json, "event", side->event);
    if (side->delay_us != TIME_NONE)
        json_put_integer(json, "delay_us", side->delay_us);
    json_put_string(json, "phase", phase_name(side->phase));
    json_put_integer(json, "active_bytes", side->at.active_bytes);
    json_put_integer(json, "allocated_bytes", side->at.allocated_bytes);
    json_put_integer(json, "reserved_bytes", side->at.reserved_bytes);
    json_put_integer(json, "reserved_peak_bytes", side->reserved_peak_bytes);
    if (side->unused_known)
        json_put_integer(json, "unused_bytes", side->unused_bytes);
    json_put_close(json, '}');
}

static void put_site(struct json_writer *json, const struct diff *diff,
                     const struct diff_line *line)
{
    json_put_open(json, NULL, '{');
    json_put_string(json, "label", line->label.full);
    if (line->was.full)
        json_put_string(json, "a_label", line->was.full);
    diff_json_bytes(json, line->row.bytes);
    diff_json_counts(json, line->row.count);
    json_put_string(json, "change", diff_change_name(line->change));
    json_put_string(json, "matched_by", diff_matched_name(line->row.matched));
    json_put_count(json, "a_sites", line->row.sites[0]);
    json_put_count(json, "b_sites", line->row.sites[1]);
    if (line->is_remainder) {
        json_put_bool(json, "remainder", true);
    } else {
        json_put_string(json, "category", category_name(line->category));
        if (line->was_category != line->category)
            json_put_string(json, "a_category", category_name(line->was_category));
        if (line->site.op != STRING_EMPTY)
            put_text(json, "op", diff, line->site.op);
        emit_frames(json, diff->symbols, line->row.stack);
    }
    json_put_close(json, '}');
}

static void put_sums(struct json_writer *json, const char *key, const struct diff *diff,
                     bool phases)
{
    const struct diff_pair *pairs = phases ? diff->phases : diff->categories;
    size_t count = phases ? diff->phase_count : diff->category_count;
    json_put_open(json, key, '[');
    for (size_t i = 0; i < count; i++) {
        const struct diff_pair *pair = &pairs[i];
        json_put_open(json, NULL, '{');
        json_put_string(json, "name",
                        phases ? diff_phase_name(pair->what)
                               : category_name((enum category)pair->what));
        diff_json_bytes(json, (const int64_t[]){pair->sums[0].bytes, pair->sums[1].bytes});
        diff_json_counts(json, (const uint64_t[]){pair->sums[0].count, pair->sums[1].count});
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static void put_settings(struct json_writer *json, const struct diff *diff)
{
    static const char *const keys[] = {"a", "b"};
    json_put_open(json, "settings", '[');
    for (size_t i = 0; i < diff->setting_count; i++) {
        const struct diff_setting_row *row = &diff->settings[i];
        json_put_open(json, NULL, '{');
        put_text(json, "key", diff, row->key);
        for (int side = 0; side < 2; side++)
            if (row->present[side])
                put_text(json, keys[side], diff, row->values[side]);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

void diff_json_words(struct json_writer *json, const char *key, const struct diff_words *words,
                     const char *first)
{
    json_put_open(json, key, '[');
    if (first)
        json_put_string(json, NULL, first);
    for (size_t i = 0; i < words->count; i++)
        json_put_string(json, NULL, words->items[i]);
    json_put_close(json, ']');
}

/* The members that tell of one device. */
static void put_device(struct json_writer *json, const struct diff_view *view, const char *remark)
{
    const struct diff *diff = view->diff;
    diff_json_bytes(
        json, (const int64_t[]){diff->sides[0].at.active_bytes, diff->sides[1].at.active_bytes});
    put_side(json, "a", &diff->sides[0]);
    put_side(json, "b", &diff->sides[1]);
    diff_json_limit(json, &view->limit);
    diff_json_words(json, "summary", &diff->summary, NULL);
    diff_json_words(json, "next", &diff->next, NULL);
    json_put_open(json, "sites", '[');
    for (size_t i = 0; i < diff->line_count; i++)
        put_site(json, diff, &diff->lines[i]);
    json_put_close(json, ']');
    put_sums(json, "categories", diff, false);
    put_sums(json, "phases", diff, true);
    put_settings(json, diff);
    diff_json_words(json, "warnings", &diff->warnings, remark);
}

bool diff_json(FILE *out, const struct diff_report *report)
{
    struct json_writer json;
    bool same_at = strcmp(report->at[0], report->at[1]) == 0;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", DIFF_SCHEMA);
    json_put_string(&json, "at", same_at ? report->at[0] : "different");
    if (!same_at) {
        json_put_string(&json, "a_at", report->at[0]);
        json_put_string(&json, "b_at", report->at[1]);
    }
    diff_json_input(&json, "a_input", &report->inputs[0]);
    diff_json_input(&json, "b_input", &report->inputs[1]);
    put_device(&json, &report->devices[0], report->remark);
    if (report->device_count > 1) {
        json_put_open(&json, "more_devices", '[');
        for (size_t i = 1; i < report->device_count; i++) {
            json_put_open(&json, NULL, '{');
            put_device(&json, &report->devices[i], NULL);
            json_put_close(&json, '}');
        }
        json_put_close(&json, ']');
    }
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
