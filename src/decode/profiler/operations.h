/* Finds the operators that a selective checkpoint sees. Internal to decode/profiler.
 *
 * A selective checkpoint sees the operators that autograd records. When linear calls addmm, which
 * calls other operators, that is addmm. The profiler gives the number of an autograd node to addmm
 * and to linear, but not to the operators that addmm calls. So the innermost numbered operator is
 * the one that is wanted. */
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

/* To be called after profile_prepare(), which sorts the ranges. */
struct operation_walk operation_walk_begin(const struct profile *profile, size_t thread);
/* "aten::addmm"; STRING_EMPTY outside of operators and in the backward pass. */
string_id operation_walk_to(struct operation_walk *walk, int64_t time_ns);

#endif
