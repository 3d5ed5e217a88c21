/* The input files of a command. */
#ifndef MEMSNAP_COMMANDS_CLI_INPUTS_H
#define MEMSNAP_COMMANDS_CLI_INPUTS_H

#include <stddef.h>
#include <sys/stat.h>

#include "base/error.h"

/* An open file, or the error of opening it. */
struct opened_input {
    int fd; /* -1: not opened (see err), or taken by the reader */
    struct error err;
};

struct inputs {
    char **paths; /* from the command line, or &found */
    size_t count;
    char *found;
    struct opened_input *opened; /* one per path, set by inputs_open() */
    bool *elsewhere; /* one per path, owned: it is read by another process, so inputs_open() does
                        not; NULL: none is */
};

/* Selects the files named on the command line (argv[0..count)), else $MEMSNAP_INPUT, else the
 * newest capture in the current folder, which is named on standard error. If there is none,
 * explains how to record one and returns STATUS_USAGE. */
enum status inputs_choose(struct inputs *inputs, char **argv, int count);
void inputs_release(struct inputs *inputs);

/* Opens all files before the sandbox is entered. If a file cannot be opened, only its inputs_take()
 * fails. Too many files for the system, or standard input named twice, fail here. */
bool inputs_open(struct inputs *inputs, struct error *err);
/* Passes the descriptor of input `index` to the caller; false if the file could not be opened. */
bool inputs_take(struct inputs *inputs, size_t index, int *fd, struct error *err);

/* Opens any file that the user named for reading. "-" is standard input, which can be opened only
 * once (STATUS_USAGE). Returns the descriptor, or -1 with errno as open() set it. */
int input_open(const char *path, struct error *err);
/* True for a regular file that input_open() has opened since the program started. */
bool input_is_open(const struct stat *file);

#endif
