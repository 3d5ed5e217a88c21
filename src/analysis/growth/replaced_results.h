/* The results of earlier iterations that variables hold until something replaces them, wherever in
 * the trace. Files of this folder only: see kept_results.h for the rules. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_REPLACED_RESULTS_H
#define MEMSNAP_ANALYSIS_GROWTH_REPLACED_RESULTS_H

#include "analysis/gradients/held_gradients.h"
#include "analysis/growth/result_windows.h"

/* A tensor that counts from item `from` up to item `to`, at which its memory is free again. */
struct held_result {
    uint32_t from, to, lifetime;
    bool in_step;       /* it counts in the step that made it, whose next pass has begun */
    bool in_evaluation; /* the same, and both passes are of an evaluation */
};

struct replaced_results {
    const struct timeline *timeline; /* what precedes `held` is not owned */
    struct site_table *sites;
    const struct categories *categories;
    const struct phases *phases;
    const struct steps *steps; /* two or more */
    const struct held_gradients *gradients;
    const struct result_windows *windows;
    const uint8_t *is_dropped, *is_retained; /* by lifetime, leave some out; NULL: none */
    struct held_result *held;
    size_t count, capacity;
};

/* `results` names the timeline and the other inputs. Release it also after a failure. */
bool replaced_results_find(struct replaced_results *results, struct error *err);
void replaced_results_release(struct replaced_results *results);

#endif
