#include "commands/plot/snapshot.h"

static void close_snapshot(struct plot_snapshot *snapshot)
{
    device_report_destroy(snapshot->report);
    categories_release(&snapshot->own_categories);
    phase_rows_release(&snapshot->own_rows);
    phases_release(&snapshot->own_phases);
    capture_close(&snapshot->capture);
    *snapshot = (struct plot_snapshot){0};
}

static bool open_snapshot(struct plot_snapshot *snapshot, struct plot_job *job, struct error *err)
{
    struct plot_snapshot opened = {0};
    struct input input;
    enum file_kind file;
    if (!plot_job_open(job, &input, &file, err) ||
        !capture_open_input(&opened.capture, &input, &job->options->capture, job->progress, err))
        return false;
    opened.timeline = capture_highest(&opened.capture);
    if (!opened.timeline) {
        close_snapshot(&opened);
        return error_set(err, STATUS_BAD_INPUT, "nothing to plot: there is no device in it");
    }
    *snapshot = opened;
    return true;
}

bool plot_snapshot_draw(struct plot_job *job, plot_snapshot_drawing *draw, struct error *err)
{
    struct plot_snapshot snapshot;
    if (!open_snapshot(&snapshot, job, err))
        return false;
    bool ok = draw(job, &snapshot, err);
    close_snapshot(&snapshot);
    return ok;
}

bool plot_snapshot_categories(struct plot_snapshot *snapshot, struct error *err)
{
    const struct timeline *timeline = snapshot->timeline;
    struct site_table *sites = snapshot->capture.sites;
    snapshot->rows = &snapshot->own_rows;
    snapshot->categories = &snapshot->own_categories;
    return phases_build(&snapshot->own_phases, timeline, sites, err) &&
           phase_rows_make(&snapshot->own_rows, timeline, &snapshot->own_phases, err) &&
           categories_assign(timeline, sites, &snapshot->own_phases, &snapshot->own_categories,
                             err);
}

bool plot_snapshot_report(struct plot_snapshot *snapshot, const struct report_options *options,
                          size_t top, struct error *err)
{
    struct report_options wanted = *options;
    wanted.top = top;
    snapshot->report =
        device_report_build(snapshot->timeline, snapshot->capture.sites, &wanted, err);
    if (!snapshot->report)
        return false;
    snapshot->rows = &snapshot->report->phase_rows;
    snapshot->categories = &snapshot->report->all;
    return true;
}

struct plot_subject plot_snapshot_subject(const struct plot_snapshot *snapshot,
                                          const struct report_options *options)
{
    return (struct plot_subject){.report = snapshot->report,
                                 .symbols = snapshot->capture.snapshot->symbols,
                                 .at_given = options->at_given,
                                 .at_end = options->at_end};
}

bool plot_snapshot_time(const struct plot_snapshot *snapshot, const struct plot_options *options,
                        struct plot_margins margins, struct sampling *sampling,
                        struct plot_time *time, struct error *err)
{
    const struct report_options *at = &options->report;
    bool has_mark = at->at_given || options->at_peak;
    int64_t mark = snapshot->timeline->active.peak_event;
    if (at->at_given && at->at_end)
        mark = (int64_t)snapshot->timeline->trace->count - 1;
    else if (at->at_given && !timeline_item_at(snapshot->timeline, at->at, &mark, err))
        return false;
    if (!sampling_make(sampling, snapshot->timeline, options->axis, PLOT_COLUMNS, err))
        return false;
    *time = (struct plot_time){.look = &options->look,
                               .margins =
                                   options->look.format == PLOT_DUMB ? plot_text_margins : margins,
                               .timeline = snapshot->timeline,
                               .sampling = sampling,
                               .phases = snapshot->rows,
                               .categories = snapshot->categories,
                               .has_mark = has_mark,
                               .mark = mark};
    return true;
}
