/* Rows of a picture made of characters: a name, a bar of letters, and figures. text-rows.gp draws
 * them. */
#ifndef MEMSNAP_RENDER_PLOT_TEXT_ROWS_H
#define MEMSNAP_RENDER_PLOT_TEXT_ROWS_H

#include <stddef.h>
#include <stdio.h>

#include "render/plot/plot.h"

#define PLOT_TEXT_BAR 400 /* characters */

struct plot_text_rows {
    FILE *out;
    unsigned name_cells;
    double column_bytes; /* of a letter */
    size_t rows;         /* written so far */
};

/* Writes the settings. `most` is the longest bar in bytes, `figures` the most letters after it. */
void plot_text_rows_begin(struct plot_text_rows *rows, FILE *script, FILE *out,
                          const struct plot_look *look, double most, size_t figures);
/* Number of rows that fit below the titles. */
size_t plot_text_rows_room(const struct plot_look *look);
/* Number of letters of a name. */
size_t plot_text_rows_letters(const struct plot_look *look);
/* Adds a row. `name` is escaped; `letters` has one for each of `count` parts of the bar. */
void plot_text_rows_add(struct plot_text_rows *rows, unsigned indent, const char *name,
                        const double *bytes, const char *letters, size_t count,
                        const char *figures);

#endif
