/* Progress over the inputs of a run, as one line on standard error. Calls may come from any thread.
 *
 * Of a single input it shows the bytes read, of several how many are done. Once there is output on
 * a terminal, that is progress enough. */
#ifndef MEMSNAP_COMMANDS_CLI_WATCH_H
#define MEMSNAP_COMMANDS_CLI_WATCH_H

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "base/progress.h"

struct watch {
    pthread_mutex_t lock; /* of all below */
    struct progress progress;
    size_t inputs, done;
    bool out_is_terminal;
    bool stopped;
};

void watch_begin(struct watch *watch, size_t inputs, FILE *out);
/* As struct load_progress calls it. */
void watch_update(void *watch, uint64_t bytes_read, uint64_t total);
void watch_input_done(struct watch *watch);
/* Before anything is printed, to `out` or, with `to_out` false, to standard error. */
void watch_hide(struct watch *watch, bool to_out);
void watch_end(struct watch *watch);

#endif
