#include "render/plot.h"

#include <string.h>

#include "base/buffer.h"
#include "render/escape.h"

#define PLOT_WORD_CHARACTER 6.0 /* pixels of a letter in a sentence, about */

const char *const plot_formats[] = {"svg", "png", "pdf", "html", NULL};

void plot_put_text(FILE *script, const char *name, const char *text, size_t most)
{
    struct buffer escaped = BUFFER_INIT;
    escape_plot(&escaped, text, strlen(text), most);
    fprintf(script, "%s = '%s'\n", name, escaped.size && !escaped.failed ? escaped.bytes : "");
    buffer_release(&escaped);
}

void plot_put_words(FILE *script, const struct plot_look *look, struct plot_margins margins,
                    const char *subtitle, const char *note)
{
    unsigned pixels = margins.words ? margins.words : look->width;
    size_t most = (size_t)(pixels / PLOT_WORD_CHARACTER), cut = strlen(subtitle);
    struct buffer first = BUFFER_INIT, second = BUFFER_INIT;
    if (cut > most)
        for (cut = most; cut > most / 2 && subtitle[cut] != ' ';)
            cut--;
    buffer_add(&first, subtitle, cut);
    buffer_puts(&second, subtitle[cut] == ' ' ? subtitle + cut + 1 : subtitle + cut);
    if (second.size > 0 && *note)
        buffer_puts(&second, "; ");
    buffer_puts(&second, note);
    bool ok = !first.failed && !second.failed;
    plot_put_text(script, "plot_subtitle", ok && first.size ? first.bytes : "", most);
    plot_put_text(script, "plot_note", ok && second.size ? second.bytes : "", most);
    buffer_release(&first);
    buffer_release(&second);
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
    plot_put_text(script, "plot_title", look->title, PLOT_TEXT);
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
