#include "render/plot/time.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "model/recording.h"
#include "render/core/moments.h"
#include "render/core/page.h"
#include "render/plot/legend.h"
#include "render/plot/snapshot.h"

#define MUCH 50 /* a fiftieth of what is live */

/* Bytes of unknown category: allocated before the trace, recorded without a stack, or neither. */
struct unknown {
    int64_t before, without_stack, other;
};

static bool is_live(uint32_t begin, uint32_t end, int64_t item)
{
    return (int64_t)begin <= item && (end == EVENT_NEVER || (int64_t)end > item);
}

static struct unknown sum_unknown(const struct timeline *timeline,
                                  const struct categories *categories, int64_t item)
{
    struct unknown sum = {0};
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        int64_t *to = &sum.other;
        if (!preexisting->in_active || categories->of_preexisting[i] != CATEGORY_UNKNOWN ||
            (preexisting->free_completed != EVENT_NEVER &&
             (int64_t)preexisting->free_completed <= item))
            continue;
        if (preexisting_is_older(preexisting))
            to = &sum.before;
        else if (preexisting->stack == STACK_NONE)
            to = &sum.without_stack;
        *to += (int64_t)preexisting->size;
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        int64_t size = (int64_t)trace_size(timeline->trace, lifetime->alloc);
        if (categories->of_lifetime[i] != CATEGORY_UNKNOWN ||
            !is_live(lifetime->alloc, lifetime->free_completed, item))
            continue;
        if (timeline->trace->stack[lifetime->alloc] == STACK_NONE)
            sum.without_stack += size;
        else
            sum.other += size;
    }
    return sum;
}

void plot_unknown_words(struct buffer *out, const struct timeline *timeline,
                        const struct categories *categories, int64_t item)
{
    struct unknown sum = sum_unknown(timeline, categories, item);
    struct moment moment;
    timeline_moment(timeline, item, &moment);
    int64_t all = sum.before + sum.without_stack + sum.other;
    char bytes[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE];
    if (all <= 0 || all < moment.active_bytes / MUCH)
        return;
    buffer_printf(out, "unknown: %s (%s), ", units_bytes(bytes, all, UNIT_AUTO),
                  page_share(share, all, moment.active_bytes));
    if (timeline->snapshot->profile.is_timeline)
        buffer_puts(out, "to which the profiler gives no category");
    else if (timeline->trace->count == 0)
        buffer_puts(out, "because without recorded events nothing shows its purpose");
    else if (sum.before >= all / 2)
        buffer_puts(out, "most of it allocated before recording began");
    else if (sum.without_stack >= all / 2)
        buffer_puts(out, "most of it recorded without a stack");
    else
        buffer_puts(out, "because neither its stack nor its lifetime shows its purpose");
}

#define CURVES       2 /* active and reserved */
#define PHASES_MOST  1000
#define STRIP_PIXEL  1    /* phases that are narrower are left out */
#define LABEL_HEIGHT 220  /* pixels that what the axis says takes in full */
#define HEADROOM     1.14 /* above the highest curve: the peak's label */

const struct plot_margins plot_time_margins = {80, 300, 100, 60, PLOT_TITLES};
const struct plot_margins plot_text_margins = {8 * PLOT_CELL_WIDTH, 2 * PLOT_CELL_WIDTH,
                                               4 * PLOT_CELL_HEIGHT, 4 * PLOT_CELL_HEIGHT,
                                               PLOT_TITLES};

static int64_t highest(const struct sampling *sampling)
{
    int64_t most = 1;
    for (size_t c = 0; c < sampling->count; c++) {
        most = sampling->active[c] > most ? sampling->active[c] : most;
        most = sampling->reserved[c] > most ? sampling->reserved[c] : most;
    }
    return most;
}

double plot_time_unit(double span, const char **label)
{
    *label = span < 1e4   ? "microseconds since the first event"
             : span < 1e7 ? "milliseconds since the first event"
                          : "seconds since the first event";
    return span < 1e4 ? 1 : span < 1e7 ? 1e3 : 1e6;
}

static void choose_units(struct plot_scale *scale, const struct sampling *sampling, double bytes)
{
    scale->y_unit = plot_unit(bytes, &scale->y_name);
    scale->x_unit = 1;
    scale->x_label = "allocator event";
    if (sampling->axis != AXIS_TIME)
        return;
    scale->x_unit =
        plot_time_unit(sampling->edges[sampling->count] - sampling->edges[0], &scale->x_label);
}

/* The height of the graph in pixels. */
static unsigned plot_time_height(const struct plot_time *plot)
{
    return plot->look->height - plot->margins.top - plot->margins.bottom;
}

unsigned plot_time_legend(const struct plot_time *plot)
{
    unsigned height = plot_time_height(plot), curves = CURVES * PLOT_KEY_LINE;
    return height > curves ? height - curves : 0;
}

struct plot_scale plot_time_scale(const struct plot_time *plot)
{
    const struct sampling *sampling = plot->sampling;
    struct plot_scale scale = {0};
    double bytes = (double)highest(sampling);
    choose_units(&scale, sampling, bytes);
    scale.x_first = sampling->edges[0] / scale.x_unit;
    scale.x_last = sampling->edges[sampling->count] / scale.x_unit;
    scale.y_top = bytes / scale.y_unit * HEADROOM;
    scale.pixel_x = (scale.x_last - scale.x_first) /
                    (plot->look->width - plot->margins.left - plot->margins.right);
    scale.pixel_y = scale.y_top / plot_time_height(plot);
    return scale;
}

double plot_time_half_pixel(const struct plot_time *plot)
{
    struct plot_scale scale = plot_time_scale(plot);
    return scale.pixel_y * scale.y_unit / 2;
}

size_t plot_time_peak_column(const struct sampling *sampling)
{
    size_t peak = 0;
    for (size_t c = 1; c < sampling->count; c++)
        if (sampling->active[c] > sampling->active[peak])
            peak = c;
    return peak;
}

double plot_time_x(const struct plot_time *plot, const struct plot_scale *scale, size_t column)
{
    return plot->sampling->edges[column] / scale->x_unit;
}

/* "peak 11.57 GiB at event 3,485", and its position. */
static void put_peak(FILE *script, const struct plot_time *plot, const struct plot_scale *scale)
{
    char size[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
    const struct curve *active = &plot->timeline->active;
    size_t column = 0;
    bool is_known = timeline_knows_peak(plot->timeline);
    units_bytes(size, is_known ? active->peak_bytes : active->end_bytes, UNIT_AUTO);
    if (!is_known) {
        fprintf(script, "peak_text = '%s in use when the snapshot was taken'\n", size);
    } else if (active->peak_event < 0) {
        fprintf(script, "peak_text = 'peak %s, before the first event'\n", size);
    } else {
        column = sampling_column_showing(plot->sampling, (uint32_t)active->peak_event);
        event_number(count, plot->timeline->trace, active->peak_event);
        fprintf(script, "peak_text = 'peak %s at event %s'\n", size, count);
    }
    const double *edges = plot->sampling->edges;
    fprintf(script, "peak_known = %d\npeak_x = %.9g\npeak_y = %.7g\n", is_known,
            (edges[column] + edges[column + 1]) / 2 / scale->x_unit,
            (double)active->peak_bytes / scale->y_unit);
}

const char *plot_unrecorded_words(const struct timeline *timeline)
{
    return timeline->trace->unrecorded & ACTION_BIT(ACTION_ALLOC)
               ? "alloc was not recorded (skip_actions), so live memory is known only in the "
                 "snapshot: it is drawn after the last event"
               : "frees were not recorded (skip_actions), so live memory is known only in the "
                 "snapshot: it is drawn after the last event";
}

/* A line at the requested moment, and the active memory at that time. */
static void put_mark(FILE *script, const struct plot_time *plot, const struct plot_scale *scale)
{
    char size[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
    struct moment moment;
    if (!plot->has_mark)
        return;
    size_t column = 0;
    timeline_moment(plot->timeline, plot->mark, &moment);
    if (plot->mark >= 0)
        column = sampling_column_showing(plot->sampling, (uint32_t)plot->mark);
    const double *edges = plot->sampling->edges;
    fprintf(script, "mark_x = %.9g\n", (edges[column] + edges[column + 1]) / 2 / scale->x_unit);
    units_bytes(size, moment.active_bytes, UNIT_AUTO);
    if (plot->mark < 0)
        fprintf(script, "mark_text = '%s before the first event'\n", size);
    else
        fprintf(script, "mark_text = '%s at event %s'\n", size,
                event_number(count, plot->timeline->trace, plot->mark));
}

static void put_words(FILE *script, const struct plot_time *plot, const char *subtitle)
{
    struct buffer words = BUFFER_INIT;
    if (plot->sampling->unknown > 0)
        buffer_puts(&words, plot_unrecorded_words(plot->timeline));
    else
        plot_unknown_words(&words, plot->timeline, plot->categories,
                           plot->timeline->active.peak_event);
    if (words.size && !words.failed)
        buffer_puts(&words, timeline_knows_peak(plot->timeline) ? " (at the peak)" : "");
    plot_put_words(script, plot->look, plot->margins, subtitle,
                   words.size && !words.failed ? words.bytes : "");
    buffer_release(&words);
}

void plot_time_put(FILE *script, const struct plot_time *plot, const struct plot_scale *scale,
                   const char *subtitle)
{
    plot_put_margins(script, plot->look, plot->margins);
    const char *label =
        plot->timeline->trace->count > 0 ? scale->x_label : "no events were recorded";
    fprintf(script, "x_first = %.9g\nx_last = %.9g\ny_top = %.9g\nx_label = '%s'\n", scale->x_first,
            scale->x_last, scale->y_top, label);
    fprintf(script, "y_label = '%s, %s'\n",
            plot_time_height(plot) < LABEL_HEIGHT ? "active memory"
                                                  : "active memory (requested sizes)",
            scale->y_name);
    fprintf(script, "reserved_title = '%s'\n",
            timeline_knows_reserved(plot->timeline) ? "reserved (segments)" : "");
    put_peak(script, plot, scale);
    put_mark(script, plot, scale);
    put_words(script, plot, subtitle);
}

void plot_time_curves(FILE *out, const struct plot_time *plot, const struct plot_scale *scale)
{
    const struct sampling *s = plot->sampling;
    bool has_reserved = timeline_knows_reserved(plot->timeline);
    fputs("# where\tactive\treserved\n", out);
    for (size_t c = 0; c < s->count; c++)
        for (size_t side = 0; side < 2; side++)
            fprintf(out, "%.9g\t%.7g\t%.7g\n", s->edges[c + side] / scale->x_unit,
                    c < s->unknown ? NAN : (double)s->active[c] / scale->y_unit,
                    has_reserved ? (double)s->reserved[c] / scale->y_unit : NAN);
}

void plot_time_phases(FILE *out, const struct plot_time *plot, const struct plot_scale *scale)
{
    static const unsigned colours[PHASE_COUNT] = {0xF2F2F2, 0xEDEDED, 0xE6DDEE,
                                                  0xDCE8F5, 0xC3D6E6, 0xA9C0D6};
    size_t written = 0;
    fputs("# from\tto\tcolour\tname\n", out);
    for (size_t i = 0; i < plot->phases->count && written < PHASES_MOST; i++) {
        const struct phase_row *row = &plot->phases->items[i];
        double from = plot_time_x(plot, scale, sampling_column_showing(plot->sampling, row->first));
        double to =
            row->last + 1 < plot->timeline->trace->count
                ? plot_time_x(plot, scale, sampling_column_showing(plot->sampling, row->last + 1))
                : scale->x_last;
        const char *name = phase_name(row->phase);
        double pixels = (to - from) / scale->pixel_x;
        if (pixels < STRIP_PIXEL)
            continue;
        char shown[32];
        snprintf(shown, sizeof(shown), "%s", name);
        for (char *c = shown; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        bool fits = pixels > ((double)strlen(name) + 1) * PLOT_CHARACTER;
        fprintf(out, "%.9g\t%.9g\t%u\t%s\n", from, to, colours[row->phase], fits ? shown : " ");
        written++;
    }
}
