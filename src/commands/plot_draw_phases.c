#include "commands/plot_snapshot.h"
#include "render/plot_phases.h"

bool plot_draw_phases(struct plot_job *job, struct error *err)
{
    const struct plot_look *look = &job->options->look;
    struct plot_snapshot snapshot;
    if (!plot_snapshot_open(&snapshot, job, err))
        return false;
    bool ok = plot_snapshot_report(&snapshot, &job->options->report, 1, err);
    if (ok) {
        plot_begin(job->files[PHASES_SCRIPT], look);
        struct plot_subject subject = plot_snapshot_subject(&snapshot, &job->options->report);
        ok = plot_phases_write(&subject, look, job->files, err);
        plot_job_templates(job);
    }
    plot_snapshot_close(&snapshot);
    return ok;
}
