/* The rows that a layer trace decoder hands out: one for every module that ran forward or backward.
 *
 * The members have the names of FairScale's LayerMemoryTrace and its event, and are in bytes unless
 * stated otherwise. */
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
    LAYER_MEMORY_ACTIVATIONS, /* every row has this field and those above */
    LAYER_FORWARD_US,
    LAYER_BACKWARD_US,
    LAYER_DEPTH,
    LAYER_SAVED_ACTIVATIONS,
    LAYER_FIELDS,
};

/* Sizes are not negative, except memory_diff. Members absent from the file are 0. */
struct layer_row {
    uint32_t present; /* 1 << enum layer_field for each field in the file */
    string_id module_name;
    bool is_forward;
    int64_t module_params;
    int64_t allocated, reserved; /* by the allocator, after the module */
    int64_t all_gathered;        /* by FSDP since the previous row */
    int64_t cumul_all_gathered;  /* held by FSDP at the time; 0 in backward rows */
    int64_t memory_diff;         /* allocated after the module, minus allocated before it */
    int64_t memory_activations;  /* new tensors among the outputs; backward: among the gradients */
    /* fields added by memsnap's own recorder */
    double forward_us, backward_us; /* compute time, from 0 to 2^53 microseconds */
    int64_t depth;                  /* in the module tree */
    int64_t saved_activations;      /* kept for backward, if different from memory_activations */
};

static inline bool layer_has(const struct layer_row *row, enum layer_field field)
{
    return (row->present >> field & 1) != 0;
}

struct layer_sink {
    void *self;
    /* Called in file order. `offset` is the start of the row, for errors. */
    bool (*row)(void *self, const struct layer_row *row, uint64_t offset, struct error *err);
    /* Called for each occurrence of a key unknown to memsnap. `key` is only valid during the call.
     */
    bool (*unknown_key)(void *self, struct text key, struct error *err);
};

#endif
