/* A training step on one device, as the prediction of sharding sees it: tensors, layers, units, and
 * the memory of a step apart from parameters, gradients and optimizer state. */
#ifndef MEMSNAP_ANALYSIS_SHARD_MODEL_H
#define MEMSNAP_ANALYSIS_SHARD_MODEL_H

#include "base/budget.h"
#include "base/symbols.h"

#define SHARD_ROOT 0 /* the unit of whatever is in no block */
/* Products of these stay within 2^62. */
#define SHARD_MOST_BYTES (INT64_C(1) << 43) /* of parameters, and of activations */
#define SHARD_MOST_WORLD 16384
#define SHARD_MOST_BATCH 65536

/* Of the elements of a parameter. */
enum shard_type {
    SHARD_TYPE_UNKNOWN, /* that of the model */
    SHARD_FLOAT32,
    SHARD_FLOAT64,
    SHARD_BFLOAT16,
    SHARD_FLOAT16,
    SHARD_COMPLEX64,
    SHARD_COMPLEX128,
    SHARD_BYTE, /* of 8 bits, for example quantized */
};

/* A parameter. Some inputs know only the sum of a module's parameters, which is then one tensor. */
struct shard_tensor {
    int64_t elements;
    int64_t rows;          /* size of the first dimension; 0: unknown, split anywhere */
    int64_t least_rows;    /* a snapshot: rows are a guess, see snapshot_rows.c; 0: many */
    int64_t height, width; /* sizes of the last two dimensions, if there are two */
    unsigned dimensions;   /* 0: unknown */
    uint32_t place;        /* in model.parameters(); equal ones: as the tensors are here */
    uint32_t unit;
    enum shard_type type;
    bool strided; /* not contiguous, for example channels_last */
    bool frozen;  /* gets no gradient */
    bool unused;  /* and is frozen here only because the step does not use it */
    bool packs;   /* a snapshot: all parameters of a recurrent layer, as cuDNN takes them */
};

/* It is in the buckets of libraries that exchange gradients, also if the step makes none for it. */
static inline bool shard_is_trained(const struct shard_tensor *tensor)
{
    return !tensor->frozen || tensor->unused;
}

/* A module call, or what ran between two of them, in the order of the forward pass. */
struct shard_layer {
    uint32_t unit;
    uint32_t first_tensor, end_tensor; /* the parameters that it is the first to use */
    bool outside;                      /* after the model has returned: the loss */
    int64_t packed;   /* elements that recurrent layers of cuDNN take as one tensor: see model.c */
    bool is_added;    /* a snapshot: it stands for parameters, and for no element of the pass */
    bool passes;      /* a snapshot: its output is freed in the forward pass, so nothing saves it */
    bool is_sum;      /* a snapshot: its output is a sum that no module takes */
    bool is_unit;     /* its parameters are of the module that is the unit, or the whole model */
    struct text name; /* a layer trace: of the module; empty: unknown, or the whole model */
    int64_t saved;    /* bytes it makes that its backward needs */
    int64_t beside; /* a snapshot: of those, what its module does not make, but the loop that calls
                       it, apart from the output */
    int64_t output;
    int64_t passed; /* a snapshot: other results that the next layer takes */
    double us;      /* forward time; 0: unknown */
};

/* A stretch of the step with one layer running. Bytes are without parameters, their gradients, and
 * optimizer state. */
struct shard_point {
    uint32_t layer;
    bool is_backward;
    bool recomputes;      /* a checkpoint runs forward again */
    bool is_outside_unit; /* what the unit did not run: the point belongs to the root */
    uint32_t first_tensor, end_tensor; /* backward: gradients made */
    int64_t peak_bytes, end_bytes;
    int64_t fixed_bytes;     /* of peak_bytes: what a larger batch would not enlarge */
    int64_t limited_bytes;   /* and what it would enlarge to limit_bytes at most */
    int64_t limit_bytes;     /* at least limited_bytes */
    int64_t packed_elements; /* of the parameters of layers that pack, from their forward on */
    int64_t early_elements;  /* of gradients that wait for those of earlier uses of a parameter */
};

static inline int64_t shard_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Leaves no more of fixed and limited bytes than the peak has, and no limit below what is there. */
void shard_point_clamp(struct shard_point *point);

/* The modules that fsdp, fsdp1 and fsdp2 gather together. */
struct shard_unit {
    struct text name;          /* empty for the root, and if unknown */
    bool lacks_input_gradient; /* none of its inputs needs one */
};

struct shard_model {
    struct shard_tensor *tensors; /* in the order in which layers use them first */
    size_t tensor_count, tensor_capacity;
    struct shard_layer *layers;
    size_t layer_count, layer_capacity;
    struct shard_point *points; /* forward, one a layer, then backward */
    size_t point_count, point_capacity;
    struct shard_unit *units; /* in the order of the forward pass, behind the root */
    size_t unit_count, unit_capacity;
    size_t batch_norms;   /* a layer trace: how many modules are one */
    int64_t element_size; /* bytes of an element as recorded: of most parameters */
    enum shard_type type; /* of most parameters, if it is known */
    int64_t buffer_bytes; /* of modules, for example running means, and of other models */
    int64_t beside_bytes; /* a layer trace: of those, what other models have */
    int64_t master_bytes; /* a snapshot: of float32 copies of all trained parameters, which have 16
                             bits then; 0: none */
    int64_t main_gradient_bytes; /* a snapshot: of float32 gradients that the optimizer keeps of
                                    them; 0: none */
    int64_t average_bytes; /* a snapshot: of those, what has the sizes of optimizer state or of
                              copies, but is not updated by the optimizer; no module has it */
    int64_t before_bytes;  /* a profile: of what was there before it began */
    bool lacks_lines;      /* a profile: it does not tell which line of a function runs */
    int64_t unknown_bytes; /* of those, and of buffer_bytes: neither parameters nor state */
    int64_t batch_bytes;
    int64_t tensor_bytes;  /* of the largest tensor of the passes that a batch enlarges, if it is
                              known to be larger than the outputs of layers */
    int64_t library_bytes; /* that the allocator had at the peak, but no tensor: workspaces */
    int64_t end_bytes;     /* left when backward has ended: outputs that the program keeps, and
                              workspaces that the allocator still has */
    bool assumes_type;     /* a snapshot: float32, because it does not tell */
    bool has_tensors;      /* each parameter is known */
    bool has_names;        /* of modules, for each layer */
    bool has_unused;       /* some that are trained get no gradient in the step */
    bool has_backward;     /* points of backward were recorded, not derived */
    bool hides_units;   /* a snapshot: units are parts of modules that are listed in a Sequential,
                           and that it does not tell apart */
    bool guesses_units; /* a snapshot: units are iterations that call several modules, or of loops
                           in loops, so that the code may wrap other modules */
    struct budget *budget; /* not owned */
};

void shard_model_init(struct shard_model *model, struct budget *budget);
void shard_model_release(struct shard_model *model);

/* STATUS_LIMIT if sums exceed SHARD_MOST_BYTES, STATUS_BAD_INPUT if there is no layer, or no
 * parameter that is trained. All predictions require a model that passed this check. */
bool shard_model_check(const struct shard_model *model, struct error *err);

int64_t shard_elements(const struct shard_model *model);

/* A model of equal layers. Sizes in bytes; `elements` and `activation_bytes` include all layers. */
struct shard_sizes {
    int64_t elements, activation_bytes, element_size;
    size_t layers;
    int64_t output_bytes; /* of a layer, part of its activations; for checkpoints */
};

bool shard_model_by_hand(struct shard_model *model, const struct shard_sizes *sizes,
                         struct error *err);

/* True if a unit has parameters of both kinds: trained and frozen. */
bool shard_model_mixes(const struct shard_model *model);

/* Of the same bytes, makes elements of another size. */
void shard_model_set_type(struct shard_model *model, int64_t element_size);

/* Sets packed_elements of the points. */
void shard_model_set_packed(struct shard_model *model);

/* Makes units without parameters part of the root: they would be gathered for nothing. */
bool shard_model_drop_units(struct shard_model *model, struct error *err);

/* A run of layers that a checkpoint wraps. */
struct shard_segment {
    size_t first, end; /* layers */
    bool is_known;     /* the next one is */
    int64_t kept;      /* bytes that it makes and that stay, because other segments take them or
                          layers in no segment save them; if not known, its output may be */
};

/* Replaces the points by those of the step with the checkpoints, and what layers save. The segments
 * ascend and do not overlap. Call it once at most. */
bool shard_model_checkpoint(struct shard_model *model, const struct shard_segment *segments,
                            size_t count, struct error *err);

#endif
