#include "commands/plot/snapshot.h"
#include "render/plot/sites.h"

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    const struct plot_look *look = &job->options->look;
    const struct report_options *at = &job->options->report;
    size_t most = plot_bars_room(look, plot_sites_margins(look));
    if (!plot_snapshot_report(snapshot, at, most, err))
        return false;
    struct plot_subject subject = plot_snapshot_subject(snapshot, at);
    bool ok = plot_sites_write(&subject, look, job->files, job->notes, err);
    plot_job_templates(job);
    return ok;
}

bool plot_draw_sites(struct plot_job *job, struct error *err)
{
    return plot_snapshot_draw(job, draw, err);
}
