/* Operators as a checkpoint sees them. Internal to decode/profiler.
 *
 * A selective checkpoint is told of the operators that autograd records: of linear, addmm and what
 * addmm calls, that is addmm. The profiler gives those an autograd node's number, and also the
 * operators that only call them, but not those that they call. */
#ifndef MEMSNAP_DECODE_PROFILER_OPERATIONS_H
#define MEMSNAP_DECODE_PROFILER_OPERATIONS_H

#include "decode/profiler/profile.h"

/* The innermost numbered operator that is open on a thread at a moment. Moments of one walk ascend.
 */
struct operation_walk {
    struct range_cursor cursor;
    string_id name;    /* of the numbered operator that began last */
    int64_t name_end;  /* when it ends */
    int64_t nodes_end; /* when the autograd nodes that began so far end */
};

/* After profile_prepare() has sorted the ranges. */
struct operation_walk operation_walk_begin(const struct profile *profile, size_t thread);
/* "aten::addmm", or STRING_EMPTY: outside of operators, and in the backward pass. */
string_id operation_walk_to(struct operation_walk *walk, int64_t time_ns);

#endif
