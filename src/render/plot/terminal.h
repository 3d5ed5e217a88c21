/* Filters gnuplot's output on its way to the terminal. It may contain names from the input, and
 * must not be able to send control sequences. */
#ifndef MEMSNAP_RENDER_PLOT_TERMINAL_H
#define MEMSNAP_RENDER_PLOT_TERMINAL_H

#include <stdio.h>

#include "base/error.h"

/* Output of gnuplot's "dumb" terminal: escapes the lines, strips trailing blanks, and drops empty
 * lines at the beginning and at the end. False: out of memory. */
bool plot_lines_write(FILE *out, const char *bytes, size_t size, struct error *err);

/* Output of gnuplot's "sixelgd" terminal: narrows the bytes to the one sixel image they must
 * consist of. The ESC [ H that gnuplot 6 writes before it, which would move the cursor to the top
 * left, is dropped. STATUS_IO if there is anything else. */
bool plot_sixel_find(const char **bytes, size_t *size, struct error *err);

#endif
