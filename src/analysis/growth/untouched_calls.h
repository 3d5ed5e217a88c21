/* Calls of a model that the backward pass of their step leaves alone, such as those of a teacher
 * that runs with autograd on.
 *
 * A backward pass that frees what autograd saved goes through its graph for the last time. If it
 * frees nothing that one call of a model made, while that outlives it, it has not gone through the
 * graph of the call. One with retain_graph=True frees nothing at all, and tells nothing; nor does
 * one that makes much before it frees anything, for the former may be a part of it. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_UNTOUCHED_CALLS_H
#define MEMSNAP_ANALYSIS_GROWTH_UNTOUCHED_CALLS_H

#include "analysis/category/category.h"

/* Sets the flag of each lifetime of an activation that such a call made and that outlives the
 * backward pass, and the flag of each backward run that makes much before it frees anything that
 * autograd saved. `next_run` has the backward run that follows each run in its step, or NO_RUN.
 * Needs C++ frames. */
bool untouched_calls_find(uint8_t *is_untouched, uint8_t *frees_late,
                          const struct timeline *timeline, struct site_table *sites,
                          const struct categories *categories, const struct phases *phases,
                          const uint32_t *next_run, struct error *err);

#endif
