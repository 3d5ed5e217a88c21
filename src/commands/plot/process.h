/* The two processes of a plot: one that reads the input and writes script and data, and gnuplot. */
#ifndef MEMSNAP_COMMANDS_PLOT_PROCESS_H
#define MEMSNAP_COMMANDS_PLOT_PROCESS_H

#include "base/error.h"

/* Blocks signals that would end the program until plot_signals_release(), so that it can clean up.
 * Such a signal ends the process that the program waits for. */
void plot_signals_hold(void);
/* Ends the program if such a signal arrived. */
void plot_signals_release(void);

/* Runs `work` in a child process, which reports its failures itself, and sets its status. False if
 * the process could not be started, crashed, or was ended by a signal: "interrupted" if that was
 * sent to this process as well. */
bool plot_run_apart(enum status (*work)(void *self), void *self, enum status *status,
                    struct error *err);

/* The path of gnuplot on PATH, malloc'ed; NULL with an error that says what to install. */
char *plot_find_gnuplot(struct error *err);
/* True if this gnuplot has that terminal. */
bool plot_gnuplot_has(const char *gnuplot, const char *terminal);
/* Draws plot.gp of the folder; the picture goes to `fd`. */
bool plot_run_gnuplot(const char *gnuplot, const char *folder, int fd, struct error *err);

#endif
