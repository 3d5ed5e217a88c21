/* The active peak if some tensors were freed as soon as the program had no more use for them. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_EARLY_ENDS_H
#define MEMSNAP_ANALYSIS_GROWTH_EARLY_ENDS_H

#include "analysis/category/category.h"

/* How much lower the active peak would be. */
struct early_saving {
    int64_t least_bytes; /* if the calls of Python functions hold results: see call_results.h */
    int64_t most_bytes;  /* if nothing held a tensor after it was made */
};

/* is_held has a flag for each lifetime of a tensor that only an autograd graph keeps. A tensor of a
 * cache of keys and values is freed when the same stack makes those of the second token after it. A
 * copy of a weight that autocast makes is freed when autocast leaves its region, if the trace shows
 * that. What no stack of Python made counts as held in least_bytes.
 *
 * from, by lifetime, has the first item at which each such tensor can be free: the graph may be
 * needed until then. NULL: none is needed. */
bool early_ends_save(const struct timeline *timeline, struct site_table *sites,
                     const struct categories *categories, const uint8_t *is_held,
                     const uint32_t *from, struct early_saving *saving, struct error *err);

/* The lower bound, if it is at least a third of the upper one, else the upper one. *is_most tells
 * which. */
int64_t early_saving_bound(const struct early_saving *saving, bool *is_most);

#endif
