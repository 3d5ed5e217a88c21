#include <string.h>

#include "base/units.h"
#include "render/core/escape.h"
#include "render/page/internal.h"
#include "render/plot/plot.h"

/* The static picture: one area for each category, and the reserved curve, as SVG without styles of
 * its own. */

#define WIDTH      1200 /* width of the drawing */
#define LEFT       80
#define RIGHT      980 /* right edge of the graph, beside which the legend stands */
#define TOP        20
#define BOTTOM     460
#define HEIGHT     500
#define LINE       20
#define ROWS       20 /* rows of the legend */
#define MOST_TICKS 6

bool html_put_text(FILE *out, const char *bytes, size_t size, struct error *err)
{
    struct buffer text = BUFFER_INIT;
    escape_markup(&text, bytes, size);
    bool ok = !text.failed || error_out_of_memory(err);
    if (ok && text.size > 0)
        fwrite(text.bytes, 1, text.size, out);
    buffer_release(&text);
    return ok;
}

struct drawing {
    FILE *out;
    const struct html_page *page;
    double top;    /* bytes */
    double *below; /* bytes of the areas drawn so far, by column */
};

static double place_x(const struct drawing *d, size_t edge)
{
    const struct sampling *s = d->page->still;
    double span = s->edges[s->count] - s->edges[0];
    return LEFT + (RIGHT - LEFT) * (s->edges[edge] - s->edges[0]) / (span > 0 ? span : 1);
}

static double place_y(const struct drawing *d, double bytes)
{
    return BOTTOM - (BOTTOM - TOP) * bytes / d->top;
}

static double highest(const struct sampling *still)
{
    double most = 1;
    for (size_t c = 0; c < still->count; c++) {
        most = (double)still->active[c] > most ? (double)still->active[c] : most;
        most = (double)still->reserved[c] > most ? (double)still->reserved[c] : most;
    }
    return most * 1.05;
}

/* Steps along a curve: across each column, up or down to the next. */
static void put_steps(const struct drawing *d, const double *bytes, bool back)
{
    size_t count = d->page->still->count;
    for (size_t i = 0; i < count; i++) {
        size_t c = back ? count - 1 - i : i;
        if (i > 0 && i + 1 < count && bytes[c] == bytes[back ? c + 1 : c - 1] &&
            bytes[c] == bytes[back ? c - 1 : c + 1])
            continue;
        double y = place_y(d, bytes[c]);
        fprintf(d->out, "%.1f,%.1f %.1f,%.1f ", place_x(d, back ? c + 1 : c), y,
                place_x(d, back ? c : c + 1), y);
    }
}

/* An area on top of those drawn before. */
static bool put_area(const struct drawing *d, size_t category, double *above)
{
    const double *curve = category_curve(d->page->curves, category);
    bool any = false;
    for (size_t c = 0; c < d->page->still->count; c++) {
        above[c] = d->below[c] + (curve[c] > 0 ? curve[c] : 0);
        any = any || curve[c] > 0;
    }
    if (!any)
        return false;
    fprintf(d->out, "<polygon fill=\"#%06X\" points=\"", plot_category_colour(category));
    put_steps(d, d->below, false);
    put_steps(d, above, true);
    fputs("\"/>\n", d->out);
    memcpy(d->below, above, d->page->still->count * sizeof(*above));
    return true;
}

static bool put_key(const struct drawing *d, size_t row, size_t category, struct error *err)
{
    char name[80], size[UNITS_TEXT_SIZE];
    const struct sampling *still = d->page->still;
    size_t peak = 0;
    for (size_t c = 1; c < still->count; c++)
        peak = still->active[c] > still->active[peak] ? c : peak;
    double bytes = category_curve(d->page->curves, category)[peak];
    units_bytes(size, bytes > 0 ? (int64_t)(bytes < 9e18 ? bytes : 9e18) : 0, UNIT_AUTO);
    plot_category_name(name, category);
    fprintf(d->out,
            "<rect x=\"%d\" y=\"%zu\" width=\"12\" height=\"12\" fill=\"#%06X\"/><text x=\"%d\" "
            "y=\"%zu\">",
            RIGHT + 20, TOP + row * LINE, plot_category_colour(category), RIGHT + 38,
            TOP + row * LINE + 11);
    if (!html_put_text(d->out, name, strlen(name), err))
        return false;
    fprintf(d->out, " %s</text>\n", size);
    return true;
}

static bool put_areas(const struct drawing *d, double *above, struct error *err)
{
    uint8_t order[CATEGORY_LIMIT], drawn[CATEGORY_LIMIT];
    size_t count = 0;
    plot_category_order(order);
    for (size_t i = 0; i < CATEGORY_LIMIT; i++)
        if (put_area(d, order[i], above))
            drawn[count++] = order[i];
    for (size_t i = count, row = 0; i-- > 0 && row < ROWS; row++)
        if (!put_key(d, row, drawn[i], err))
            return false;
    return true;
}

static void put_reserved(const struct drawing *d, double *bytes)
{
    const struct sampling *still = d->page->still;
    for (size_t c = 0; c < still->count; c++)
        bytes[c] = (double)still->reserved[c];
    fputs("<polyline fill=\"none\" stroke=\"#000000\" points=\"", d->out);
    put_steps(d, bytes, false);
    fputs("\"/>\n", d->out);
}

static void put_axes(const struct drawing *d)
{
    char text[UNITS_TEXT_SIZE];
    const struct sampling *still = d->page->still;
    double step = 1;
    while (d->top / step > MOST_TICKS)
        step *= 2;
    for (double bytes = 0; bytes <= d->top; bytes += step) {
        double y = place_y(d, bytes);
        fprintf(d->out,
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text><line x1=\"%d\" x2=\"%d\" "
                "y1=\"%.1f\" y2=\"%.1f\" stroke=\"#BBBBBB\" stroke-dasharray=\"2 4\"/>\n",
                LEFT - 6, y + 4,
                units_bytes(text, (int64_t)(bytes < 9e18 ? bytes : 9e18), UNIT_AUTO), LEFT, RIGHT,
                y, y);
    }
    fprintf(d->out, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT, BOTTOM + 18,
            still->axis == AXIS_TIME ? "time" : "allocator events");
    fprintf(d->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">black line: reserved</text>\n",
            RIGHT, BOTTOM + 18);
}

bool html_put_still(FILE *out, const struct html_page *page, struct error *err)
{
    size_t count = page->still->count;
    struct drawing d = {.out = out, .page = page, .top = highest(page->still)};
    double above[HTML_STILL], below[HTML_STILL] = {0};
    if (count > HTML_STILL)
        return error_set(err, STATUS_IO, "the still picture has too many columns");
    d.below = below;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-size=\"13\" "
            "font-family=\"sans-serif\">\n<rect width=\"%d\" height=\"%d\" fill=\"#FFFFFF\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    bool ok = put_areas(&d, above, err);
    put_reserved(&d, above);
    put_axes(&d);
    fputs("</svg>\n", out);
    return ok;
}
