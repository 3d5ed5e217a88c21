/* The options of `memsnap dryrun`. */
#ifndef MEMSNAP_COMMANDS_DRYRUN_OPTIONS_H
#define MEMSNAP_COMMANDS_DRYRUN_OPTIONS_H

#include "commands/cli/command.h"
#include "dryrun/core/cards.h"

struct dryrun_options {
    const struct card *card;
    uint64_t memory; /* bytes of a GPU; 0: as the card has */
    uint64_t other;  /* bytes in use by others */
    uint64_t devices, steps, late;
    const char *allocator; /* PYTORCH_CUDA_ALLOC_CONF; NULL: as in the environment */
    const char *output;
    bool all_stacks, is_lenient, json, list;
};

extern const struct option_spec dryrun_option_specs[];

void dryrun_options_begin(struct dryrun_options *options);
bool dryrun_option(int option, void *options, struct error *err);

#endif
