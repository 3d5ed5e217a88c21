/* From an allocator snapshot to gnuplot's script and data. */
#ifndef MEMSNAP_COMMANDS_PLOT_DRAW_H
#define MEMSNAP_COMMANDS_PLOT_DRAW_H

#include "commands/plot_options.h"

/* Reads `fd`, which it closes, and writes the files. */
bool plot_draw(const struct plot_options *options, int fd, const char *template,
               const struct load_progress *progress, FILE *const files[PLOT_FILES],
               struct error *err);

#endif
