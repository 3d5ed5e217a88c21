/* The options of `memsnap flame`. */
#ifndef MEMSNAP_COMMANDS_FLAME_OPTIONS_H
#define MEMSNAP_COMMANDS_FLAME_OPTIONS_H

#include "analysis/flame/flame.h"
#include "commands/cli/capture.h"
#include "commands/cli/command.h"

struct flame_command {
    struct capture_options capture;
    struct flame_options flame;
    bool speedscope;    /* false: folded */
    const char *rules;  /* file of the user's own rules, "none", or NULL: the usual one */
    const char *output; /* NULL: standard output */
};

extern const struct option_spec flame_option_specs[];

/* Takes in one option, with its argument in optarg. */
bool flame_option(int option, void *to, struct error *err);
/* Once all are taken in: false where they do not go together. */
bool flame_options_complete(const struct flame_command *options, struct error *err);

#endif
