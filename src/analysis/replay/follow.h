/* One replay of a recording with a given tie-break: the work of as_is_replay(). */
#ifndef MEMSNAP_ANALYSIS_REPLAY_FOLLOW_H
#define MEMSNAP_ANALYSIS_REPLAY_FOLLOW_H

#include "analysis/replay/as_is.h"

/* Called for the block of every allocation of the trace. */
struct follow_watch {
    void *self;
    bool (*block)(void *self, const struct program_step *step, const struct memory_block *block,
                  struct error *err);
};

/* Adds to `as_is`, of which only `tie_break` and `item` are set. `watch` may be NULL. */
bool follow_recording(const struct program *program, const struct allocator_settings *settings,
                      const struct follow_watch *watch, struct as_is *as_is, struct error *err);

#endif
