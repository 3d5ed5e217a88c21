/* Tells caches of keys and values that are in use from those that requests left behind. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_CACHE_USE_H
#define MEMSNAP_ANALYSIS_GROWTH_CACHE_USE_H

#include "analysis/growth/survivors.h"

struct cache_use {
    const struct timeline *timeline;   /* not owned */
    const struct survivors *survivors; /* not owned */
    size_t end_count;
    bool trains; /* steps end with an optimizer step or a backward pass, which needs no cache */
    /* By the stack that is shown: the largest number of further ends that an allocation outlives
     * before it is freed. Those that are never freed, or were made before the first of the steps,
     * do not count. Made when the first cache is asked for. */
    uint16_t *longest;
    size_t capacity;
};

/* For a group that grows and is a cache: sets *in_use to whether the next tokens need the cache,
 * and *outlived to the number of step ends that such a cache may outlive unchanged. For any other
 * group, and in training, changes neither.
 *
 * A cache is in use while its sequence gets longer. An earlier request's cache is not: it outlives
 * more ends unchanged than any tensor of the same code that was replaced, and caches like it are
 * added only now and then. A cache in use may stay unchanged for a while, too: that of a large
 * model does so while a small one drafts tokens. */
bool cache_use_find(struct cache_use *use, size_t group, bool *in_use, uint16_t *outlived,
                    struct error *err);
void cache_use_release(struct cache_use *use);

#endif
