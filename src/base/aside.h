/* Work that a thread does aside, while its caller goes on with other work.
 *
 * Both only read what they share, except for the memory that a budget counts. The result does not
 * depend on whether there is a thread. */
#ifndef MEMSNAP_BASE_ASIDE_H
#define MEMSNAP_BASE_ASIDE_H

#include "base/error.h"
#include "base/thread.h"

struct aside {
    bool (*work)(void *self, struct error *err);
    void *self;
    pthread_t thread;
    bool is_running, ok;
    struct error err;
};

/* Starts the work on a thread; if that is not wanted or not possible, it is done by aside_end(). */
void aside_begin(struct aside *aside, bool (*work)(void *self, struct error *err), void *self,
                 bool wanted);
/* Waits for the work. Must be called once, even if the caller's own work has failed; then it may
 * not begin any more (`needed` is false). */
bool aside_end(struct aside *aside, bool needed, struct error *err);

#endif
