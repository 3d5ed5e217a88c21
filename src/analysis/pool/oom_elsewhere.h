/* Unused memory that could not serve a request because it belongs to another pool. */
#ifndef MEMSNAP_ANALYSIS_POOL_OOM_ELSEWHERE_H
#define MEMSNAP_ANALYSIS_POOL_OOM_ELSEWHERE_H

#include "analysis/pool/pools.h"

enum oom_elsewhere_kind {
    ELSEWHERE_GRAPHS,  /* private pools of CUDA graphs other than the request's own */
    ELSEWHERE_DEFAULT, /* the default pool, if the request is for a private one */
    ELSEWHERE_STREAMS, /* the request's pool, for other streams */
    ELSEWHERE_SIZES,   /* the request's pool and stream, for smaller or larger requests */
    ELSEWHERE_KINDS,
};

/* The kind of place that has most of that memory. A place is a private pool (GRAPHS), a stream
 * (DEFAULT, STREAMS), or the one pool (SIZES). */
struct oom_elsewhere {
    enum oom_elsewhere_kind kind;
    uint64_t bytes;  /* 0 if nothing was unused elsewhere; then all else is 0, too */
    uint64_t places; /* how many have any of it */
    uint64_t least_bytes, most_bytes; /* per place */
    struct pool_key most;             /* a pool of the place that has most */
};

/* For a request of the pool `own`. Sorts `pools`; nothing can be added to them afterwards. */
void oom_find_elsewhere(struct pool_rows *pools, const struct pool_key *own,
                        struct oom_elsewhere *elsewhere);

#endif
