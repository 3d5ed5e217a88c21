/* The two processes of a plot: one that reads the input and writes script and data, and gnuplot. */
#ifndef MEMSNAP_COMMANDS_PLOT_PROCESS_H
#define MEMSNAP_COMMANDS_PLOT_PROCESS_H

#include "base/error.h"

/* Keeps signals that would end the program until plot_signals_release(), so that it can clean up:
 * a process it waits for is then ended at once. */
void plot_signals_hold(void);
/* Ends the program by such a signal, if there was one. */
void plot_signals_release(void);

/* Runs `work` in a process of its own, which ends with what it returns. STATUS_IO if it could not
 * be started or did not end by itself. `*told`: false where nobody has said yet what failed. */
enum status plot_run_apart(enum status (*work)(void *self), void *self, bool *told);

/* The path of gnuplot on PATH, malloc'ed; NULL, saying what to install, where there is none. */
char *plot_find_gnuplot(struct error *err);
/* True if this gnuplot has that terminal. */
bool plot_gnuplot_has(const char *gnuplot, const char *terminal);
/* Draws plot.gp of the folder; the picture goes to `fd`. */
bool plot_run_gnuplot(const char *gnuplot, const char *folder, int fd, struct error *err);

#endif
