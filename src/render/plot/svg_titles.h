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
/* Begins a title with the text so far, as one line: names from the input may contain line feeds. */
void svg_title_begin(struct buffer *title);
/* Notes a title of several lines: raw bytes, whose line feeds are kept. */
bool svg_titles_note(FILE *notes, const struct svg_shape *shape, const struct buffer *title,
                     struct error *err);

/* The most shapes of a picture that have a title: as many as a browser reads in a fifth of a
 * second. */
#define SVG_TITLES_MOST 3000

/* The size of the smallest shape that gets a title: at least `least`, and large enough that at most
 * SVG_TITLES_MOST of the `count` shapes get one. */
typedef double svg_size_of(const void *self, size_t i);
double svg_titles_least(double least, size_t count, svg_size_of *size_of, const void *self);

/* A box, in pixels of the picture from its top left. */
struct svg_box {
    unsigned colour;
    double left, right, top, bottom;
};

/* Notes the title of a box, unless the box is too thin to be pointed at. */
bool svg_titles_note_box(FILE *notes, const struct svg_box *box, const struct buffer *title,
                         struct error *err);

/* Copies the SVG with the titles of the notes in place of gnuplot's own. Both files are read from
 * their current position. Without notes, only the picture has a title. */
bool svg_titles_add(FILE *svg, FILE *notes, FILE *out, struct error *err);

#endif
