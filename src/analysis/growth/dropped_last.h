/* Tensors that are live at the end of a trace because of an autograd graph that will be dropped:
 * the same code has dropped its earlier graphs.
 *
 * The last evaluation of a trace keeps its graphs until after the recording, or until it fails. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_DROPPED_LAST_H
#define MEMSNAP_ANALYSIS_GROWTH_DROPPED_LAST_H

#include "analysis/category/category.h"
#include "analysis/phase/phases.h"

/* True for what autograd may keep: activations, autocast's copies of weights, and the keys and
 * values of earlier tokens, which generation without torch.no_grad() copies for each token. */
static inline bool dropped_last_may_hold(const struct categories *categories, size_t lifetime)
{
    return categories->of_lifetime[lifetime] == CATEGORY_ACTIVATION ||
           categories->of_lifetime[lifetime] == CATEGORY_KV_CACHE ||
           categories->of_lifetime[lifetime] == CATEGORY_CAST_CACHE;
}

/* Extends the flags, one for each lifetime: also flags a tensor that is never freed if the same
 * stack made tensors that are flagged, and none that a backward pass freed. It is early if all of
 * these are. A loop over layers makes all of them with one stack, and may drop only the last ones:
 * what it made before these does not count if a backward pass of the step may go through it.
 * `next_run` has the backward run that follows each run in its step, or NO_RUN. */
bool dropped_last_mark(uint8_t *is_dropped, uint8_t *is_early, const uint32_t *next_run,
                       const struct timeline *timeline, const struct categories *categories,
                       const struct phases *phases, struct error *err);

#endif
