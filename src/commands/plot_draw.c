#include "commands/plot_draw.h"

/* What a plot refers to. */
struct parts {
    struct phases phases;
    struct phase_rows rows;
    struct categories categories;
    struct sampling sampling;
    struct bands bands;
    struct band_shapes shapes;
    struct category_curves curves;
};

static void release(struct parts *parts)
{
    category_curves_release(&parts->curves);
    band_shapes_release(&parts->shapes);
    bands_release(&parts->bands);
    sampling_release(&parts->sampling);
    categories_release(&parts->categories);
    phase_rows_release(&parts->rows);
    phases_release(&parts->phases);
}

static const struct timeline *highest(const struct capture *capture)
{
    const struct timeline *best = capture->timelines[0];
    for (size_t i = 1; i < capture->device_count; i++)
        if (capture->timelines[i]->active.peak_bytes > best->active.peak_bytes)
            best = capture->timelines[i];
    return best;
}

/* Bands whose shapes are few enough: coarser ones first, then fewer. */
static bool make_bands(struct parts *parts, const struct plot *plot, size_t wanted,
                       struct error *err)
{
    double tolerance = plot_half_pixel(plot);
    for (bool fits = false; !fits;) {
        bands_release(&parts->bands);
        if (!bands_choose(&parts->bands, plot->timeline, &parts->sampling, wanted, err))
            return false;
        for (double coarse = 1; !fits && coarse <= 4; coarse *= 2)
            if (!band_shapes_make(&parts->shapes, &parts->bands, &parts->sampling,
                                  coarse * tolerance, PLOT_RUNS, &fits, err))
                return false;
        wanted = parts->bands.count / 2; /* a single band is never too much */
    }
    return true;
}

static bool make(struct parts *parts, struct plot *plot, const struct plot_options *options,
                 struct error *err)
{
    const struct timeline *timeline = plot->timeline;
    bool ok = phases_build(&parts->phases, timeline, plot->sites, err) &&
              phase_rows_make(&parts->rows, timeline, &parts->phases, err) &&
              categories_assign(timeline, plot->sites, &parts->phases, &parts->categories, err) &&
              sampling_make(&parts->sampling, timeline, options->axis, PLOT_COLUMNS, err);
    plot->sampling = &parts->sampling;
    plot->categories = &parts->categories;
    plot->phases = &parts->rows;
    if (ok && options->look.kind == PLOT_CATEGORIES) {
        ok = category_curves_make(&parts->curves, timeline, &parts->categories, &parts->sampling,
                                  err);
        plot->curves = &parts->curves;
    } else if (ok) {
        ok = make_bands(parts, plot, options->bands, err);
        plot->bands = &parts->bands;
        plot->shapes = &parts->shapes;
    }
    return ok;
}

bool plot_draw(const struct plot_options *options, int fd, const char *template,
               const struct load_progress *progress, FILE *const files[PLOT_FILES],
               struct error *err)
{
    struct capture capture;
    struct parts parts = {0};
    if (!capture_open(&capture, fd, &options->capture, progress, err))
        return false;
    bool ok = capture.device_count > 0 ||
              error_set(err, STATUS_BAD_INPUT, "nothing to plot: there is no device in it");
    if (ok) {
        struct plot plot = {
            .look = options->look, .timeline = highest(&capture), .sites = capture.sites};
        ok = make(&parts, &plot, options, err) && plot_write(&plot, template, files, err);
    }
    release(&parts);
    capture_close(&capture);
    return ok;
}
