/* Shows progress as one line on standard error. Thread-safe.
 *
 * For one input it shows the bytes read, for several the number done. It stops when output appears
 * on a terminal. */
#ifndef MEMSNAP_COMMANDS_CLI_WATCH_H
#define MEMSNAP_COMMANDS_CLI_WATCH_H

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "base/progress.h"

struct watch {
    pthread_mutex_t lock; /* protects the fields below */
    struct progress progress;
    size_t inputs, done;
    bool out_is_terminal;
    bool stopped;
};

void watch_begin(struct watch *watch, size_t inputs, FILE *out);
/* The callback for struct load_progress. */
void watch_update(void *watch, uint64_t bytes_read, uint64_t total);
void watch_input_done(struct watch *watch);
/* Call before printing to `out` or, if `to_out` is false, to standard error. */
void watch_hide(struct watch *watch, bool to_out);
void watch_end(struct watch *watch);

#endif
