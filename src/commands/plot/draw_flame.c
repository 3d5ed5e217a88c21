#include "commands/plot/snapshot.h"
#include "render/plot/flame.h"

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    const struct report_options *at = &job->options->report;
    const struct flame_options options = {
        .with_categories = true, .at_given = at->at_given, .at_end = at->at_end, .at = at->at};
    if (!plot_snapshot_report(snapshot, at, 1, err))
        return false;
    struct flame *flame = flame_build(snapshot->timeline, snapshot->capture.sites, &options, err);
    if (!flame)
        return false;
    struct plot_flame plot = {.subject = plot_snapshot_subject(snapshot, at),
                              .flame = flame,
                              .look = &job->options->look,
                              .notes = job->notes};
    bool ok = plot_flame_write(&plot, job->files, err);
    plot_job_templates(job);
    flame_destroy(flame);
    return ok;
}

bool plot_draw_flame(struct plot_job *job, struct error *err)
{
    return plot_snapshot_draw(job, draw, err);
}
