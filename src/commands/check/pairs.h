/* Which capture of a folder each file is compared with: that of the same rank. */
#ifndef MEMSNAP_COMMANDS_CHECK_PAIRS_H
#define MEMSNAP_COMMANDS_CHECK_PAIRS_H

#include "commands/cli/choice.h"
#include "commands/cli/inputs.h"

#define PAIR_NONE SIZE_MAX

struct baseline_pair {
    size_t baseline;  /* its index, or PAIR_NONE */
    struct error err; /* PAIR_NONE: why there is none */
};

/* Fills a pair for each file. */
bool baseline_pairs_make(struct baseline_pair *pairs, const struct inputs *files,
                         const struct inputs *baselines, const struct file_choice *choice,
                         struct error *err);

#endif
