#include <string.h>

#include "render/core/records.h"
#include "render/diff/diff.h"

static void put_amounts(struct record_writer *csv, const int64_t bytes[2], const uint64_t count[2])
{
    record_integer(csv, bytes[0]);
    record_integer(csv, bytes[1]);
    record_integer(csv, diff_delta(bytes[0], bytes[1]));
    record_count(csv, count[0]);
    record_count(csv, count[1]);
}

static void put_name(struct record_writer *csv, const char *name)
{
    record_text(csv, name ? name : "", name ? strlen(name) : 0);
}

static bool put_site(struct record_writer *csv, const struct diff *diff,
                     const struct diff_line *line, struct error *err)
{
    struct text op = symbols_text(diff->symbols, line->site.op);
    put_name(csv, line->label.full);
    put_name(csv, line->was.full);
    record_text(csv, op.bytes, op.size);
    put_name(csv, line->is_remainder ? NULL : category_name(line->category));
    record_word(csv, diff_change_name(line->change));
    record_word(csv, diff_matched_name(line->row.matched));
    put_amounts(csv, line->row.bytes, line->row.count);
    return record_end(csv, err);
}

static bool put_sum(struct record_writer *csv, const char *name, const struct diff_pair *pair,
                    struct error *err)
{
    put_name(csv, name);
    put_amounts(csv, (const int64_t[]){pair->sums[0].bytes, pair->sums[1].bytes},
                (const uint64_t[]){pair->sums[0].count, pair->sums[1].count});
    return record_end(csv, err);
}

static void put_devices(struct record_writer *csv, const struct diff *diff)
{
    record_count(csv, diff->sides[0].device);
    record_count(csv, diff->sides[1].device);
}

static bool put_device(struct record_writer *csv, const struct diff *diff, enum diff_by by,
                       struct error *err)
{
    bool phases = by == DIFF_BY_PHASE, sums = phases || by == DIFF_BY_CATEGORY, ok = true;
    const struct diff_pair *pairs = phases ? diff->phases : diff->categories;
    size_t count = phases ? diff->phase_count : diff->category_count;
    for (size_t i = 0; sums && ok && i < count; i++) {
        put_devices(csv, diff);
        ok = put_sum(csv,
                     phases ? diff_phase_name(pairs[i].what)
                            : category_name((enum category)pairs[i].what),
                     &pairs[i], err);
    }
    for (size_t i = 0; !sums && ok && i < diff->line_count; i++) {
        put_devices(csv, diff);
        ok = put_site(csv, diff, &diff->lines[i], err);
    }
    return ok;
}

#define AMOUNTS "a_bytes", "b_bytes", "delta_bytes", "a_count", "b_count", NULL

bool diff_csv(FILE *out, const struct diff_report *report, struct error *err)
{
    static const char *const sites[] = {"a_device", "b_device", "label",      "a_label", "op",
                                        "category", "change",   "matched_by", AMOUNTS};
    static const char *const categories[] = {"a_device", "b_device", "category", AMOUNTS};
    static const char *const phases[] = {"a_device", "b_device", "phase", AMOUNTS};
    const struct record_table table = {"diff", report->by == DIFF_BY_CATEGORY ? categories
                                               : report->by == DIFF_BY_PHASE  ? phases
                                                                              : sites};
    struct record_writer csv;
    if (!records_begin(&csv, out, RECORDS_CSV, &table, err))
        return false;
    for (size_t i = 0; i < report->device_count; i++)
        if (!put_device(&csv, report->devices[i].diff, report->by, err)) {
            records_release(&csv);
            return false;
        }
    return records_end(&csv, err);
}
