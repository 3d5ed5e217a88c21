/* The allocations of a profiler trace, to be joined with a snapshot of the same run. */
#ifndef MEMSNAP_MODEL_PROFILED_H
#define MEMSNAP_MODEL_PROFILED_H

#include "decode/core/input.h"
#include "decode/profiler/rows.h"

struct profiled {
    struct profiled_allocation *items; /* by time */
    size_t count, capacity;
    struct operator_call *calls;
    size_t call_count, call_capacity;
    bool has_kernels; /* some operator launched a kernel, so their times are known */
    struct symbols *symbols;
    struct budget *budget; /* owned */
};

/* Reads a trace that has not been read yet. Closes the input and takes over its budget, also on
 * failure. NULL on failure. */
struct profiled *profiled_load_input(struct input *input, struct error *err);
void profiled_destroy(struct profiled *profiled); /* NULL is allowed */

#endif
