/* Tells caches of keys and values that are in use from those that requests left behind. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_CACHE_USE_H
#define MEMSNAP_ANALYSIS_GROWTH_CACHE_USE_H

#include "analysis/growth/survivors.h"

struct cache_use {
    const struct timeline *timeline;   /* not owned */
    const struct survivors *survivors; /* not owned */
    size_t end_count;
    /* By the stack that is shown: the largest number of further ends that an allocation outlives
     * before it is freed. Those that are never freed, or were made before the first of the steps,
     * do not count. Made when the first cache is asked for. */
    uint16_t *longest;
    size_t capacity;
};

/* True in *in_use for a cache that grows with its sequence. One of earlier sequences is no longer
 * extended: it stays as it is for longer than any tensor that was replaced, and more come only now
 * and then. While one model drafts tokens, the cache of another stays as it is, too. *outlived is
 * the number of ends that what the next tokens need may outlive. Leaves both as they are if the
 * group, which grows, is no cache. */
bool cache_use_find(struct cache_use *use, size_t group, bool *in_use, uint16_t *outlived,
                    struct error *err);
void cache_use_release(struct cache_use *use);

#endif
