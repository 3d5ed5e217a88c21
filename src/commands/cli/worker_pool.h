/* Runs pieces of work in several threads, and writes their output in the order of the pieces. */
#ifndef MEMSNAP_COMMANDS_CLI_WORKER_POOL_H
#define MEMSNAP_COMMANDS_CLI_WORKER_POOL_H

#include <stdio.h>

#include "base/error.h"

struct pool_work {
    size_t count; /* pieces, numbered from 0 and started in that order */
    size_t jobs;  /* largest number of threads */
    FILE *out;
    const char *separator; /* between the outputs of two pieces; one that prints nothing has none */

    /* Does a piece, in any thread, and prints to `out`. A few megabytes are held back until the
     * pieces before it are done; with more the call waits for them. NULL: no memory for it. */
    void (*work)(void *self, size_t piece, FILE *out);
    /* In the order of the pieces, one at a time: */
    void (*before_output)(void *self);        /* called before output is written */
    void (*finish)(void *self, size_t piece); /* all output of the piece has been written */
    void *self;
};

/* The number of threads that can run at once. */
size_t worker_pool_cores(void);

/* Returns when all pieces are done. If fewer threads can be started, it uses those. */
bool worker_pool_run(const struct pool_work *work, struct error *err);

#endif
