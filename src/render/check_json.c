#include <string.h>

#include "render/check_words.h"
#include "render/json.h"

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
    bool is_increase = row->rule->kind == CHECK_MAX_INCREASE;
    if (row->rule->limit.is_share)
        emit_real(json, "limit_percent", (double)row->rule->limit.share / PERCENT);
    if (row->whole > 0)
        emit_real(json, "value_percent", 100.0 * (double)row->value / (double)row->whole);
    if (row->whole > 0 || is_increase)
        emit_integer(json, is_increase ? "baseline_bytes" : "reserved_bytes", row->whole);
}

static void blame_json(struct json_writer *json, const struct check_blame *blame)
{
    emit_word(json, "site", blame->label ? blame->label : "");
    if (blame->bytes > 0)
        emit_integer(json, "site_bytes", blame->bytes);
    if (blame->file) {
        emit_word(json, "site_file", blame->file);
        emit_integer(json, "site_line", blame->line);
    }
}

static void row_json(struct json_writer *json, const struct check_row *row)
{
    emit_open(json, NULL, '{');
    emit_word(json, "rule", check_kind_name(row->rule->kind));
    if (row->rule->subject)
        emit_word(json, "subject", row->rule->subject);
    if (row->device != CHECK_NO_DEVICE)
        emit_integer(json, "device", row->device);
    emit_integer(json, "limit", row->limit);
    emit_integer(json, "value", row->value);
    emit_integer(json, "margin", check_margin(row));
    emit_word(json, "unit", unit_name(check_unit_of(row->rule->kind)));
    share_json(json, row);
    emit_flag(json, "passed", row->passed);
    blame_json(json, &row->blame);
    if (row->why)
        emit_word(json, "why", row->why);
    if (row->next)
        emit_word(json, "next", row->next);
    emit_close(json, '}');
}

static void error_json(struct json_writer *json, const struct error *err)
{
    emit_open(json, "error", '{');
    emit_integer(json, "status", err->status);
    if (err->has_offset)
        emit_count(json, "offset", err->offset);
    emit_word(json, "message", err->text);
    emit_close(json, '}');
}

static void file_json(struct json_writer *json, const struct checked_file *file)
{
    emit_open(json, NULL, '{');
    emit_word(json, "path", file->path);
    emit_flag(json, "passed", !file->failed && check_result_passed(&file->result));
    emit_open(json, "rules", '[');
    for (size_t i = 0; !file->failed && i < file->result.count; i++)
        row_json(json, &file->result.rows[i]);
    emit_close(json, ']');
    emit_open(json, "warnings", '[');
    for (size_t i = 0; !file->failed && i < file->result.warning_count; i++)
        emit_word(json, NULL, file->result.warnings[i]);
    emit_close(json, ']');
    if (file->failed)
        error_json(json, &file->err);
    emit_close(json, '}');
}

bool check_json(FILE *out, const struct check_report *report)
{
    struct json_writer json;
    json_writer_init(&json, out);
    emit_open(&json, NULL, '{');
    emit_word(&json, "schema", "memsnap.check/1");
    emit_flag(&json, "passed", check_report_passed(report));
    if (report->baseline)
        emit_word(&json, "baseline", report->baseline);
    emit_open(&json, "files", '[');
    for (size_t i = 0; i < report->count; i++)
        file_json(&json, &report->files[i]);
    emit_close(&json, ']');
    emit_close(&json, '}');
    return json_writer_finish(&json);
}
