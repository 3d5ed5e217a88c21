/* The rows that a layer trace decoder hands out: one for every module that ran forward or backward.
 *
 * The members have the names of FairScale's LayerMemoryTrace and its event, and are in bytes unless
 * stated otherwise. memsnap's own recorder (share/record) adds others, rows of what modules with
 * children run themselves, and the storages that the rows read and save. */
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
    LAYER_IS_LEAF,
    LAYER_OUTPUT_BYTES,
    LAYER_GRADIENT_BYTES,
    LAYER_PEAK_BYTES,
    LAYER_TAIL_US,
    LAYER_PLAIN,
    LAYER_FOLLOWS,
    LAYER_CHANGES,
    LAYER_CAST_BYTES,
    LAYER_FORWARD_ROW,
    LAYER_SAVED_PEAK_BYTES,
    LAYER_START_BYTES,
    LAYER_OLD_GRADIENT_BYTES,
    LAYER_WORKSPACE_BYTES,
    LAYER_LIMITED_BYTES,
    LAYER_LIMIT_BYTES,
    LAYER_FLOPS,
    LAYER_TAIL_FLOPS,
    LAYER_DTYPE,
    LAYER_TENSORS,
    LAYER_TRAITS,
    LAYER_FIRST_NAME,
    LAYER_READS,
    LAYER_SAVES,
    LAYER_FIELDS,
};

/* A list of storages of a row or an operator. layer_sink.storage receives the storages of all
 * lists, one after the other; this list is `count` of them, beginning with number `first`,
 * from 0. */
struct storage_list {
    uint32_t first, count;
};

/* Sizes are not negative, except memory_diff. Members absent from the file are 0. */
struct layer_row {
    uint64_t present; /* 1 << enum layer_field for each field in the file */
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
    bool is_leaf;                   /* see layer_is_leaf() */
    bool plain;                     /* the first argument and the result are tensors, and the other
                                       arguments equal those of the sibling that ran before */
    bool follows;                   /* the first argument is the result of the module before */
    int64_t changes;                /* the first row whose tensors it changed in place */
    int64_t forward_row;            /* backward: the row of the call that it belongs to */
    int64_t cast_bytes;             /* casts of parameters, which autocast keeps until it ends */
    int64_t saved_peak_bytes;       /* as peak_bytes, but only until it saved its last tensor */
    int64_t start_bytes;            /* backward: as peak_bytes, but when it begins */
    int64_t old_gradient_bytes;     /* gradients of the step before that were still there, and were
                                       freed before the backward pass; not part of its peaks */
    int64_t workspace_bytes;        /* how much lower peak_bytes would be without workspaces that a
                                       larger batch does not enlarge */
    int64_t limited_bytes;          /* and further without those that it enlarges only until they
                                       have limit_bytes; not 0 */
    int64_t limit_bytes;
    string_id dtype;           /* of its parameters: "float32", or "bfloat16,float32" */
    string_id tensors;         /* its parameters that no earlier row has: "7:3072x768,8:3072";
                                  place in model.parameters(), shape, and ":frozen" */
    string_id traits;          /* what a checkpoint must allow for: names with commas between, of
                                  "batch_norm", "fsdp", "random" (draws random numbers),
                                  "recursive" (the module calls itself) */
    string_id first_name;      /* of a module that has several names, or that another module calls
                                  than the one that contains it: the name in model.named_modules(),
                                  if module_name is another */
    int64_t output_bytes;      /* storages of its result */
    int64_t gradient_bytes;    /* gradients that its backward makes */
    int64_t peak_bytes;        /* the most that was allocated while it ran */
    double tail_us;            /* part of forward_us after the last tensor that it saved */
    int64_t flops, tail_flops; /* as forward_us and tail_us, in operations that
                                  torch.utils.flop_counter counts */
    struct storage_list reads; /* made by earlier rows */
    struct storage_list saves; /* for backward */
};

static inline bool layer_has(const struct layer_row *row, enum layer_field field)
{
    return (row->present >> field & 1) != 0;
}

/* False for a row about code that a module with children runs itself, between its children,
 * and about code outside of the model, such as the loss. There may be several such rows of
 * one module. */
static inline bool layer_is_leaf(const struct layer_row *row)
{
    return row->is_leaf || !layer_has(row, LAYER_IS_LEAF);
}

#define LAYER_TIME_KERNELS "kernels" /* the sum of what was launched on the device */
#define LAYER_TIME_HOST    "host"    /* of the CPU, from one module to the next */

/* Facts about the whole step, which the recorder states. Absent sizes are 0, absent strings
 * empty. */
enum layer_fact {
    FACT_SCHEMA,
    FACT_TORCH,
    FACT_DEVICE,
    FACT_TIME,
    FACT_RANK,
    FACT_RANKS,
    FACT_PARAMETER_BYTES,
    FACT_BUFFER_BYTES,
    FACT_BESIDE_BYTES,
    FACT_BATCH_BYTES,
    FACT_BEFORE_BYTES,
    FACT_PEAK_BYTES,
    FACT_HOST_BYTES,
    FACT_FAILED_IN,
    LAYER_FACTS,
};

struct layer_facts {
    uint32_t present; /* 1 << enum layer_fact */
    string_id schema, torch, device;
    string_id time; /* how times were found: "events"; "roofline", from operations and bytes; or,
                       from a profiler trace, LAYER_TIME_KERNELS or LAYER_TIME_HOST */
    int64_t rank, ranks;
    int64_t parameter_bytes, buffer_bytes, batch_bytes;
    int64_t beside_bytes; /* parameters and buffers of modules that are no part of the model */
    int64_t before_bytes; /* allocated before the step */
    int64_t peak_bytes;   /* the most that was allocated in the step */
    int64_t host_bytes;   /* the largest resident memory that the process has had */
    string_id failed_in; /* if an error ended the step: "forward of MODULE", "backward of MODULE" */
};

/* A storage that a row made. */
struct layer_storage {
    int64_t bytes;
    int64_t row;
    int64_t held; /* for a storage of a module's result other than the first tensor: the row in
                     which the program dropped it, before which no checkpoint frees it; else 0 */
};

enum operator_field {
    OPERATOR_NAME,
    OPERATOR_ROW,
    OPERATOR_US,
    OPERATOR_TAIL_US,
    OPERATOR_OTHER_BYTES,
    OPERATOR_KEEPABLE,
    OPERATOR_FLOPS,
    OPERATOR_TAIL_FLOPS,
    OPERATOR_MADE,
    OPERATOR_FIELDS,
};

/* All calls of an operator in a row. */
struct layer_operator {
    uint32_t present; /* 1 << enum operator_field */
    string_id name;   /* "aten.addmm" */
    int64_t row;
    double us;                 /* part of the row's forward_us */
    double tail_us;            /* part of the row's tail_us */
    int64_t flops, tail_flops; /* as the times; 0 if absent */
    int64_t other_bytes;       /* of its results that are not among the numbered storages */
    bool keepable;             /* a checkpoint may keep its results: see the recorder */
    struct storage_list made;  /* its results */
};

struct layer_sink {
    void *self;
    /* Called in file order. `offset` is the start of the row, for errors. */
    bool (*row)(void *self, const struct layer_row *row, uint64_t offset, struct error *err);
    /* Called for each occurrence of a key unknown to memsnap. `key` is only valid during the call.
     */
    bool (*unknown_key)(void *self, struct text key, struct error *err);
    /* Called for every storage in the lists of a row or of an operator, before row() or operation()
     * is called for it. `storage` is the number of the storage in the file's table. */
    bool (*storage)(void *self, uint32_t storage, struct error *err);
    /* Called for every storage of the file's table, in order. */
    bool (*made)(void *self, const struct layer_storage *storage, uint64_t offset,
                 struct error *err);
    /* Called for every operator of the file's table. */
    bool (*operation)(void *self, const struct layer_operator *operation, uint64_t offset,
                      struct error *err);
    struct layer_facts *facts; /* filled by the decoder */
};

#endif
