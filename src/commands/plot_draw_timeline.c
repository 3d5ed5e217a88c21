#include "commands/plot_snapshot.h"
#include "render/plot_timeline.h"

/* Bands whose shapes are few enough: coarser ones first, then fewer. */
static bool make_bands(struct bands *bands, struct band_shapes *shapes,
                       const struct plot_time *time, size_t wanted, struct error *err)
{
    double tolerance = plot_time_half_pixel(time);
    for (bool fits = false; !fits;) {
        bands_release(bands);
        if (!bands_choose(bands, time->timeline, time->sampling, wanted, err))
            return false;
        for (double coarse = 1; !fits && coarse <= 4; coarse *= 2)
            if (!band_shapes_make(shapes, bands, time->sampling, coarse * tolerance, PLOT_RUNS,
                                  &fits, err))
                return false;
        wanted = bands->count / 2; /* a single band is never too much */
    }
    return true;
}

static bool draw(const struct plot_job *job, const struct plot_snapshot *snapshot,
                 struct error *err)
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
        plot_snapshot_time(snapshot, job->options, plot_time_margins, &sampling, &plot.time, err) &&
        make_bands(&bands, &shapes, &plot.time, job->options->bands, err);
    if (ok) {
        plot_begin(job->files[TIMELINE_SCRIPT], &job->options->look);
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
    struct plot_snapshot snapshot;
    if (!plot_snapshot_open(&snapshot, job, err))
        return false;
    bool ok = plot_snapshot_categories(&snapshot, err) && draw(job, &snapshot, err);
    plot_snapshot_close(&snapshot);
    return ok;
}
