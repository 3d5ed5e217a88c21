/* Pictures as gnuplot draws them: a script and its tab-separated data. Text from the input stands
 * in them only as escape_plot() leaves it.
 *
 * A script is the settings that a kind of picture writes, and after them its templates (folder
 * share/plots); script.h says what a setting may be. What kinds have in common is here; plot_time.h
 * has what pictures over time share, and plot_KIND.h each kind's own. */
#ifndef MEMSNAP_RENDER_PLOT_PLOT_H
#define MEMSNAP_RENDER_PLOT_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/code/reason.h"
#include "base/error.h"

/* Those of files, by their endings, PLOT_HTML not drawn by gnuplot; then those of terminals. */
enum plot_format { PLOT_SVG, PLOT_PNG, PLOT_PDF, PLOT_HTML, PLOT_SIXEL, PLOT_DUMB };

extern const char *const plot_formats[]; /* of files: "svg", ..., "html", NULL */

#define PLOT_TEXT        120 /* characters of a text that has a line for itself */
#define PLOT_CHARACTER   6.7 /* pixels that a letter of the small font takes, about */
#define PLOT_TEXT_LINES  14  /* pixels */
#define PLOT_CELL_WIDTH  7   /* of PLOT_DUMB */
#define PLOT_CELL_HEIGHT 14
#define PLOT_REST        0xDDDDDD

struct plot_look {
    const char *kind; /* its name */
    enum plot_format format;
    unsigned width, height; /* pixels; PLOT_DUMB: PLOT_CELL_* of them a character */
    const char *title;      /* raw bytes */
};

/* The beginning of a script, which is not for the settings: terminal and output; label_lift,
 * tic_lift (characters by which text below the axis is raised) and key_spacing. */
void plot_begin(FILE *script, const struct plot_look *look);
/* NAME = 'TEXT', which may be raw bytes. */
void plot_put_text(FILE *script, const char *name, const char *text, size_t most);
/* How many bytes of a text fit, its letters `font` pixels high: all, or up to the last space that
 * does; a word that is too long is cut. */
size_t plot_fitting(const struct plot_look *look, const char *text, double font, double pixels);
/* Where a graph is in the picture: pixels from its sides, and the title, the line below it and the
 * one below that, from the top. */
struct plot_margins {
    unsigned left, right, top, bottom;
    unsigned title, subtitle, note, title_left;
    unsigned font;  /* the title's size */
    unsigned words; /* pixels that lines may be long; 0: as wide as the picture */
    bool is_panel;  /* one of several graphs: only what it needs */
};
#define PLOT_TITLES 28, 55, 76, 32, 16, 0, false

/* Pixels of the graph; 1 where margins leave nothing. */
double plot_graph_width(const struct plot_look *look, struct plot_margins margins);
double plot_graph_height(const struct plot_look *look, struct plot_margins margins);
/* left, right, top, bottom, title_y, subtitle_y, note_y, title_x, title_font: the same as shares of
 * the picture. */
void plot_put_margins(FILE *script, const struct plot_look *look, struct plot_margins margins);
/* plot_subtitle and plot_note: what goes beyond the picture's width in the one goes before the
 * other. Raw bytes. */
void plot_put_words(FILE *script, const struct plot_look *look, struct plot_margins margins,
                    const char *subtitle, const char *note);

/* The largest unit in which `bytes` are 1 or more, in bytes; `*name` is "MiB". */
double plot_unit(double bytes, const char **name);

unsigned plot_category_colour(size_t category);
/* "optimizer state" */
void plot_category_name(char out[80], size_t category);
/* All categories, CATEGORY_COUNT as the last: from the lowest in a stack to the highest. */
void plot_category_order(uint8_t order[CATEGORY_LIMIT]);
/* Neighbours of one colour are told apart by its shades. */
unsigned plot_shade(unsigned colour, size_t number);
/* Black or white, whichever is read better on `colour`. */
unsigned plot_text_colour(unsigned colour);

#endif
