/* Which files a command works on. */
#ifndef MEMSNAP_COMMANDS_INPUTS_H
#define MEMSNAP_COMMANDS_INPUTS_H

#include <stddef.h>

#include "base/error.h"

struct inputs {
    char **paths; /* the command line's, or &found */
    size_t count;
    char *found;
};

/* What is named on the command line (argv[0..count)); else $MEMSNAP_INPUT; else the newest capture
 * in the current folder, which is then told on standard error. Where there is none, says how to
 * record one and returns STATUS_USAGE. */
enum status inputs_choose(struct inputs *inputs, char **argv, int count);
void inputs_release(struct inputs *inputs);

/* Opens for reading; "-" is standard input. The descriptor, or -1. */
int input_open(const char *path, struct error *err);

#endif
