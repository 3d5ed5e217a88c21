#include <string.h>

#include "model/device.h"
#include "render/check/words.h"
#include "render/core/json.h"

#define PERCENT 1e6

static const char *unit_name(enum check_unit unit)
{
    static const char *const names[] = {[CHECK_BYTES] = "bytes",
                                        [CHECK_BYTES_A_STEP] = "bytes_per_step",
                                        [CHECK_EVENTS] = "events",
                                        [CHECK_SITES] = "sites"};
    return names[unit];
}

static void share_json(struct json_writer *json, const struct check_row *row)
{
    const char *whole = check_words_whole(row->rule->kind);
    if (row->rule->limit.is_share)
        json_put_real(json, "limit_percent", (double)row->rule->limit.share / PERCENT);
    if (row->whole > 0)
        json_put_real(json, "value_percent", 100.0 * (double)row->value / (double)row->whole);
    if (whole)
        json_put_integer(json, whole, row->whole);
}

static void blame_json(struct json_writer *json, const struct check_blame *blame)
{
    json_put_string(json, "site", blame->label ? blame->label : "");
    if (blame->bytes > 0)
        json_put_integer(json, "site_bytes", blame->bytes);
    if (blame->file) {
        json_put_string(json, "site_file", blame->file);
        json_put_integer(json, "site_line", blame->line);
    }
}

static void row_json(struct json_writer *json, const struct check_row *row)
{
    json_put_open(json, NULL, '{');
    json_put_string(json, "rule", row->rule->kind->name);
    if (row->rule->subject)
        json_put_string(json, "subject", row->rule->subject);
    if (row->device != CHECK_NO_DEVICE)
        json_put_integer(json, "device", device_number((uint32_t)row->device));
    if (row->judged) {
        json_put_integer(json, "limit", row->limit);
        json_put_integer(json, "value", row->value);
        json_put_integer(json, "margin", check_margin(row));
    }
    json_put_string(json, "unit", unit_name(row->rule->kind->unit));
    if (row->judged)
        share_json(json, row);
    else
        json_put_bool(json, "judged", false);
    json_put_bool(json, "passed", row->passed);
    blame_json(json, &row->blame);
    if (row->why)
        json_put_string(json, "why", row->why);
    if (row->next)
        json_put_string(json, "next", row->next);
    json_put_close(json, '}');
}

static void error_json(struct json_writer *json, const struct error *err)
{
    json_put_open(json, "error", '{');
    json_put_integer(json, "status", err->status);
    if (err->has_offset)
        json_put_count(json, "offset", err->offset);
    json_put_string(json, "message", err->text);
    json_put_close(json, '}');
}

static void file_json(struct json_writer *json, const struct checked_file *file)
{
    json_put_open(json, NULL, '{');
    json_put_string(json, "path", file->path);
    json_put_bool(json, "passed", !file->failed && check_result_passed(&file->result));
    if (!file->failed && file->result.not_judged > 0)
        json_put_count(json, "not_judged", file->result.not_judged);
    json_put_open(json, "rules", '[');
    for (size_t i = 0; !file->failed && i < file->result.count; i++)
        row_json(json, &file->result.rows[i]);
    json_put_close(json, ']');
    json_put_open(json, "warnings", '[');
    for (size_t i = 0; !file->failed && i < file->result.warning_count; i++)
        json_put_string(json, NULL, file->result.warnings[i]);
    json_put_close(json, ']');
    if (file->failed)
        error_json(json, &file->err);
    json_put_close(json, '}');
}

bool check_json(FILE *out, const struct check_report *report)
{
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", "memsnap.check/1");
    json_put_bool(&json, "passed", check_report_passed(report));
    if (report->baseline)
        json_put_string(&json, "baseline", report->baseline);
    json_put_open(&json, "files", '[');
    for (size_t i = 0; i < report->count; i++)
        file_json(&json, &report->files[i]);
    json_put_close(&json, ']');
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
