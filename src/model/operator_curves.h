/* The data saved by torch.distributed._tools.MemoryTracker: the allocator's state after every
 * operator. Immutable once loaded. */
#ifndef MEMSNAP_MODEL_OPERATOR_CURVES_H
#define MEMSNAP_MODEL_OPERATOR_CURVES_H

#include "base/symbols.h"
#include "decode/core/input.h"

/* Sizes are bytes, from 0 to 2^62. The file has them in MiB, as floating-point numbers. */
struct operator_point {
    string_id name; /* "layer.forward.mm.default_3": module, phase, operator, count */
    int64_t allocated, active, reserved;
};

struct operator_marker {
    string_id name; /* "fw_start", "fw_bw_boundary" */
    uint32_t at;    /* index of the operator that follows it; at most `count` */
};

struct operator_curves {
    struct operator_point *points; /* in execution order; fewer than UINT32_MAX */
    size_t count;
    struct operator_marker *markers; /* in file order */
    size_t marker_count;
    uint64_t num_alloc_retries;
    struct symbols *symbols;

    /* the input itself */
    enum compression compression;
    int protocol;
    uint64_t input_bytes;  /* size of the file as stored (compressed, if it is) */
    struct budget *budget; /* owned */
};

/* Reads an input that has not been read yet. Closes the input and takes over its budget, also on
 * failure. NULL on failure. */
struct operator_curves *operator_curves_load_input(struct input *input, struct error *err);
void operator_curves_destroy(struct operator_curves *curves); /* NULL is allowed */

#endif
