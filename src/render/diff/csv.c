#include "render/diff/rows.h"

static bool put_device(struct record_writer *csv, const struct diff *diff, enum diff_by by,
                       struct error *err)
{
    const struct field_context context = {.symbols = diff->symbols, .user = diff};
    bool phases = by == DIFF_BY_PHASE, sums = phases || by == DIFF_BY_CATEGORY, ok = true;
    size_t count = sums ? diff_sum_count(diff, phases) : diff->line_count;
    for (size_t i = 0; ok && i < count; i++) {
        struct diff_site_row site;
        struct diff_sum_row sum;
        if (sums)
            diff_sum_row(diff, phases, i, &sum);
        else
            diff_site_row(diff, i, &site);
        ok = record_put_row(csv, sums ? (const void *)&sum : &site, &context, err);
    }
    return ok;
}

bool diff_csv(FILE *out, const struct diff_report *report, struct error *err)
{
    const struct row_type *type = report->by == DIFF_BY_CATEGORY ? &diff_category_type
                                  : report->by == DIFF_BY_PHASE  ? &diff_phase_type
                                                                 : &diff_site_type;
    struct record_writer csv;
    if (!records_begin(&csv, out, RECORDS_CSV, type, err))
        return false;
    for (size_t i = 0; i < report->device_count; i++)
        if (!put_device(&csv, report->devices[i].diff, report->by, err)) {
            records_release(&csv);
            return false;
        }
    return records_end(&csv, err);
}
