/* Batches that happen to be larger with each step, as of texts that are sorted by length. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_LARGER_BATCH_H
#define MEMSNAP_ANALYSIS_GROWTH_LARGER_BATCH_H

#include "analysis/growth/fit.h"
#include "analysis/live/sites.h"

/* True if what grows is no pile, but a batch: one that is copied to the device or filled with a
 * value takes the place of the smaller one before it. A concatenation grows by itself. Without C++
 * frames, the category tells. */
bool is_larger_batch(const struct growth_fit *fit, const struct site_group *group,
                     const struct stack_facts *facts, const struct symbols *symbols);

#endif
