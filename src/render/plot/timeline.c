#include "render/plot/timeline.h"

#include <stdlib.h>

#include "base/units.h"
#include "render/plot/snapshot.h"
#include "render/plot/timeline_internal.h"

const char *const plot_colours[] = {"category", "site", "size", NULL};

bool plot_bands_make(struct bands *bands, struct band_shapes *shapes, const struct plot_time *time,
                     size_t wanted, struct error *err)
{
    double tolerance = plot_time_half_pixel(time);
    if (wanted > PLOT_BANDS)
        wanted = PLOT_BANDS;
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

static void subtitle(const struct plot_timeline *plot, struct buffer *out)
{
    char bands[UNITS_TEXT_SIZE], rest[UNITS_TEXT_SIZE], events[UNITS_TEXT_SIZE];
    const struct timeline *timeline = plot->time.timeline;
    static const char *const by[] = {"category", "call site", "size"};
    buffer_printf(out, "device %u, %s events, coloured by %s; %s allocations with a band each",
                  timeline->device, units_count(events, timeline->trace->count), by[plot->colour],
                  units_count(bands, plot->bands->count));
    if (plot->bands->left_out)
        buffer_printf(out, ", the %s smaller or shorter ones summed above them",
                      units_count(rest, plot->bands->left_out));
}

static bool write_parts(const struct plot_timeline *plot, const struct plot_groups *groups,
                        unsigned *colours, FILE *const files[], struct error *err)
{
    struct plot_scale scale = plot_time_scale(&plot->time);
    struct plot_legend legend = {0};
    struct buffer text = BUFFER_INIT;
    FILE *script = files[TIMELINE_SCRIPT];
    for (size_t b = 0; b < plot->bands->count; b++)
        colours[b] = plot_shade(groups->colour[plot_group_of(groups, &plot->bands->items[b])], b);
    subtitle(plot, &text);
    plot_time_put(script, &plot->time, &scale, text.failed ? "" : text.bytes);
    buffer_release(&text);
    if (!plot_rest_write(plot, &scale, groups, &legend, script, files[TIMELINE_REST], err))
        return false;
    plot_legend_put(script, &legend, plot_time_legend(&plot->time));
    plot_time_curves(files[TIMELINE_CURVES], &plot->time, &scale);
    plot_time_phases(files[TIMELINE_PHASES], &plot->time, &scale);
    plot_bands_write(files[TIMELINE_BANDS], plot, &scale, colours);
    return plot_band_labels_write(files[TIMELINE_LABELS], plot, &scale, colours, err) &&
           (!plot->notes || plot_band_titles_write(plot->notes, plot, &scale, colours, err));
}

bool plot_timeline_write(const struct plot_timeline *plot, FILE *const files[], struct error *err)
{
    struct plot_groups groups;
    if (!plot_groups_make(&groups, plot, err))
        return false;
    unsigned *colours = calloc(plot->bands->count + 1, sizeof(*colours));
    bool ok = colours ? write_parts(plot, &groups, colours, files, err) : error_out_of_memory(err);
    free(colours);
    plot_groups_release(&groups);
    return ok;
}

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    struct sampling sampling = {0};
    struct bands bands = {0};
    struct band_shapes shapes = {0};
    struct plot_timeline plot = {.colour = job->request->colour,
                                 .sites = snapshot->sites,
                                 .bands = &bands,
                                 .shapes = &shapes,
                                 .notes = job->notes};
    bool ok =
        plot_snapshot_categories(snapshot, err) &&
        plot_snapshot_time(snapshot, job->request, plot_time_margins, &sampling, &plot.time, err) &&
        plot_bands_make(&bands, &shapes, &plot.time, job->request->bands, err);
    ok = ok && plot_timeline_write(&plot, job->files, err);
    band_shapes_release(&shapes);
    bands_release(&bands);
    sampling_release(&sampling);
    return ok;
}

const struct plot_kind plot_kind_timeline = {
    .name = "timeline",
    .summary = "memory over time: one band per allocation",
    .files = {PLOT_TIMELINE_FILES},
    .templates = {"page.gp", "frame.gp", "timeline.gp"},
    .in_text = {"text.gp", "text-time.gp"},
    .of_snapshot = draw,
};
