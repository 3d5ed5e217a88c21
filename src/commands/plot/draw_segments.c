#include "commands/plot/snapshot.h"
#include "render/plot/segments.h"

/* The dump, unless another moment was asked for. */
static struct report_options choose_moment(const struct plot_options *options)
{
    struct report_options chosen = options->report;
    if (!chosen.at_given && !options->at_peak)
        chosen.at_given = chosen.at_end = true;
    return chosen;
}

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    const struct report_options options = choose_moment(job->options);
    bool is_dump = options.at_given && options.at_end;
    struct segment_map map = {0};
    if (!plot_snapshot_report(snapshot, &options, 1, err) ||
        !segment_map_make(&map, snapshot->timeline, is_dump ? MAP_DUMP : snapshot->report->at_item,
                          err))
        return false;
    const struct plot_segments plot = {.look = &job->options->look,
                                       .margins = plot_segments_margins,
                                       .subject = plot_snapshot_subject(snapshot, &options),
                                       .sites = snapshot->capture.sites,
                                       .map = &map,
                                       .is_dump = is_dump,
                                       .notes = job->notes};
    bool ok = plot_segments_write(&plot, job->files, err);
    plot_job_templates(job);
    segment_map_release(&map);
    return ok;
}

bool plot_draw_segments(struct plot_job *job, struct error *err)
{
    return plot_snapshot_draw(job, draw, err);
}
