/* Which files a command works on. */
#ifndef MEMSNAP_COMMANDS_CLI_INPUTS_H
#define MEMSNAP_COMMANDS_CLI_INPUTS_H

#include <stddef.h>
#include <sys/stat.h>

#include "base/error.h"

/* A file that is open, or why it is not. */
struct opened_input {
    int fd; /* -1: see err, or taken by who reads it */
    struct error err;
};

struct inputs {
    char **paths; /* the command line's, or &found */
    size_t count;
    char *found;
    struct opened_input *opened; /* one a path, once inputs_open() was called */
};

/* What is named on the command line (argv[0..count)); else $MEMSNAP_INPUT; else the newest capture
 * in the current folder, which is then told on standard error. Where there is none, says how to
 * record one and returns STATUS_USAGE. */
enum status inputs_choose(struct inputs *inputs, char **argv, int count);
void inputs_release(struct inputs *inputs);

/* Opens all, so that nothing needs to be opened later. A file that cannot be opened is no failure
 * yet: inputs_take() tells. More files than the system lets a program have open are one, and so is
 * standard input named twice. */
bool inputs_open(struct inputs *inputs, struct error *err);
/* The descriptor of input `index`, which is the caller's from now on; false: it was not opened. */
bool inputs_take(struct inputs *inputs, size_t index, int *fd, struct error *err);

/* Opens a file for reading, whichever option names it. "-" is standard input, which only one of
 * them can have: STATUS_USAGE. The descriptor, or -1 with errno as open() set it. */
int input_open(const char *path, struct error *err);
/* Whether this is a regular file that input_open() has opened since the program started. */
bool input_is_open(const struct stat *file);

#endif
