#include "render/plot/snapshot.h"

#include "render/core/moments.h"

bool plot_snapshot_categories(struct plot_snapshot *snapshot, struct error *err)
{
    const struct timeline *timeline = snapshot->timeline;
    struct site_table *sites = snapshot->sites;
    snapshot->rows = &snapshot->own_rows;
    snapshot->categories = &snapshot->own_categories;
    struct steps steps = {0};
    bool ok = phases_build(&snapshot->own_phases, timeline, sites, err) &&
              steps_find(&steps, timeline, &snapshot->own_phases, err) &&
              phase_rows_make(&snapshot->own_rows, timeline, &snapshot->own_phases, &steps, err);
    steps_release(&steps);
    return ok && categories_assign(timeline, sites, &snapshot->own_phases,
                                   &snapshot->own_categories, err);
}

bool plot_snapshot_report(struct plot_snapshot *snapshot, const struct report_options *options,
                          size_t top, struct error *err)
{
    struct report_options wanted = *options;
    wanted.top = top;
    snapshot->report = device_report_build(snapshot->timeline, snapshot->sites, &wanted, err);
    if (!snapshot->report)
        return false;
    snapshot->at_given = options->at.kind != WHEN_PEAK;
    snapshot->at_end = options->at.kind == WHEN_END;
    snapshot->rows = &snapshot->report->phase_rows;
    snapshot->categories = &snapshot->report->all;
    return true;
}

void plot_snapshot_release(struct plot_snapshot *snapshot)
{
    device_report_destroy(snapshot->report);
    categories_release(&snapshot->own_categories);
    phase_rows_release(&snapshot->own_rows);
    phases_release(&snapshot->own_phases);
}

bool plot_snapshot_time(const struct plot_snapshot *snapshot, const struct plot_request *request,
                        struct plot_margins margins, struct sampling *sampling,
                        struct plot_time *time, struct error *err)
{
    const struct when *at = &request->report.at;
    bool has_mark = at->kind != WHEN_PEAK || request->at_peak;
    int64_t mark;
    if (!when_item(at, snapshot->timeline, snapshot->sites, NULL, &mark, err))
        return false;
    if (!sampling_make(sampling, snapshot->timeline, request->axis, PLOT_COLUMNS, err))
        return false;
    *time = (struct plot_time){.look = &request->look,
                               .margins =
                                   request->look.format == PLOT_DUMB ? plot_text_margins : margins,
                               .timeline = snapshot->timeline,
                               .sampling = sampling,
                               .phases = snapshot->rows,
                               .categories = snapshot->categories,
                               .has_mark = has_mark,
                               .mark = mark};
    return true;
}

const char *plot_moment(char out[PLOT_MOMENT_SIZE], const struct plot_snapshot *snapshot)
{
    const struct timeline *timeline = snapshot->timeline;
    char place[MOMENT_TEXT_SIZE];
    moment_place(place, timeline->trace, snapshot->report->at_item);
    bool is_dump = !snapshot->at_given && !timeline_knows_peak(timeline);
    if (timeline->trace->count == 0 || is_dump)
        snprintf(out, PLOT_MOMENT_SIZE, "in the snapshot");
    else if (!snapshot->at_given)
        snprintf(out, PLOT_MOMENT_SIZE, "at the peak (%s)", place);
    else if (snapshot->at_end)
        snprintf(out, PLOT_MOMENT_SIZE, "at the end");
    else
        snprintf(out, PLOT_MOMENT_SIZE, "%s%s", snapshot->report->at_item < 0 ? "" : "at ", place);
    return out;
}
