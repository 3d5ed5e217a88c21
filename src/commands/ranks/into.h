/* `memsnap ranks --into`: keeps the summaries of a run in a history.
 *
 * The sandbox of the process that reads captures forbids what a database needs. It therefore writes
 * the summaries into a file without a name, and a process outside the sandbox, which sees no
 * capture, stores them. */
#ifndef MEMSNAP_COMMANDS_RANKS_INTO_H
#define MEMSNAP_COMMANDS_RANKS_INTO_H

#include <stdio.h>

#include "base/error.h"
#include "commands/summary/gather.h"

struct into_options {
    const char *history;       /* a path; NULL: nothing is stored */
    const char *name, *commit; /* of the run; NULL: by `first`; none */
    const char *first;         /* the first file or folder that the user named */
};

/* Calls `read` in a process of its own, with a file for into_write(), and stores what is in it. In
 * both processes, returns the status with which the process ends. */
typedef enum status into_reader(void *self, FILE *summaries);
enum status into_run(const struct into_options *options, into_reader *read, void *self);

/* Writes the summaries that were read. */
bool into_write(FILE *summaries, const struct gathering *gathering, struct error *err);

#endif
