/* Where memory lay unused that a request could not have, for it was of another pool. */
#ifndef MEMSNAP_ANALYSIS_POOL_OOM_ELSEWHERE_H
#define MEMSNAP_ANALYSIS_POOL_OOM_ELSEWHERE_H

#include "analysis/pool/pools.h"

enum oom_elsewhere_kind {
    ELSEWHERE_GRAPHS,  /* private pools of CUDA graphs, but for the request's own */
    ELSEWHERE_DEFAULT, /* the default pool, where the request is for a private one */
    ELSEWHERE_STREAMS, /* the request's pool, but for other streams */
    ELSEWHERE_SIZES,   /* the request's pool and stream, for smaller or larger requests */
    ELSEWHERE_KINDS,
};

/* The kind that has most of it. Its places are private pools, streams (DEFAULT, STREAMS), or one
 * only (SIZES). */
struct oom_elsewhere {
    enum oom_elsewhere_kind kind;
    uint64_t bytes;  /* 0: nothing at all was unused elsewhere, and everything else is 0 */
    uint64_t places; /* that have any of it */
    uint64_t least_bytes, most_bytes; /* of a place.. */
    struct pool_key most;             /* ..and a pool of the one that has most */
};

/* For a request of the pool `own`. Sorts `pools`, to which no more can be added then. */
void oom_find_elsewhere(struct pool_rows *pools, const struct pool_key *own,
                        struct oom_elsewhere *elsewhere);

#endif
