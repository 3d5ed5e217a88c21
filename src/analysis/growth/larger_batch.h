/* Recognises batches that are larger with each step, as with texts that are sorted by length. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_LARGER_BATCH_H
#define MEMSNAP_ANALYSIS_GROWTH_LARGER_BATCH_H

#include "analysis/growth/fit.h"
#include "analysis/live/sites.h"

/* True if the group grows because each batch replaces a smaller one, not because allocations pile
 * up. Its operator then copies a tensor to the device, or makes storage. (The result of a
 * concatenation that includes the former result grows, too, but is no batch.) Without C++ frames,
 * the operator is not known, and the category must be input. */
bool is_larger_batch(const struct growth_fit *fit, const struct site_group *group,
                     const struct stack_facts *facts, const struct symbols *symbols);

#endif
