#include "commands/plot/bands.h"
#include "commands/plot/snapshot.h"
#include "render/plot/timeline.h"

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    struct sampling sampling = {0};
    struct bands bands = {0};
    struct band_shapes shapes = {0};
    struct plot_timeline plot = {.colour = job->options->colour,
                                 .sites = snapshot->capture.sites,
                                 .bands = &bands,
                                 .shapes = &shapes,
                                 .notes = job->notes};
    bool ok =
        plot_snapshot_categories(snapshot, err) &&
        plot_snapshot_time(snapshot, job->options, plot_time_margins, &sampling, &plot.time, err) &&
        plot_bands_make(&bands, &shapes, &plot.time, job->options->bands, err);
    if (ok) {
        ok = plot_timeline_write(&plot, job->files, err);
        plot_job_templates(job);
    }
    band_shapes_release(&shapes);
    bands_release(&bands);
    sampling_release(&sampling);
    return ok;
}

bool plot_draw_timeline(struct plot_job *job, struct error *err)
{
    return plot_snapshot_draw(job, draw, err);
}
