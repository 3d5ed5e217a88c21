/* Pairs of a forward and a backward pass, found in a trace without stacks. Internal to
 * analysis/phase. */
#ifndef MEMSNAP_ANALYSIS_PHASE_PASSES_H
#define MEMSNAP_ANALYSIS_PHASE_PASSES_H

#include "analysis/phase/runs.h"

#define LEAST_SAVED 5 /* blocks alive at the turn, where nothing but they tell of one */

struct saved {
    uint32_t birth, end; /* items */
};

/* A pair of passes: forward [forward, backward), backward [backward, end). */
struct passes {
    uint32_t forward, backward, end;
};

struct pattern {
    const struct timeline *timeline;
    const struct phases *old; /* by annotations */
    uint64_t *stays;          /* sizes of what is never freed, ascending */
    size_t stay_count, stay_capacity;
    uint32_t *steps; /* by run of `old`; see count_steps() */
    size_t step_capacity;
    int32_t *change; /* of the count, by item */
    size_t change_capacity;
    struct saved *saved; /* in order of birth; between humps those still alive */
    size_t saved_count, saved_capacity;
    bool is_open; /* the last hump was a pair of passes, and `saved` is what it left */
    struct passes *passes;
    size_t pass_count, pass_capacity;
    struct budget *budget;
};

bool pattern_init(struct pattern *pattern, const struct timeline *timeline,
                  const struct phases *old, struct error *err);
void pattern_release(struct pattern *pattern); /* what pattern_init() left on failure, too */

/* Whether a lifetime may be something saved for a backward pass; `any_size`: of the sizes of what
 * stays, too. */
bool pattern_may_be_saved(const struct pattern *pattern, size_t index, bool any_size);
bool pattern_add_passes(struct pattern *pattern, struct passes passes, struct error *err);
void pattern_sort_passes(struct pattern *pattern); /* in order of time */

/* humps.c: by how what may be saved piles up and goes. */
bool passes_from_humps(struct pattern *pattern, struct error *err);
/* passes.c: before an optimizer step that an annotation names there is a pair of passes:
 * adds it where there is none yet. */
bool passes_from_anchors(struct pattern *pattern, struct error *err);

#endif
