#include "render/replay/rows.h"

#include <string.h>

#include "model/device.h"

const char *replay_setting_name(char text[CONF_TEXT_SIZE], const struct replay_setting *setting)
{
    conf_text(text, &setting->settings);
    return *text ? text : "torch's defaults";
}

static void put_conf(struct json_writer *json, const void *data,
                     const struct field_context *context)
{
    const struct replay_row *row = data;
    (void)context;
    json_put_string(json, "alloc_conf", row->alloc_conf);
}

static bool record_conf(struct record_writer *records, const void *data,
                        const struct field_context *context, struct error *err)
{
    const struct replay_row *row = data;
    (void)context;
    (void)err;
    record_text(records, row->alloc_conf, strlen(row->alloc_conf));
    return true;
}

/* "expandable_segments:True (recorded)"; the row that reserves least has a mark. */
static struct value name_of(const void *data, const struct field_context *context)
{
    const struct replay_row *row = data;
    buffer_printf(context->scratch, "%s%s%s", row->is_best ? "* " : "  ",
                  *row->alloc_conf ? row->alloc_conf : "torch's defaults",
                  row->is_recorded ? " (recorded)" : "");
    return value_scratch(context);
}

static struct value verdict_of(const void *data, const struct field_context *context)
{
    const struct replay_row *row = data;
    (void)context;
    return row->has_verdict ? value_word(row->fits ? "yes" : "no") : value_none();
}

#define ROW struct replay_row
const struct row_type replay_row_type =
    ROW_TYPE("settings", ROW, FIELD(ROW, NUMBER, device, .flags = FIELD_NOT_JSON),
             FIELD_JSON("alloc_conf", put_conf), FIELD_RECORD("alloc_conf", record_conf),
             {.title = "setting", .kind = FIELD_LABEL, .value = name_of, .least = 30},
             FIELD_AS(ROW, FLAG, "as_recorded", is_recorded),
             FIELD(ROW, BYTES, peak_reserved_bytes, .title = "peak reserved"),
             FIELD(ROW, BYTES, unused_at_peak_bytes, .title = "unused", .optional = 2),
             FIELD(ROW, BYTES, least_capacity_bytes, IF(ROW, has_least), .flags = FIELD_NULL,
                   .title = "needs", .absent = "-"),
             FIELD(ROW, COUNT, segment_allocs, .title = "mallocs", .optional = 3),
             FIELD(ROW, COUNT, segment_frees, .title = "frees", .optional = 4),
             FIELD(ROW, COUNT, retries, .title = "retries", .optional = 5),
             FIELD(ROW, FLAG, fits, IF(ROW, has_verdict), .flags = FIELD_NULL),
             {.title = "fits", .kind = FIELD_LABEL, .value = verdict_of},
             FIELD(ROW, FLAG, trusted, .flags = FIELD_NOT_JSON));
#undef ROW

void replay_row_make(struct replay_row *row, const struct device_replay *replay, size_t index)
{
    const struct replay_setting *setting = &replay->rows[index];
    *row = (struct replay_row){
        .device = device_number(replay->timeline->device),
        .peak_reserved_bytes = setting->totals.peak_reserved,
        .unused_at_peak_bytes = replay_unused(setting),
        .least_capacity_bytes = setting->least_capacity,
        .segment_allocs = setting->totals.segment_allocs,
        .segment_frees = setting->totals.segment_frees,
        .retries = setting->retries,
        .has_least = setting->has_least,
        .has_verdict = replay->capacity > 0 && replay_is_trusted(replay),
        .fits = setting->fits,
        .trusted = replay_is_trusted(replay),
        .is_recorded = setting->is_recorded,
        .is_best = setting == replay->best,
    };
    conf_text(row->alloc_conf, &setting->settings);
}

const char *replay_trust_name(enum replay_trust trust)
{
    static const char *const names[] = {
        [TRUST_WHOLE] = "whole_recording", [TRUST_CHECKED] = "checked", [TRUST_LOW] = "lower_bound",
        [TRUST_HIGH] = "upper_bound",      [TRUST_INEXACT] = "inexact",
    };
    return names[trust];
}

bool replay_csv(FILE *out, const struct replay_report *report, struct error *err)
{
    const struct field_context context = {0};
    struct record_writer csv;
    bool ok = records_begin(&csv, out, RECORDS_CSV, &replay_row_type, err);
    if (!ok)
        return false;
    for (size_t i = 0; i < report->device_count; i++)
        for (size_t r = 0; ok && r < report->devices[i].row_count; r++) {
            struct replay_row row;
            replay_row_make(&row, &report->devices[i], r);
            ok = record_put_row(&csv, &row, &context, err);
        }
    if (ok)
        return records_end(&csv, err);
    records_release(&csv);
    return false;
}
