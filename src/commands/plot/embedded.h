/* The templates of share/plots, as they were when the program was built. */
#ifndef MEMSNAP_COMMANDS_PLOT_EMBEDDED_H
#define MEMSNAP_COMMANDS_PLOT_EMBEDDED_H

#include <stddef.h>

struct plot_embedded {
    const char *name; /* of the file; NULL in the last row */
    const unsigned char *bytes;
    size_t size;
};

extern const struct plot_embedded plot_embedded[];

#endif
