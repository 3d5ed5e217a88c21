/* The templates of share/plots, embedded at build time. */
#ifndef MEMSNAP_COMMANDS_PLOT_EMBEDDED_H
#define MEMSNAP_COMMANDS_PLOT_EMBEDDED_H

#include <stddef.h>

struct plot_embedded {
    const char *name; /* file name; NULL ends the table */
    const unsigned char *bytes;
    size_t size;
};

extern const struct plot_embedded plot_embedded[];

#endif
