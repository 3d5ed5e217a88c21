/* Tooltips: titles of shapes in the SVG that gnuplot drew.
 *
 * gnuplot cannot write titles of shapes. So the code that writes the data also notes where each
 * polygon will be and its title, in drawing order; afterwards the polygons of the SVG are compared
 * with the notes. A title goes only to a polygon of the noted colour,
 * number of points, and first and last point: where a script draws other shapes than those noted,
 * they have none rather than another's. */
#ifndef MEMSNAP_RENDER_PLOT_SVG_TITLES_H
#define MEMSNAP_RENDER_PLOT_SVG_TITLES_H

#include <stdio.h>

#include "base/buffer.h"
#include "base/error.h"

struct svg_shape {
    unsigned colour;
    size_t points; /* 0: all shapes of the colour that follow one another, and begin and end in a
                      box */
    double x[2], y[2]; /* the first point and the last, in pixels of the picture from its top left;
                          or the box's sides, left before right and top before bottom */
};

/* Begins the notes of a picture with this title, raw bytes. */
bool svg_titles_begin(FILE *notes, const char *title, struct error *err);
/* Makes one line of what a title begins with: names from the input have line feeds as they like. */
void svg_title_begin(struct buffer *title);
/* Lines of a title: raw bytes, whose line feeds are kept. */
bool svg_titles_note(FILE *notes, const struct svg_shape *shape, const struct buffer *title,
                     struct error *err);

/* Shapes of a picture that have a title, at most: as many as a browser reads in a fifth of a
 * second. */
#define SVG_TITLES_MOST 3000

/* How large a shape must be to have one, from `least` on, by the sizes of all `count`. */
typedef double svg_size_of(const void *self, size_t i);
double svg_titles_least(double least, size_t count, svg_size_of *size_of, const void *self);

/* A box, in pixels of the picture from its top left. */
struct svg_box {
    unsigned colour;
    double left, right, top, bottom;
};

/* The same for a box; one that is too thin to be pointed at is left out. */
bool svg_titles_note_box(FILE *notes, const struct svg_box *box, const struct buffer *title,
                         struct error *err);

/* Copies the SVG, with the titles of the notes and without gnuplot's own; both are read from where
 * they stand. Without notes there is no title but the picture's. */
bool svg_titles_add(FILE *svg, FILE *notes, FILE *out, struct error *err);

#endif
