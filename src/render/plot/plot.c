#include "render/plot/plot.h"

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

/* In hundredths of the size of Liberation Sans, whose letters are as wide as Arial's. */
static unsigned letter_width(char letter)
{
    if ((letter & 0xc0) == 0x80)
        return 0; /* of the letter before */
    if (strchr("ijl'|", letter))
        return 22;
    if (strchr(" !,./:;I[]ft", letter))
        return 28;
    if (strchr("()-r", letter))
        return 33;
    if (strchr("Jcksvxyz", letter))
        return 50;
    return strchr("%MWm", letter) ? 89 : letter >= 'A' && letter <= 'Z' ? 70 : 56;
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
                          const char *behind)
{
    struct buffer beginning = BUFFER_INIT;
    buffer_add(&beginning, text, size);
    buffer_puts(&beginning, behind);
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
    const char *behind = subtitle + cut;
    buffer_puts(&rest, *behind == ' ' ? behind + 1 : behind);
    if (rest.size > 0 && *note)
        buffer_puts(&rest, "; ");
    buffer_puts(&rest, note);
    const char *second = rest.size && !rest.failed ? rest.bytes : "";
    put_beginning(script, "plot_subtitle", subtitle, cut, "");
    size_t shown = plot_fitting(look, second, WORDS_FONT, pixels);
    put_beginning(script, "plot_note", second, shown, second[shown] ? "\xe2\x80\xa6" : "");
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
