/* What gnuplot drew for a terminal, on its way there: nothing in it may steer the terminal,
 * whatever gnuplot made of names from the input. */
#ifndef MEMSNAP_RENDER_PLOT_TERMINAL_H
#define MEMSNAP_RENDER_PLOT_TERMINAL_H

#include <stdio.h>

#include "base/error.h"

/* Of its terminal "dumb": lines, escaped, without blanks at their ends, and without the empty ones
 * before the first and after the last. False: out of memory. */
bool plot_lines_write(FILE *out, const char *bytes, size_t size, struct error *err);

/* Of its terminal "sixelgd": narrows the bytes to the one sixel image that they must consist of.
 * gnuplot 6 writes ESC [ H before it, which would move the cursor to the top left; that is left
 * out. STATUS_IO if there is anything else. */
bool plot_sixel_find(const char **bytes, size_t *size, struct error *err);

#endif
