#include "analysis/check/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/code/paths.h"
#include "analysis/live/when.h"

/* By function, line and frame, then in the order of the report. */
static int compare_lines(const void *a, const void *b)
{
    const struct code_line *x = a, *y = b;
    int order = text_compare(x->file, y->file);
    if (!order)
        order = text_compare(x->name, y->name);
    if (!order)
        order = (x->line > y->line) - (x->line < y->line);
    if (!order)
        order = (x->frame > y->frame) - (x->frame < y->frame);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Joins the rows of a frame, which are adjacent, into one line. The first is the largest. */
static void join_rows(struct code_lines *lines)
{
    size_t joined = 0;
    for (size_t i = 0; i < lines->count; i++) {
        if (joined > 0 && lines->items[joined - 1].frame == lines->items[i].frame)
            lines->items[joined - 1].bytes += lines->items[i].bytes;
        else
            lines->items[joined++] = lines->items[i];
    }
    lines->count = joined;
}

bool code_lines_counts(const struct site_row *row, site_row_test *counts, void *self)
{
    return !row->is_remainder && (!counts || counts(self, row));
}

bool code_lines_make(struct code_lines *lines, const struct device_report *report,
                     const struct site_table *sites, site_row_test *counts, void *self,
                     struct error *err)
{
    const struct symbols *symbols = site_table_symbols(sites);
    struct code_lines made = {.budget = report->timeline->snapshot->budget};
    if (!vec_reserve(made.items, made.capacity, report->site_count + 1, made.budget, err))
        return false;
    for (size_t i = 0; i < report->site_count; i++) {
        const struct site_row *row = &report->sites[i];
        frame_id id;
        if (!code_lines_counts(row, counts, self) ||
            !site_frame(sites, row->group.source.shown, &row->group.source.site, &id))
            continue;
        struct frame frame = symbols_frame_at(symbols, id);
        made.items[made.count++] = (struct code_line){
            .file = text_last(path_base(symbols_text(symbols, frame.file)), LABEL_NAME_MOST),
            .name = text_first(symbols_text(symbols, frame.name), LABEL_NAME_MOST),
            .line = frame.line,
            .frame = id,
            .bytes = row->group.bytes,
            .row = i,
        };
    }
    if (made.count > 0)
        qsort(made.items, made.count, sizeof(*made.items), compare_lines);
    join_rows(&made);
    *lines = made;
    return true;
}

void code_lines_release(struct code_lines *lines)
{
    vec_free(lines->items, lines->capacity, sizeof(*lines->items), lines->budget);
    *lines = (struct code_lines){0};
}

void check_baseline_init(struct check_baseline *baseline, size_t max_memory)
{
    *baseline = (struct check_baseline){.budget = {.limit = max_memory}};
}

void check_baseline_release(struct check_baseline *baseline)
{
    for (size_t i = 0; i < baseline->device_count; i++)
        diff_side_release(&baseline->devices[i].side);
    vec_free(baseline->devices, baseline->device_capacity, sizeof(*baseline->devices),
             &baseline->budget);
    symbols_destroy(baseline->symbols);
    *baseline = (struct check_baseline){0};
}

static bool add_device(struct check_baseline *baseline, const struct baseline_device *device,
                       struct error *err)
{
    return vec_push(baseline->devices, baseline->device_count, baseline->device_capacity,
                    &baseline->budget, err, *device);
}

/* Adds the call sites at the peak of a phase. */
static bool add_phase(struct check_baseline *baseline, struct diff_side *side, enum phase phase,
                      const struct timeline *timeline, struct site_table *sites, struct error *err)
{
    const struct report_options options = {.at = {.kind = WHEN_PHASE, .name = phase_name(phase)}};
    struct device_report *report = device_report_build(timeline, sites, &options, err);
    struct diff_side *made = report ? calloc(1, sizeof(*made)) : NULL;
    bool ok = made || !report || error_out_of_memory(err);
    ok = ok && made &&
         diff_side_of_report(made, report, sites, baseline->symbols, &baseline->budget, err);
    device_report_destroy(report);
    if (ok)
        side->in_phase[phase] = made;
    else
        free(made);
    return ok;
}

/* Adds the peaks of the phases that the peak of `report` is not in: a capture that is judged may
 * have its peak in one of them. */
static bool add_phases(struct check_baseline *baseline, struct diff_side *side,
                       const struct device_report *report, struct site_table *sites,
                       struct error *err)
{
    bool ok = true;
    for (int phase = PHASE_DATA + 1; ok && phase < PHASE_COUNT; phase++)
        if (side->phase > PHASE_DATA && side->phase != (enum phase)phase &&
            when_phase_peak(report->timeline, &report->phases, (enum phase)phase) >= 0)
            ok = add_phase(baseline, side, (enum phase)phase, report->timeline, sites, err);
    return ok;
}

bool check_baseline_add(struct check_baseline *baseline, const struct device_report *report,
                        struct site_table *sites, struct error *err)
{
    struct baseline_device made = {.device = report->timeline->device,
                                   .peak_bytes = report->timeline->active.peak_bytes};
    if (!baseline->symbols)
        baseline->symbols = symbols_create(&baseline->budget, err);
    if (!baseline->symbols ||
        !diff_side_of_report(&made.side, report, sites, baseline->symbols, &baseline->budget, err))
        return false;
    if (add_phases(baseline, &made.side, report, sites, err) && add_device(baseline, &made, err))
        return true;
    diff_side_release(&made.side);
    return false;
}

bool check_baseline_add_peak(struct check_baseline *baseline, int64_t rank, int64_t device,
                             int64_t peak_bytes, struct error *err)
{
    return add_device(
        baseline,
        &(struct baseline_device){.rank = rank, .device = device, .peak_bytes = peak_bytes}, err);
}

const struct baseline_device *check_baseline_find(const struct check_baseline *baseline,
                                                  int64_t rank, int64_t device)
{
    for (size_t i = 0; i < baseline->device_count; i++)
        if (baseline->devices[i].device == device &&
            (!baseline->by_rank || baseline->devices[i].rank == rank))
            return &baseline->devices[i];
    return NULL;
}
