/* The active peak if some tensors were freed as soon as the program had no more use for them. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_EARLY_ENDS_H
#define MEMSNAP_ANALYSIS_GROWTH_EARLY_ENDS_H

#include "analysis/category/category.h"

/* *save_bytes: how much lower the active peak would be. is_held has a flag for each lifetime of a
 * tensor that only an autograd graph keeps. Such a tensor would be freed
 *   - when the call returns that received it: the second function named `forward` in its stack,
 *     from the inside out, or else the first, or
 *   - right after the same stack allocates again, after others: the next turn of a loop, whose
 *     result replaces it.
 * A tensor of a cache of keys and values would be freed when the same stack makes those of the
 * second token after it. A copy of a weight that autocast makes would be freed when autocast leaves
 * its region, if the trace shows that.
 *
 * from, by lifetime, has the first item at which each such tensor can be free: the graph may be
 * needed until then. NULL: none is needed. */
bool early_ends_save(const struct timeline *timeline, struct site_table *sites,
                     const struct categories *categories, const uint8_t *is_held,
                     const uint32_t *from, int64_t *save_bytes, struct error *err);

#endif
