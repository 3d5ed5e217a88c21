#include <string.h>

#include "render/diff/rows.h"

void diff_json_bytes(struct json_writer *json, const int64_t bytes[2])
{
    json_put_integer(json, "a_bytes", bytes[0]);
    json_put_integer(json, "b_bytes", bytes[1]);
    json_put_integer(json, "delta_bytes", diff_delta(bytes[0], bytes[1]));
}

void diff_json_figure(struct json_writer *json, const char *key, int64_t a, int64_t b)
{
    json_put_open(json, key, '{');
    diff_json_bytes(json, (const int64_t[]){a, b});
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

/* The moment of one side, and the memory of the device then. */
#define ROW struct diff_side
static const struct row_type side_type = ROW_TYPE(
    "side", ROW, FIELD(ROW, NUMBER, device), FIELD(ROW, NUMBER, event), FIELD(ROW, TIME, delay_us),
    FIELD(ROW, NAME, phase, .name = phase_name),
    FIELD_AS(ROW, BYTES, "active_bytes", at.active_bytes),
    FIELD_AS(ROW, BYTES, "allocated_bytes", at.allocated_bytes),
    FIELD_AS(ROW, BYTES, "reserved_bytes", at.reserved_bytes),
    FIELD(ROW, BYTES, reserved_peak_bytes), FIELD(ROW, BYTES, unused_bytes, IF(ROW, unused_known)));
#undef ROW

static void put_sites(struct json_writer *json, const struct diff *diff,
                      const struct field_context *context)
{
    json_put_open(json, diff_site_type.name, '[');
    for (size_t i = 0; i < diff->line_count; i++) {
        struct diff_site_row row;
        diff_site_row(diff, i, &row);
        json_put_row(json, NULL, &diff_site_type, &row, context);
    }
    json_put_close(json, ']');
}

static void put_sums_by(struct json_writer *json, const struct diff *diff, enum diff_by by,
                        const struct field_context *context)
{
    const struct row_type *type = diff_sum_type(by);
    size_t count = diff_sum_count(diff, by);
    json_put_open(json, type->name, '[');
    for (size_t i = 0; i < count; i++) {
        struct diff_sum_row row;
        diff_sum_row(diff, by, i, &row);
        json_put_row(json, NULL, type, &row, context);
    }
    json_put_close(json, ']');
}

static void put_sums(struct json_writer *json, const struct diff *diff,
                     const struct field_context *context)
{
    put_sums_by(json, diff, DIFF_BY_CATEGORY, context);
    put_sums_by(json, diff, DIFF_BY_PHASE, context);
    if (diff->is_annotated)
        put_sums_by(json, diff, DIFF_BY_ANNOTATION, context);
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

/* The comparison at the peaks of one phase. */
static void put_like(struct json_writer *json, const struct diff *like)
{
    const struct field_context context = {.symbols = like->symbols, .user = like};
    json_put_open(json, "same_phase", '{');
    json_put_string(json, "phase", phase_name(like->sides[1].phase));
    diff_json_bytes(
        json, (const int64_t[]){like->sides[0].at.active_bytes, like->sides[1].at.active_bytes});
    json_put_row(json, "a", &side_type, &like->sides[0], &context);
    json_put_row(json, "b", &side_type, &like->sides[1], &context);
    diff_json_words(json, "summary", &like->summary, NULL);
    put_sites(json, like, &context);
    put_sums(json, like, &context);
    json_put_close(json, '}');
}

/* The members that describe one device. */
static void put_device(struct json_writer *json, const struct diff_view *view, const char *remark)
{
    const struct diff *diff = view->diff;
    const struct field_context context = {.symbols = diff->symbols, .user = diff};
    diff_json_bytes(
        json, (const int64_t[]){diff->sides[0].at.active_bytes, diff->sides[1].at.active_bytes});
    json_put_row(json, "a", &side_type, &diff->sides[0], &context);
    json_put_row(json, "b", &side_type, &diff->sides[1], &context);
    diff_json_limit(json, &view->limit);
    diff_json_words(json, "summary", &diff->summary, NULL);
    diff_json_words(json, "next", &diff->next, NULL);
    put_sites(json, diff, &context);
    put_sums(json, diff, &context);
    if (view->like)
        put_like(json, view->like);
    json_put_rows(json, &diff_setting_type, diff->settings, diff->setting_count, &context);
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
    json_put_input(&json, "a_input", NULL, &report->inputs[0]);
    json_put_input(&json, "b_input", NULL, &report->inputs[1]);
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
