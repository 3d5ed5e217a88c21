/* A moment of a trace, as --at names it. */
#ifndef MEMSNAP_ANALYSIS_LIVE_WHEN_H
#define MEMSNAP_ANALYSIS_LIVE_WHEN_H

#include "analysis/phase/phases.h"
#include "model/window.h"

enum when_kind {
    WHEN_PEAK,
    WHEN_END,
    WHEN_POINT,
    WHEN_PHASE, /* the peak within the phase or the annotation with this name, or while an
                   allocation with this annotation is active */
};

struct when {
    enum when_kind kind;
    struct point point; /* of WHEN_POINT */
    const char *name;   /* of WHEN_PHASE: "forward", "backward@2" (the second one); not owned */
};

/* Finds the trace item; -1: before the first. `phases` may be NULL, then they are built with
 * `sites` if they are needed. STATUS_USAGE: the trace has no such moment. */
bool when_item(const struct when *when, const struct timeline *timeline, struct site_table *sites,
               const struct phases *phases, int64_t *item, struct error *err);

/* The peak within one kind of phase, over all its occurrences; -1 if the trace has none. */
int64_t when_phase_peak(const struct timeline *timeline, const struct phases *phases,
                        enum phase phase);

#endif
