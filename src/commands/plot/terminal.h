/* The terminal that a picture goes to: how large it is, and whether it shows more than text. */
#ifndef MEMSNAP_COMMANDS_PLOT_TERMINAL_H
#define MEMSNAP_COMMANDS_PLOT_TERMINAL_H

#include <stdbool.h>

struct terminal_size {
    unsigned columns, rows; /* $COLUMNS and $LINES, the terminal's own, or 80 by 24 */
    unsigned width, height; /* pixels; 0 where the terminal does not tell */
};

/* The size of the terminal that `fd` is open on. */
struct terminal_size terminal_size(int fd);

/* Whether the terminal says that it draws sixels: asks it for its attributes (DA1) and waits half a
 * second at most. False without asking where standard output is no terminal, where $TERM is dumb,
 * for a process in the background, and where something typed waits to be read. */
bool terminal_has_sixel(void);

#endif
