/* Calls of a model that the backward pass of their step leaves alone, such as those of a teacher
 * that runs with autograd on.
 *
 * A backward pass that frees what autograd saved goes through its graph for the last time. If the
 * activations of a call all outlive it, it has not gone through the graph of that call. Two kinds
 * of backward passes tell nothing: one that frees nothing at all, as with retain_graph=True, and
 * one that makes much before it frees anything, because it may begin with one of the first kind. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_UNTOUCHED_CALLS_H
#define MEMSNAP_ANALYSIS_GROWTH_UNTOUCHED_CALLS_H

#include "analysis/category/category.h"

/* Sets `is_untouched` of each lifetime of an activation that such a call made, and `frees_late` of
 * each backward run that makes much before it frees anything that autograd saved. Calls are told
 * apart by the lines from the script to the one that calls the model. `next_run` has the backward
 * run that follows each run in its step, or NO_RUN. Without C++ frames, a backward pass frees what
 * autograd saved where a thread without frames frees an activation of the forward pass. */
bool untouched_calls_find(uint8_t *is_untouched, uint8_t *frees_late,
                          const struct timeline *timeline, struct site_table *sites,
                          const struct categories *categories, const struct phases *phases,
                          const uint32_t *next_run, struct error *err);

#endif
