/* Which files a command works on. */
#ifndef MEMSNAP_COMMANDS_CLI_INPUTS_H
#define MEMSNAP_COMMANDS_CLI_INPUTS_H

#include <stddef.h>

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

/* Refuses an output (as output_open() takes it) that would replace one of them: STATUS_USAGE. */
bool inputs_spare(const struct inputs *inputs, const char *output, struct error *err);

/* Opens all, so that nothing needs to be opened later. What cannot be opened is no failure, and is
 * told in its place; more files than the system lets a program have open are one, and standard
 * input named twice. */
bool inputs_open(struct inputs *inputs, struct error *err);
/* The descriptor of input `index`, which is the caller's from now on; false: it was not opened. */
bool inputs_take(struct inputs *inputs, size_t index, int *fd, struct error *err);

/* Opens for reading; "-" is standard input. The descriptor, or -1 with errno as it was set. */
int input_open(const char *path, struct error *err);

#endif
