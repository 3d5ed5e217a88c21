/* The two processes of a plot: one that reads the input and writes script and data, and gnuplot. */
#ifndef MEMSNAP_COMMANDS_PLOT_PROCESS_H
#define MEMSNAP_COMMANDS_PLOT_PROCESS_H

#include "base/error.h"

/* Blocks signals that would end the program until plot_signals_release(), so that it can clean up.
 * Such a signal ends the process that the program waits for. */
void plot_signals_hold(void);
/* Ends the program if such a signal arrived. */
void plot_signals_release(void);

/* Runs `work` in a child process and returns its status; STATUS_IO if the process could not be
 * started or crashed. `*told` is false if the failure has not been reported yet. */
enum status plot_run_apart(enum status (*work)(void *self), void *self, bool *told);

/* The path of gnuplot on PATH, malloc'ed; NULL with an error that says what to install. */
char *plot_find_gnuplot(struct error *err);
/* True if this gnuplot has that terminal. */
bool plot_gnuplot_has(const char *gnuplot, const char *terminal);
/* Draws plot.gp of the folder; the picture goes to `fd`. */
bool plot_run_gnuplot(const char *gnuplot, const char *folder, int fd, struct error *err);

#endif
