/* What a layer trace hands to its reader: a row for every module that ran forward or backward.
 *
 * The members have the names that FairScale's LayerMemoryTrace gives them, those of its event
 * included, and are in bytes where nothing else is said. */
#ifndef MEMSNAP_DECODE_LAYERS_ROWS_H
#define MEMSNAP_DECODE_LAYERS_ROWS_H

#include "base/symbols.h"

enum layer_field {
    LAYER_MODULE_NAME,
    LAYER_MODULE_PARAMS,
    LAYER_ALLOCATED,
    LAYER_RESERVED,
    LAYER_IS_FORWARD,
    LAYER_ALL_GATHERED,
    LAYER_CUMUL_ALL_GATHERED,
    LAYER_MEMORY_DIFF,        /* every forward row has it */
    LAYER_MEMORY_ACTIVATIONS, /* every row has this and those above */
    LAYER_FORWARD_US,
    LAYER_BACKWARD_US,
    LAYER_DEPTH,
    LAYER_SAVED_ACTIVATIONS,
    LAYER_FIELDS,
};

/* Sizes are not negative, but for memory_diff. What the file does not have is 0. */
struct layer_row {
    uint32_t present; /* 1 << enum layer_field for each that the file has */
    string_id module_name;
    bool is_forward;
    int64_t module_params;
    int64_t allocated, reserved; /* by the allocator, when the module was done */
    int64_t all_gathered;        /* by FSDP since the row before */
    int64_t cumul_all_gathered;  /* held by FSDP at the time; 0 in backward rows */
    int64_t memory_diff;         /* allocated behind the module, less that before it */
    int64_t memory_activations;  /* new tensors among the outputs; backward: among the gradients */
    /* what memsnap's own recorder adds */
    double forward_us, backward_us; /* compute time, from 0 to 2^53 microseconds */
    int64_t depth;                  /* in the module tree */
    int64_t saved_activations; /* kept for backward, where it differs from memory_activations */
};

static inline bool layer_has(const struct layer_row *row, enum layer_field field)
{
    return (row->present >> field & 1) != 0;
}

struct layer_sink {
    void *self;
    /* Rows come in file order; `offset` is where this one begins, for errors. */
    bool (*row)(void *self, const struct layer_row *row, uint64_t offset, struct error *err);
    /* A key that means nothing to memsnap, each time it occurs. `key` dies with the call. */
    bool (*unknown_key)(void *self, struct text key, struct error *err);
};

#endif
