#include "commands/plot/snapshot.h"
#include "render/plot/categories.h"

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    struct sampling sampling = {0};
    struct category_curves curves = {0};
    struct plot_categories plot = {.curves = &curves, .notes = job->notes};
    bool ok =
        plot_snapshot_categories(snapshot, err) &&
        plot_snapshot_time(snapshot, job->options, plot_time_margins, &sampling, &plot.time, err) &&
        category_curves_make(&curves, snapshot->timeline, snapshot->categories, &sampling, err);
    if (ok) {
        ok = plot_categories_write(&plot, job->files, err);
        plot_job_templates(job);
    }
    category_curves_release(&curves);
    sampling_release(&sampling);
    return ok;
}

bool plot_draw_categories(struct plot_job *job, struct error *err)
{
    return plot_snapshot_draw(job, draw, err);
}
