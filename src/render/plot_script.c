#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "render/escape.h"
#include "render/plot_parts.h"

const char *const plot_kinds[] = {"timeline", "categories", NULL};
const char *const plot_formats[] = {"svg", "png", "pdf", NULL};
const char *const plot_colours[] = {"category", "site", "size", NULL};
const char *const plot_file_names[PLOT_FILES] = {"plot.gp", "curves.tsv", "areas.tsv", "phases.tsv",
                                                 "labels.tsv"};

#define TITLE_CHARACTERS 120
#define HEADROOM         1.14 /* above the highest curve: the peak's label */

static int64_t highest(const struct sampling *sampling)
{
    int64_t most = 1;
    for (size_t c = 0; c < sampling->count; c++) {
        most = sampling->active[c] > most ? sampling->active[c] : most;
        most = sampling->reserved[c] > most ? sampling->reserved[c] : most;
    }
    return most;
}

static void choose_units(struct plot_scale *scale, const struct sampling *sampling, double bytes)
{
    static const char *const names[] = {"bytes", "KiB", "MiB", "GiB"};
    size_t unit = 0;
    scale->y_unit = 1;
    while (unit < 3 && bytes >= 1024 * scale->y_unit) {
        scale->y_unit *= 1024;
        unit++;
    }
    scale->y_name = names[unit];
    scale->x_unit = 1;
    scale->x_label = "allocator event";
    if (sampling->axis != AXIS_TIME)
        return;
    double span = sampling->edges[sampling->count] - sampling->edges[0];
    scale->x_unit = span < 1e4 ? 1 : span < 1e7 ? 1e3 : 1e6;
    scale->x_label = span < 1e4   ? "microseconds since the first event"
                     : span < 1e7 ? "milliseconds since the first event"
                                  : "seconds since the first event";
}

struct plot_scale plot_scale(const struct plot *plot)
{
    const struct sampling *sampling = plot->sampling;
    struct plot_scale scale = {0};
    double bytes = (double)highest(sampling);
    choose_units(&scale, sampling, bytes);
    scale.x_first = sampling->edges[0] / scale.x_unit;
    scale.x_last = sampling->edges[sampling->count] / scale.x_unit;
    scale.y_top = bytes / scale.y_unit * HEADROOM;
    scale.pixel_x = (scale.x_last - scale.x_first) / (plot->look.width - PLOT_LEFT - PLOT_RIGHT);
    scale.pixel_y = scale.y_top / (plot->look.height - PLOT_TOP - PLOT_FOOT);
    return scale;
}

double plot_half_pixel(const struct plot *plot)
{
    struct plot_scale scale = plot_scale(plot);
    return scale.pixel_y * scale.y_unit / 2;
}

static void put_text(FILE *out, const char *name, const char *text)
{
    struct buffer escaped = BUFFER_INIT;
    escape_plot(&escaped, text, strlen(text), TITLE_CHARACTERS);
    fprintf(out, "%s = '%s'\n", name, escaped.size && !escaped.failed ? escaped.bytes : "");
    buffer_release(&escaped);
}

static void put_terminal(FILE *out, const struct plot_look *look)
{
    fputs("set encoding utf8\n", out);
    if (look->format == PLOT_SVG)
        fprintf(out,
                "set terminal svg size %u,%u dynamic noenhanced font 'Liberation Sans,13' "
                "background '#FFFFFF'\n",
                look->width, look->height);
    else if (look->format == PLOT_PNG)
        fprintf(out,
                "set terminal pngcairo size %u,%u noenhanced font 'Liberation Sans,10' "
                "background '#FFFFFF'\n",
                look->width, look->height);
    else
        fprintf(out, "set terminal pdfcairo size %.2f,%.2f noenhanced font 'Liberation Sans,9'\n",
                look->width / 100.0, look->height / 100.0);
    fprintf(out, "if (!exists('to_stdout')) set output '%s.%s'\n", plot_kinds[look->kind],
            plot_formats[look->format]);
}

static void put_scale(FILE *out, const struct plot *plot, const struct plot_scale *scale)
{
    double width = plot->look.width, height = plot->look.height;
    fprintf(out, "left = %.6f\nright = %.6f\ntop = %.6f\nbottom = %.6f\n", PLOT_LEFT / width,
            1 - PLOT_RIGHT / width, 1 - PLOT_TOP / height, PLOT_FOOT / height);
    fprintf(out, "x_first = %.9g\nx_last = %.9g\ny_top = %.9g\nx_label = '%s'\n", scale->x_first,
            scale->x_last, scale->y_top, scale->x_label);
    fprintf(out, "y_label = 'active memory (requested sizes), %s'\n", scale->y_name);
}

/* "peak 11.57 GiB at event 3,485", and where. */
static void put_peak(FILE *out, const struct plot *plot, const struct plot_scale *scale)
{
    char size[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
    const struct curve *active = &plot->timeline->active;
    size_t column = 0;
    units_bytes(size, active->peak_bytes, UNIT_AUTO);
    if (active->peak_event < 0) {
        fprintf(out, "peak_text = 'peak %s, before the first event'\n", size);
    } else {
        column = sampling_column_showing(plot->sampling, (uint32_t)active->peak_event);
        units_count(count, plot->timeline->trace->first_event + (uint64_t)active->peak_event);
        fprintf(out, "peak_text = 'peak %s at event %s'\n", size, count);
    }
    const double *edges = plot->sampling->edges;
    fprintf(out, "peak_x = %.9g\npeak_y = %.7g\n",
            (edges[column] + edges[column + 1]) / 2 / scale->x_unit,
            (double)active->peak_bytes / scale->y_unit);
}

static void put_subtitle(FILE *out, const struct plot *plot)
{
    char bands[UNITS_TEXT_SIZE], rest[UNITS_TEXT_SIZE], events[UNITS_TEXT_SIZE];
    const struct trace *trace = plot->timeline->trace;
    units_count(events, trace->count);
    fprintf(out, "plot_subtitle = 'device %u, %s events; ", plot->timeline->device, events);
    if (plot->bands) {
        units_count(bands, plot->bands->count);
        units_count(rest, plot->bands->left_out);
        if (plot->bands->left_out)
            fprintf(out, "%s allocations with a band each, %s smaller or shorter ones in grey; ",
                    bands, rest);
        else
            fprintf(out, "%s allocations with a band each; ", bands);
        fprintf(out, "colour: %s'\n", plot_colours[plot->look.colour]);
    } else {
        fputs("sizes in the legend are those at the peak'\n", out);
    }
}

static void put_legend(FILE *out, const struct plot_legend *legend)
{
    fprintf(out, "keys = %zu\narray key_colour[%zu]\narray key_text[%zu]\n", legend->count,
            legend->count + 1, legend->count + 1);
    for (size_t i = 0; i < legend->count; i++)
        fprintf(out, "key_colour[%zu] = 0x%06X; key_text[%zu] = '%s'\n", i + 1,
                legend->keys[i].colour, i + 1, legend->keys[i].text);
}

static void put_areas(FILE *out, const struct plot *plot)
{
    uint8_t shown[CATEGORY_LIMIT];
    size_t count = plot_categories_shown(plot, shown);
    fprintf(out, "areas = %zu\narray area_colour[%zu]\n", count, count + 1);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "area_colour[%zu] = 0x%06X\n", i + 1, plot_category_colour(shown[i]));
}

bool plot_write(const struct plot *plot, const char *template, FILE *const files[PLOT_FILES],
                struct error *err)
{
    struct plot_scale scale = plot_scale(plot);
    struct plot_legend legend;
    FILE *script = files[PLOT_SCRIPT];
    if (!plot_legend_make(&legend, plot, err))
        return false;
    fputs("# Made by memsnap plot; gnuplot 5.4 or later draws it: gnuplot plot.gp\n", script);
    put_terminal(script, &plot->look);
    put_text(script, "plot_title", plot->look.title);
    put_subtitle(script, plot);
    put_scale(script, plot, &scale);
    put_peak(script, plot, &scale);
    put_legend(script, &legend);
    if (plot->curves)
        put_areas(script, plot);
    fputs(template, script);
    plot_curves_write(plot, &scale, files[PLOT_CURVES]);
    plot_areas_write(plot, &scale, &legend, files[PLOT_AREAS]);
    plot_phases_write(plot, &scale, files[PLOT_PHASES]);
    bool ok = plot_labels_write(plot, &scale, &legend, files[PLOT_LABELS], err);
    plot_legend_release(&legend);
    return ok;
}
