/* "Did you mean ...?" */
#ifndef MEMSNAP_COMMANDS_CLI_CLOSEST_H
#define MEMSNAP_COMMANDS_CLI_CLOSEST_H

#include <stddef.h>

struct closest {
    const char *word; /* what was typed */
    const char *best; /* NULL while nothing is near enough */
    size_t distance;
};

/* Feed every candidate; `best` is the nearest that a slip of the fingers explains. */
void closest_offer(struct closest *closest, const char *candidate);

#endif
