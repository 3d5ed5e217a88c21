#include "render/plot/plot.h"

#include <stddef.h>
#include <string.h>

#include "base/buffer.h"
#include "render/core/escape.h"

#define WORDS_FONT      13.4 /* pixels: that of subtitles, largest in a PNG */
#define WORDS_FROM_EDGE 10   /* pixels, at least */

const char *const plot_formats[] = {"svg", "png", "pdf", "html", NULL};

void plot_put_text(FILE *script, const char *name, const char *text, size_t most)
{
    struct buffer escaped = BUFFER_INIT;
    escape_plot(&escaped, text, strlen(text), most);
    fprintf(script, "%s = '%s'\n", name, escaped.size && !escaped.failed ? escaped.bytes : "");
    buffer_release(&escaped);
}

/* Upper bounds of the widths of characters, in hundredths of the font size: gnuplot draws in
 * Liberation Sans, or where that is not installed often in DejaVu Sans, whose letters are about an
 * eighth wider. */
static unsigned letter_width(char letter)
{
    if ((letter & 0xc0) == 0x80)
        return 0; /* a continuation byte, which belongs to the previous letter */
    if (strchr("ijl'", letter))
        return 28;
    if (strchr(" !,./:;I|", letter))
        return 34;
    if (strchr("()-r[]ft", letter))
        return 41;
    if (strchr("Jcsz", letter))
        return 55;
    if (strchr("kvxy", letter))
        return 59;
    if (letter == 'w')
        return 82;
    return strchr("%MWm", letter) ? 99 : letter >= 'A' && letter <= 'Z' ? 77 : 64;
}

size_t plot_fitting(const struct plot_look *look, const char *text, double font, double pixels)
{
    size_t words = 0, at = 0;
    double width = 0;
    for (; text[at]; at++) {
        words = text[at] == ' ' ? at : words;
        width += look->format == PLOT_DUMB ? ((text[at] & 0xc0) != 0x80) * PLOT_CELL_WIDTH
                                           : letter_width(text[at]) * font / 100;
        if (width > pixels)
            return words > 0 || text[at] == ' ' ? words : at;
    }
    return at;
}

static void put_beginning(FILE *script, const char *name, const char *text, size_t size,
                          const char *after)
{
    struct buffer beginning = BUFFER_INIT;
    buffer_add(&beginning, text, size);
    buffer_puts(&beginning, after);
    plot_put_text(script, name, beginning.failed || !beginning.size ? "" : beginning.bytes,
                  SIZE_MAX);
    buffer_release(&beginning);
}

void plot_put_words(FILE *script, const struct plot_look *look, struct plot_margins margins,
                    const char *subtitle, const char *note)
{
    unsigned around = margins.title_left + WORDS_FROM_EDGE;
    double pixels = margins.words ? margins.words : look->width - (double)around;
    struct buffer rest = BUFFER_INIT;
    size_t cut = plot_fitting(look, subtitle, WORDS_FONT, pixels);
    const char *after = subtitle + cut;
    buffer_puts(&rest, *after == ' ' ? after + 1 : after);
    bool continues = rest.size > 0;
    if (continues && *note)
        buffer_puts(&rest, "; ");
    buffer_puts(&rest, note);
    const char *second = rest.size && !rest.failed ? rest.bytes : "";
    put_beginning(script, "plot_subtitle", subtitle, cut, "");
    size_t shown = plot_fitting(look, second, WORDS_FONT, pixels);
    put_beginning(script, "plot_note", second, shown, second[shown] ? "\xe2\x80\xa6" : "");
    fprintf(script, "note_colour = '%s'\n", continues ? "#333333" : "#666666");
    buffer_release(&rest);
}

static void put_terminal(FILE *script, const struct plot_look *look)
{
    if (look->format == PLOT_SVG)
        fprintf(script,
                "set terminal svg size %u,%u dynamic noenhanced font 'Liberation Sans,13' "
                "background '#FFFFFF'\n",
                look->width, look->height);
    else if (look->format == PLOT_PNG)
        fprintf(script,
                "set terminal pngcairo size %u,%u noenhanced font 'Liberation Sans,10' "
                "background '#FFFFFF'\n",
                look->width, look->height);
    else if (look->format == PLOT_SIXEL)
        fprintf(script,
                "set terminal sixelgd truecolor size %u,%u noenhanced font 'Liberation Sans,10' "
                "fontscale 0.8 "
                "background '#FFFFFF'\n",
                look->width, look->height);
    else if (look->format == PLOT_DUMB)
        fprintf(script, "set terminal dumb mono noenhanced size %u,%u\n",
                look->width / PLOT_CELL_WIDTH, look->height / PLOT_CELL_HEIGHT);
    else
        /* a pixel is a hundredth of an inch; without the scales text and lines are two thirds and
         * half as large as in the others */
        fprintf(script,
                "set terminal pdfcairo size %.2f,%.2f noenhanced font 'Liberation Sans,9' "
                "fontscale 0.75 linewidth 2\n",
                look->width / 100.0, look->height / 100.0);
    /* To SVG's terminal a character is half as high again as to the others: what is measured in
     * characters must go as many pixels there. */
    bool is_svg = look->format == PLOT_SVG;
    fprintf(script, "label_lift = %g\ntic_lift = %g\nkey_spacing = %g\n", is_svg ? 0.7 : 0,
            is_svg ? 0.4 : 0, is_svg ? 1.04 : 1.35);
    if (look->format < PLOT_SIXEL)
        fprintf(script, "if (!exists('to_stdout')) set output '%s.%s'\n", look->kind,
                plot_formats[look->format]);
}

void plot_begin(FILE *script, const struct plot_look *look)
{
    fputs("# Made by memsnap plot; gnuplot 5.4 or later draws it: gnuplot plot.gp\n"
          "set encoding utf8\n",
          script);
    put_terminal(script, look);
}

double plot_graph_width(const struct plot_look *look, struct plot_margins margins)
{
    double width = (double)look->width - margins.left - margins.right;
    return width > 1 ? width : 1;
}

double plot_graph_height(const struct plot_look *look, struct plot_margins margins)
{
    double height = (double)look->height - margins.top - margins.bottom;
    return height > 1 ? height : 1;
}

void plot_put_margins(FILE *script, const struct plot_look *look, struct plot_margins margins)
{
    double width = look->width, height = look->height;
    fprintf(script, "left = %.6f\nright = %.6f\ntop = %.6f\nbottom = %.6f\n", margins.left / width,
            1 - margins.right / width, 1 - margins.top / height, margins.bottom / height);
    fprintf(script, "title_y = %.6f\nsubtitle_y = %.6f\nnote_y = %.6f\n",
            1 - margins.title / height, 1 - margins.subtitle / height, 1 - margins.note / height);
    fprintf(script, "title_x = %.6f\ntitle_font = ',%u'\n", margins.title_left / width,
            margins.font);
}

double plot_unit(double bytes, const char **name)
{
    static const char *const names[] = {"bytes", "KiB", "MiB", "GiB"};
    double unit = 1;
    size_t i = 0;
    for (; i < 3 && bytes >= 1024 * unit; i++)
        unit *= 1024;
    *name = names[i];
    return unit;
}

/* Colours that are distinguishable under the three common kinds of colour-blindness; categories
 * beyond memsnap's own reuse them in turn. From the lowest in a stack to the highest. */
static const struct {
    enum category category;
    unsigned colour;
} colours[] = {
    {CATEGORY_UNKNOWN, 0x6E6E6E},         {CATEGORY_PARAMETER, 0x0072B2},
    {CATEGORY_OPTIMIZER_STATE, 0x009E73}, {CATEGORY_WORKSPACE, 0x999933},
    {CATEGORY_KV_CACHE, 0x661100},        {CATEGORY_CAST_CACHE, 0xB4A7D6},
    {CATEGORY_GRADIENT, 0xD55E00},        {CATEGORY_INPUT, 0x882255},
    {CATEGORY_ACTIVATION, 0xF0C63C},      {CATEGORY_AUTOGRAD_DETAIL, 0x56B4E9},
    {CATEGORY_TEMPORARY, 0xCC79A7},       {CATEGORY_COMMUNICATION, 0x332288},
};

static const unsigned own_colours[] = {0x44AA99, 0xAA4499, 0x117733, 0xDDCC77, 0xAA7744};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

unsigned plot_category_colour(size_t category)
{
    for (size_t i = 0; i < COUNT(colours); i++)
        if (colours[i].category == category)
            return colours[i].colour;
    return category == CATEGORY_COUNT ? PLOT_REST : own_colours[category % COUNT(own_colours)];
}

void plot_category_name(char out[80], size_t category)
{
    snprintf(out, 80, "%s", category_name((enum category)category));
    for (char *c = out; category <= CATEGORY_COUNT && *c; c++)
        *c = *c == '_' ? ' ' : *c;
}

void plot_category_order(uint8_t order[CATEGORY_LIMIT])
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT(colours); i++)
        order[count++] = (uint8_t)colours[i].category;
    for (size_t category = CATEGORY_COUNT + 1; category < CATEGORY_LIMIT; category++)
        order[count++] = (uint8_t)category;
    order[count] = CATEGORY_COUNT;
}

unsigned plot_shade(unsigned colour, size_t number)
{
    static const unsigned keep[] = {256, 236, 216};
    unsigned share = keep[number % COUNT(keep)], result = 0;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        unsigned part = (colour >> shift) & 0xFF;
        result |= (255 - (255 - part) * share / 256) << shift;
    }
    return result;
}

unsigned plot_text_colour(unsigned colour)
{
    unsigned light =
        299 * (colour >> 16 & 0xFF) + 587 * (colour >> 8 & 0xFF) + 114 * (colour & 0xFF);
    return light < 145 * 1000 ? 0xFFFFFF : 0;
}
