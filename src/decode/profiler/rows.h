/* The rows that the reader of a profiler trace's allocations hands out. */
#ifndef MEMSNAP_DECODE_PROFILER_ROWS_H
#define MEMSNAP_DECODE_PROFILER_ROWS_H

#include "base/error.h"
#include "base/symbols.h"

#define NO_OPERATOR_CALL UINT32_MAX

/* An outermost call of an operator, or of an autograd node. */
struct operator_call {
    string_id name;
    int64_t host_ns;
    int64_t kernel_ns; /* of the kernels that it launched */
    uint32_t kernels;
};

struct profiled_allocation {
    uint32_t device;
    uint32_t call; /* its call: the number of calls handed out before that; or NO_OPERATOR_CALL */
    int64_t time_us;
    uint64_t addr;
    uint64_t bytes;   /* of the block */
    string_id module; /* "Block_0.Linear_1"; in the backward pass, the module whose forward pass
                         made the autograd node */
};

struct allocation_sink {
    void *self;
    bool (*call)(void *self, const struct operator_call *call, struct error *err);
    /* Called in order of time. */
    bool (*allocation)(void *self, const struct profiled_allocation *allocation, struct error *err);
};

#endif
