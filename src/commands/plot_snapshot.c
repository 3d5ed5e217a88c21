#include "commands/plot_snapshot.h"

static const struct timeline *highest(const struct capture *capture)
{
    const struct timeline *best = capture->timelines[0];
    for (size_t i = 1; i < capture->device_count; i++)
        if (capture->timelines[i]->active.peak_bytes > best->active.peak_bytes)
            best = capture->timelines[i];
    return best;
}

static bool make(struct plot_snapshot *snapshot, struct error *err)
{
    struct site_table *sites = snapshot->capture.sites;
    if (snapshot->capture.device_count == 0)
        return error_set(err, STATUS_BAD_INPUT, "nothing to plot: there is no device in it");
    const struct timeline *timeline = snapshot->timeline = highest(&snapshot->capture);
    return phases_build(&snapshot->phases, timeline, sites, err) &&
           phase_rows_make(&snapshot->rows, timeline, &snapshot->phases, err) &&
           categories_assign(timeline, sites, &snapshot->phases, &snapshot->categories, err);
}

bool plot_snapshot_open(struct plot_snapshot *snapshot, struct plot_job *job, struct error *err)
{
    struct plot_snapshot opened = {0};
    struct input input;
    enum file_kind file;
    if (!plot_job_open(job, &input, &file, err) ||
        !capture_open_input(&opened.capture, &input, &job->options->capture, job->progress, err))
        return false;
    bool ok = make(&opened, err);
    if (ok)
        *snapshot = opened;
    else
        plot_snapshot_close(&opened);
    return ok;
}

void plot_snapshot_close(struct plot_snapshot *snapshot)
{
    categories_release(&snapshot->categories);
    phase_rows_release(&snapshot->rows);
    phases_release(&snapshot->phases);
    capture_close(&snapshot->capture);
    *snapshot = (struct plot_snapshot){0};
}

bool plot_snapshot_time(const struct plot_snapshot *snapshot, const struct plot_options *options,
                        struct plot_margins margins, struct sampling *sampling,
                        struct plot_time *time, struct error *err)
{
    if (!sampling_make(sampling, snapshot->timeline, options->axis, PLOT_COLUMNS, err))
        return false;
    *time = (struct plot_time){.look = &options->look,
                               .margins =
                                   options->look.format == PLOT_DUMB ? plot_text_margins : margins,
                               .timeline = snapshot->timeline,
                               .sampling = sampling,
                               .phases = &snapshot->rows};
    return true;
}
