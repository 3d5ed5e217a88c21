#include <string.h>

#include "analysis/curves/category_curves.h"
#include "base/units.h"
#include "model/device.h"
#include "render/plot/legend.h"
#include "render/plot/snapshot.h"
#include "render/plot/svg_titles.h"

#define TEXT_CATEGORIES 7

enum {
    CATEGORIES_SCRIPT,
    CATEGORIES_CURVES,
    CATEGORIES_PHASES,
    CATEGORIES_AREAS,
};

/* Nothing is owned. */
struct plot_categories {
    struct plot_time time;
    const struct category_curves *curves;
    FILE *notes; /* for titles (svg_titles.h), or NULL */
};

static double most_of(const struct category_curves *curves, size_t category)
{
    const double *curve = category_curve(curves, category);
    double most = 0;
    for (size_t c = 0; c < curves->columns; c++)
        most = curve[c] > most ? curve[c] : most;
    return most;
}

/* Drops the smallest categories until `count` are left. */
static void thin(const struct category_curves *curves, uint8_t *shown, size_t count, size_t left)
{
    for (; count > left; count--) {
        size_t least = 0;
        for (size_t i = 1; i < count; i++)
            if (most_of(curves, shown[i]) < most_of(curves, shown[least]))
                least = i;
        memmove(shown + least, shown + least + 1, count - least - 1);
    }
}

/* The categories shown, from the lowest to the highest; returns their number. A picture made of
 * characters has seven that can be told apart, one of which stands for all other categories. */
static size_t choose(const struct plot_categories *plot, uint8_t shown[CATEGORY_LIMIT])
{
    uint8_t order[CATEGORY_LIMIT];
    size_t count = 0;
    plot_category_order(order);
    for (size_t i = 0; i < CATEGORY_LIMIT; i++)
        if (most_of(plot->curves, order[i]) > 0)
            shown[count++] = order[i];
    if (count == 0) /* gnuplot wants something to draw */
        shown[count++] = CATEGORY_UNKNOWN;
    if (plot->time.look->format != PLOT_DUMB || count <= TEXT_CATEGORIES)
        return count;
    thin(plot->curves, shown, count, TEXT_CATEGORIES - 1);
    return TEXT_CATEGORIES - 1;
}

static double peak_bytes(const struct plot_categories *plot, size_t category)
{
    return category_curve(plot->curves, category)[plot_time_peak_column(plot->time.sampling)];
}

static const char *size_text(char size[UNITS_TEXT_SIZE], double bytes)
{
    return units_bytes(size, bytes < 9e18 ? (int64_t)bytes : INT64_MAX, UNIT_AUTO);
}

static const char *peak_size(const struct plot_categories *plot, size_t category,
                             char size[UNITS_TEXT_SIZE])
{
    return size_text(size, peak_bytes(plot, category));
}

/* Writes entries from the highest in the stack to the lowest, the order in the picture. */
static void put_legend(const struct plot_categories *plot, const uint8_t *shown, size_t count,
                       FILE *script)
{
    struct plot_legend legend = {0};
    for (size_t i = count; i-- > 0;) {
        char size[UNITS_TEXT_SIZE], remark[UNITS_TEXT_SIZE + 4], name[80];
        plot_category_name(name, shown[i]);
        snprintf(remark, sizeof(remark), "  %s", peak_size(plot, shown[i], size));
        plot_legend_add(&legend, plot_category_colour(shown[i]), name, remark);
    }
    plot_legend_put(script, &legend, plot_time_legend(&plot->time));
}

/* The name is followed by the size at the peak. */
static void put_areas(const struct plot_categories *plot, const uint8_t *shown, size_t count,
                      FILE *script)
{
    fprintf(script, "areas = %zu\narray area_colour[%zu]\narray area_name[%zu]\n", count, count + 1,
            count + 1);
    for (size_t i = 0; i < count; i++) {
        char name[80], variable[32], size[UNITS_TEXT_SIZE];
        plot_category_name(name, shown[i]);
        snprintf(name + strlen(name), sizeof(name) - strlen(name), " %s",
                 peak_size(plot, shown[i], size));
        snprintf(variable, sizeof(variable), "area_name[%zu]", i + 1);
        fprintf(script, "area_colour[%zu] = 0x%06X\n", i + 1, plot_category_colour(shown[i]));
        plot_put_text(script, variable, name, PLOT_KEY_TEXT);
    }
}

/* Adds one legend entry for the categories that are in the picture without an area of their own, if
 * there are any. */
static void put_others(const struct plot_categories *plot, const uint8_t *shown, size_t count,
                       FILE *script)
{
    bool is_shown[CATEGORY_LIMIT] = {false}, any = false;
    double bytes = 0;
    char name[UNITS_TEXT_SIZE + 8] = "", size[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < count; i++)
        is_shown[shown[i]] = true;
    for (size_t i = 0; i < CATEGORY_LIMIT; i++) {
        if (is_shown[i] || most_of(plot->curves, i) <= 0)
            continue;
        any = true;
        bytes += peak_bytes(plot, i);
    }
    if (any)
        snprintf(name, sizeof(name), "others %s", size_text(size, bytes));
    plot_put_text(script, "others_name", name, PLOT_KEY_TEXT);
}

static void write_areas(const struct plot_categories *plot, const struct plot_scale *scale,
                        const uint8_t *shown, size_t count, FILE *out)
{
    const struct sampling *sampling = plot->time.sampling;
    fputs("# where\t0", out);
    for (size_t i = 0; i < count; i++) { /* a name may be the user's own */
        fputc('\t', out);
        fprintf(out, "up to category %zu", i + 1);
    }
    fputc('\n', out);
    for (size_t c = 0; c < sampling->count; c++)
        for (size_t side = 0; side < 2; side++) {
            double sum = 0;
            fprintf(out, "%.9g\t0", sampling->edges[c + side] / scale->x_unit);
            for (size_t i = 0; i < count; i++) {
                sum += category_curve(plot->curves, shown[i])[c];
                fprintf(out, "\t%.7g", sum / scale->y_unit);
            }
            fputc('\n', out);
        }
}

/* "activation", "at most 9.52 GiB", "8.75 GiB at the peak"; areas are drawn from the highest down.
 */
static bool note_titles(const struct plot_categories *plot, const uint8_t *shown, size_t count,
                        struct error *err)
{
    const struct plot_margins *margins = &plot->time.margins;
    const struct plot_look *look = plot->time.look;
    struct buffer title = BUFFER_INIT;
    bool ok = true;
    for (size_t i = count; ok && i-- > 0;) {
        char name[80], size[UNITS_TEXT_SIZE];
        struct svg_shape area = {.colour = plot_category_colour(shown[i]),
                                 .x = {margins->left, look->width - margins->right},
                                 .y = {margins->top, look->height - margins->bottom}};
        double most = most_of(plot->curves, shown[i]);
        plot_category_name(name, shown[i]);
        buffer_clear(&title);
        buffer_printf(&title, "%s\nat most %s", name, size_text(size, most));
        buffer_printf(&title, "\n%s at the peak", peak_size(plot, shown[i], size));
        ok = title.failed ? error_out_of_memory(err)
                          : svg_titles_note(plot->notes, &area, &title, err);
    }
    buffer_release(&title);
    return ok;
}

static bool write_all(const struct plot_categories *plot, FILE *const files[], struct error *err)
{
    uint8_t shown[CATEGORY_LIMIT];
    size_t count = choose(plot, shown);
    struct plot_scale scale = plot_time_scale(&plot->time);
    FILE *script = files[CATEGORIES_SCRIPT];
    char events[UNITS_TEXT_SIZE];
    char text[256];
    snprintf(text, sizeof(text),
             "%s, %s events; one area per category; sizes in the legend are those at the peak",
             DEVICE_WORDS(plot->time.timeline->device),
             units_count(events, plot->time.timeline->trace->count));
    plot_time_put(script, &plot->time, &scale, text);
    put_legend(plot, shown, count, script);
    put_areas(plot, shown, count, script);
    if (plot->time.look->format == PLOT_DUMB)
        put_others(plot, shown, count, script);
    plot_time_curves(files[CATEGORIES_CURVES], &plot->time, &scale);
    plot_time_phases(files[CATEGORIES_PHASES], &plot->time, &scale);
    write_areas(plot, &scale, shown, count, files[CATEGORIES_AREAS]);
    return !plot->notes || note_titles(plot, shown, count, err);
}

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    struct sampling sampling = {0};
    struct category_curves curves = {0};
    struct plot_categories plot = {.curves = &curves, .notes = job->notes};
    bool ok =
        plot_snapshot_categories(snapshot, err) &&
        plot_snapshot_time(snapshot, job->request, plot_time_margins, &sampling, &plot.time, err) &&
        category_curves_make(&curves, snapshot->timeline, snapshot->categories, &sampling, err);
    ok = ok && write_all(&plot, job->files, err);
    category_curves_release(&curves);
    sampling_release(&sampling);
    return ok;
}

const struct plot_kind plot_kind_categories = {
    .name = "categories",
    .summary = "memory over time: one area per category",
    .files = {"plot.gp", "curves.tsv", "phases.tsv", "categories.tsv"},
    .templates = {"page.gp", "frame.gp", "categories.gp"},
    .in_text = {"text.gp", "text-categories.gp"},
    .of_snapshot = draw,
};
