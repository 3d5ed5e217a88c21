/* The part of growing memory that lies in private pools. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_PRIVATE_GROWTH_H
#define MEMSNAP_ANALYSIS_GROWTH_PRIVATE_GROWTH_H

#include "analysis/growth/survivors.h"

enum private_kind {
    PRIVATE_NONE,     /* less than half of it lies in private pools */
    PRIVATE_CAPTURES, /* in pools that captures of CUDA graphs made, of the same shapes each time */
    PRIVATE_SHAPES,   /* in such pools, of other shapes at each step: ends with the last shape */
    PRIVATE_OWN,      /* in pools that the program made: torch.cuda.MemPool, graph_pool_handle() */
};

struct private_growth {
    enum private_kind kind;
    int64_t bytes;       /* of growing call sites, in private pools, at the last compared end */
    int64_t made_bytes;  /* the part in pools that captures made */
    int64_t grown_bytes; /* of growing call sites, in any pool */
    bool has_many_pools; /* private ones */
};

/* Fills `*found`. groups[0..count) are the groups that grow; `item` is the last compared end. */
bool private_growth_find(const struct survivors *survivors, const struct timeline *timeline,
                         const uint32_t *groups, size_t count, int64_t item,
                         struct private_growth *found, struct error *err);

#endif
