/* Replays a trace with the settings it was recorded with, and compares every address and every
 * change of segments with the recording. What the program or another process caused (releases) is
 * forced as recorded, if the model could have done it. */
#ifndef MEMSNAP_ANALYSIS_REPLAY_AS_IS_H
#define MEMSNAP_ANALYSIS_REPLAY_AS_IS_H

#include "analysis/replay/program.h"

enum difference_kind {
    DIFFERENCE_NONE,
    DIFFERENCE_ADDRESS, /* the model put the allocation elsewhere */
    DIFFERENCE_NOWHERE, /* the model took no memory where the allocator did, or other memory */
    DIFFERENCE_RELEASE, /* the allocator released memory that the model could not release */
};

struct as_is {
    enum tie_break tie_break;
    uint64_t allocs, exact_allocs, segment_events, exact_segment_events;
    /* The first event that the replay does not reproduce. */
    enum difference_kind difference;
    int64_t item;                          /* of the trace; -1: none */
    uint64_t recorded_addr, replayed_addr; /* of an allocation */
};

static inline bool as_is_exact(const struct as_is *as_is)
{
    return as_is->exact_allocs == as_is->allocs &&
           as_is->exact_segment_events == as_is->segment_events;
}

/* For people: "exact", or the kind of the first difference in words. */
const char *difference_text(enum difference_kind kind);
/* For programs: "address", "block" or "segment". */
const char *tie_break_name(enum tie_break tie_break);
/* "up to 2.11" */
const char *tie_break_versions(enum tie_break tie_break);

/* Replays with the tie-break `only` or, if that is TIE_BREAKS, with the one that reproduces
 * most. */
bool as_is_replay(const struct program *program, const struct allocator_settings *settings,
                  enum tie_break only, struct as_is *as_is, struct error *err);

#endif
