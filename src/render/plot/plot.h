/* Pictures as gnuplot draws them: a script and its tab-separated data. Text from the input stands
 * in them only as escape_plot() leaves it.
 *
 * A script is the settings that a kind of picture writes, and after them its templates (folder
 * share/plots); script.h says what a setting may be. What all kinds have in common is here, and
 * time.h has what pictures over time have in common. */
#ifndef MEMSNAP_RENDER_PLOT_PLOT_H
#define MEMSNAP_RENDER_PLOT_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/code/reason.h"
#include "base/error.h"

/* File formats, named by their extensions, then terminal formats. All but PLOT_HTML are drawn by
 * gnuplot. */
enum plot_format { PLOT_SVG, PLOT_PNG, PLOT_PDF, PLOT_HTML, PLOT_SIXEL, PLOT_DUMB };

extern const char *const plot_formats[]; /* of files: "svg", ..., "html", NULL */

#define PLOT_TEXT        120 /* characters of a text that has a line for itself */
#define PLOT_CHARACTER   6.7 /* approximate width of a letter of the small font, in pixels */
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

/* Writes the beginning of a script, which settings cannot change: terminal and output, label_lift,
 * tic_lift (characters by which text below the axis is raised) and key_spacing. */
void plot_begin(FILE *script, const struct plot_look *look);
/* Writes the setting NAME = 'TEXT'. The text may be raw bytes; at most `most` characters are
 * kept. */
void plot_put_text(FILE *script, const char *name, const char *text, size_t most);
/* Number of bytes of a text that fit in `pixels` at a font height of `font` pixels: all of them, or
 * those up to the last space that fits. A word that is too long is cut. */
size_t plot_fitting(const struct plot_look *look, const char *text, double font, double pixels);
/* The position of a graph in the picture, in pixels: its margins, and the distance from the top of
 * the title, of the subtitle and of the note below it. */
struct plot_margins {
    unsigned left, right, top, bottom;
    unsigned title, subtitle, note, title_left;
    unsigned font;  /* the title's size */
    unsigned words; /* the longest line in pixels; 0: as wide as the picture */
    bool is_panel;  /* one of several graphs: only what it needs */
};
#define PLOT_TITLES 28, 55, 76, 32, 16, 0, false

/* Width and height of the graph in pixels; 1 if the margins leave nothing. */
double plot_graph_width(const struct plot_look *look, struct plot_margins margins);
double plot_graph_height(const struct plot_look *look, struct plot_margins margins);
/* left, right, top, bottom, title_y, subtitle_y, note_y, title_x, title_font: the same as shares of
 * the picture. */
void plot_put_margins(FILE *script, const struct plot_look *look, struct plot_margins margins);
/* Writes plot_subtitle and plot_note, both raw bytes, and note_colour. The part of the subtitle
 * that does not fit the width is moved to the start of the note, which then has its colour. */
void plot_put_words(FILE *script, const struct plot_look *look, struct plot_margins margins,
                    const char *subtitle, const char *note);

/* The largest unit in which `bytes` are 1 or more, in bytes; `*name` is "MiB". */
double plot_unit(double bytes, const char **name);

unsigned plot_category_colour(size_t category);
/* "optimizer state" */
void plot_category_name(char out[80], size_t category);
/* All categories, from the lowest in a stack to the highest; CATEGORY_COUNT comes last. */
void plot_category_order(uint8_t order[CATEGORY_LIMIT]);
/* A shade of `colour`, to tell neighbours of the same colour apart. */
unsigned plot_shade(unsigned colour, size_t number);
/* Black or white, whichever is more readable on `colour`. */
unsigned plot_text_colour(unsigned colour);

#endif
