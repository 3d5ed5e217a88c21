/* Work that a thread does in the background while its caller goes on with other work.
 *
 * Both may only read what they share, except for a budget, which threads may share. The result does
 * not depend on whether there is a thread. */
#ifndef MEMSNAP_BASE_BACKGROUND_H
#define MEMSNAP_BASE_BACKGROUND_H

#include "base/error.h"
#include "base/thread.h"

struct background {
    bool (*work)(void *self, struct error *err);
    void *self;
    pthread_t thread;
    bool is_running, ok;
    struct error err;
};

/* Starts the work on a thread. If that is not wanted or not possible, the work is done by
 * background_end(). */
void background_begin(struct background *background, bool (*work)(void *self, struct error *err),
                      void *self, bool wanted);
/* Waits for the work. Must be called exactly once. If the caller's own work has failed, the result
 * is not `needed`, and work that has not begun is left out. */
bool background_end(struct background *background, bool needed, struct error *err);

#endif
