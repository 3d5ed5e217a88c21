/* What gnuplot drew for a terminal, on its way there: nothing in it may steer the terminal,
 * whatever gnuplot made of names from the input. */
#ifndef MEMSNAP_RENDER_PLOT_TERMINAL_H
#define MEMSNAP_RENDER_PLOT_TERMINAL_H

#include <stdio.h>

#include "base/error.h"

/* Of its terminal "dumb": lines, escaped, without blanks at their ends, and without the empty ones
 * before the first and after the last. False: out of memory. */
bool plot_lines_write(FILE *out, const char *bytes, size_t size, struct error *err);

/* Of its terminal "sixelgd": that it is one sixel image and nothing else. STATUS_IO if not. */
bool plot_sixel_check(const char *bytes, size_t size, struct error *err);

#endif
