#include "render/plot/timeline.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/units.h"
#include "model/device.h"
#include "render/core/moments.h"
#include "render/plot/snapshot.h"
#include "render/plot/svg_polygon.h"
#include "render/plot/svg_titles.h"
#include "render/plot/timeline_internal.h"

/* ", forward" if the phase of an item is known. */
static void add_phase(const struct plot_time *plot, uint32_t item, struct buffer *out)
{
    const struct phase_row *rows = plot->phases->items;
    size_t begun = rows ? bisect_until(&rows->first, sizeof(*rows), plot->phases->count, item) : 0;
    if (begun == 0)
        return;
    buffer_puts(out, ", ");
    for (const char *c = phase_name(rows[begun - 1].phase); *c; c++)
        buffer_putc(out, *c == '_' ? ' ' : *c);
}

static void add_moment(const struct plot_time *plot, const char *what, uint32_t item,
                       const char *without, struct buffer *out)
{
    char count[UNITS_TEXT_SIZE];
    buffer_printf(out, "\n%s ", what);
    if (item == EVENT_NEVER) {
        buffer_puts(out, without);
        return;
    }
    buffer_printf(out, "at event %s", event_number(count, plot->timeline->trace, item));
    add_phase(plot, item, out);
}

/* "lived 12.3 ms" if the trace contains the whole lifetime. */
static void add_age(const struct plot_time *plot, uint32_t born, uint32_t freed, struct buffer *out)
{
    char age[UNITS_TEXT_SIZE];
    const struct trace *trace = plot->timeline->trace;
    int64_t begin, end, time;
    if (born == EVENT_NEVER || freed == EVENT_NEVER)
        return;
    begin = trace_time(trace, born);
    end = trace_time(trace, freed);
    if (begin == TIME_NONE || end == TIME_NONE || __builtin_sub_overflow(end, begin, &time) ||
        time < 0)
        return;
    units_duration(age, time);
    buffer_printf(out, "\nlived %s", age + (*age == '+'));
}

/* Call site, annotations, size, category and lifetime. */
static bool describe(const struct plot_timeline *plot, const struct band *band, struct buffer *out,
                     struct error *err)
{
    char size[UNITS_TEXT_SIZE], category[80];
    const struct timeline *timeline = plot->time.timeline;
    uint32_t born = EVENT_NEVER, freed;
    if (band->in_trace) {
        born = timeline->lifetimes[band->index].alloc;
        freed = timeline->lifetimes[band->index].free_completed;
    } else {
        freed = timeline->preexisting[band->index].free_completed;
    }
    plot_category_name(category, plot_band_category(plot, band));
    units_bytes(size, band->size < INT64_MAX ? (int64_t)band->size : INT64_MAX, UNIT_AUTO);
    if (!plot_band_site(plot, band, out, err) || !plot_band_annotation(plot, band, ", ", out, err))
        return false;
    svg_title_begin(out);
    buffer_printf(out, "\n%s, %s", size, category);
    add_moment(&plot->time, "allocated", born, "before the trace", out);
    add_moment(&plot->time, "freed", freed, "not in the trace", out);
    add_age(&plot->time, born, freed, out);
    return !out->failed || error_out_of_memory(err);
}

/* The band's outline as plot_bands_write() and frame.gp draw it: it begins and ends with its left
 * side. */
static struct svg_shape shape_of(const struct plot_timeline *plot, const struct plot_scale *scale,
                                 size_t b, unsigned colour)
{
    const struct band *band = &plot->bands->items[b];
    const struct band_run *runs = plot->shapes->runs + plot->shapes->first[b];
    const struct plot_margins *margins = &plot->time.margins;
    double foot = plot->time.look->height - margins->bottom;
    double x = margins->left +
               (plot_time_x(&plot->time, scale, runs[0].column) - scale->x_first) / scale->pixel_x;
    double pixel = scale->y_unit * scale->pixel_y * PLOT_TIME_STRIP;
    return (struct svg_shape){
        .colour = colour,
        .points = 4 * (plot->shapes->first[b + 1] - plot->shapes->first[b]),
        .x = {x, x},
        .y = {foot - runs[0].low / pixel, foot - (runs[0].low + (double)band->size) / pixel},
    };
}

struct rooms {
    const struct plot_timeline *plot;
    const struct plot_scale *scale;
};

/* The area of a band in square pixels; 0 if it is too thin to point at. */
static double room_of(const void *self, size_t b)
{
    const struct rooms *rooms = self;
    const struct plot_time *time = &rooms->plot->time;
    const struct plot_scale *scale = rooms->scale;
    const struct band *band = &rooms->plot->bands->items[b];
    double width = (plot_time_x(time, scale, band->end) - plot_time_x(time, scale, band->begin)) /
                   scale->pixel_x;
    double height = (double)band->size / scale->y_unit / scale->pixel_y / PLOT_TIME_STRIP;
    return width >= SVG_SLIVER && height >= SVG_SLIVER ? width * height : 0;
}

/* Notes the titles of all bands (svg_titles.h). */
static bool plot_band_titles_write(FILE *notes, const struct plot_timeline *plot,
                                   const struct plot_scale *scale, const unsigned *colours,
                                   struct error *err)
{
    struct buffer text = BUFFER_INIT;
    const struct rooms rooms = {plot, scale};
    double least = svg_titles_least(SVG_SLIVER * SVG_SLIVER, plot->bands->count, room_of, &rooms);
    bool ok = true;
    for (size_t b = 0; ok && b < plot->bands->count; b++) {
        if (room_of(&rooms, b) < least)
            continue;
        struct svg_shape shape = shape_of(plot, scale, b, colours[b]);
        buffer_clear(&text);
        ok = describe(plot, &plot->bands->items[b], &text, err) &&
             svg_titles_note(notes, &shape, &text, err);
    }
    buffer_release(&text);
    return ok;
}

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
    buffer_printf(out, "%s, %s events, coloured by %s; %s allocations with a band each",
                  DEVICE_WORDS(timeline->device), units_count(events, timeline->trace->count),
                  by[plot->colour], units_count(bands, plot->bands->count));
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
