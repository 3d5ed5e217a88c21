/* Size and sixel support of the terminal. */
#ifndef MEMSNAP_COMMANDS_PLOT_TERMINAL_H
#define MEMSNAP_COMMANDS_PLOT_TERMINAL_H

#include <stdbool.h>

struct terminal_size {
    unsigned columns, rows; /* $COLUMNS and $LINES, the terminal's own, or 80 by 24 */
    unsigned width, height; /* pixels; 0 if unknown */
};

/* The size of the terminal that `fd` is open on. */
struct terminal_size terminal_size(int fd);

/* Asks the terminal for its attributes (DA1) and returns true if it supports sixels; waits at most
 * half a second. Returns false without asking if standard output is not a terminal, $TERM is dumb,
 * the process is in the background, or typed input is waiting. */
bool terminal_has_sixel(void);

#endif
