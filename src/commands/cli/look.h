/* Looks at files that the user did not name one by one, in a process in the sandbox. */
#ifndef MEMSNAP_COMMANDS_CLI_LOOK_H
#define MEMSNAP_COMMANDS_CLI_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/core/sniff.h"

typedef bool wants_kind(enum file_kind kind);

/* The files that a command reads, by their content. */
struct look_for {
    wants_kind *kinds; /* NULL: none */
    bool logs;         /* texts */
    bool told_logs;    /* texts with out-of-memory errors, or with tables of memory_summary() */
    bool pickles;      /* of any kind */
};

#define LOOK_ABOUT 256 /* bytes of a description */

struct look {
    bool wanted;
    bool is_empty;
    int64_t rank;           /* the rank that a profiler trace states; -1: none */
    char about[LOOK_ABOUT]; /* what a file is that is not wanted: "an HTML page"; empty if it could
                             * not be read */
};

/* Fills one struct look for each path. Files that cannot be read are not wanted. */
void look_at_files(char *const *paths, size_t count, const struct look_for *what,
                   struct look *looks);

#endif
