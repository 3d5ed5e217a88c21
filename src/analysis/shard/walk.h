/* What the walks of all strategies share. */
#ifndef MEMSNAP_ANALYSIS_SHARD_WALK_H
#define MEMSNAP_ANALYSIS_SHARD_WALK_H

#include "analysis/shard/divide.h"
#include "analysis/shard/shard.h"
#include "analysis/shard/tensors.h"

/* FairScale's FullyShardedDataParallel: gradients of a unit that are not larger share a bucket. */
#define WALK_FLAT_BUCKET (INT64_C(25) << 20) /* bytes: bucket_cap_mb */

/* Sums over the tensors of a unit. Bytes are for one rank. */
struct unit_sums {
    int64_t elements, trained; /* unsharded */
    int64_t exchanged;         /* trained, and those that are, but not in this step */
    int64_t shard;             /* parameters of a rank, as stored, padded: elements */
    int64_t trained_shard;     /* the part of them with gradients */
    int64_t own;               /* fsdp1: of the tensors seen so far */
    size_t last_forward, first_backward, last_backward; /* points; SIZE_MAX: none */
    uint32_t outer;          /* the unit around it, or SHARD_ROOT; its points include these */
    bool has_inner, is_open; /* `is_open`: it runs, and others may run in it */
    bool stays;              /* fsdp, fsdp1: it has begun its backward, and is gathered until that
                                ends, even if others run in between */
    int64_t made;            /* elements of gradients so far */
};

struct walk {
    const struct shard_model *model;
    const struct shard_division *division; /* without units, if the model is not divided */
    const struct shard_options *options;
    enum shard_strategy strategy;
    uint32_t rank;
    int64_t parts;          /* ranks among which units are sharded */
    const uint32_t *owners; /* of tensors; NULL for ddp and fsdp* */
    int64_t size, gradient_size, compute_size, reduce_size; /* bytes of an element */
    int64_t state_bytes, temporary_bytes;                   /* of the optimizer on this rank */
    int64_t main_gradient_bytes;                            /* those it keeps in float32 */
    bool multiplies;                                        /* its step multiplies matrices */
    struct unit_sums *units;
    const bool *is_bucketed; /* sdp: gradients of tensors that are in buckets */
    int64_t bucket_elements; /* of all buckets, which every rank keeps */
    int64_t broadcast_bytes; /* oss, sdp: temporaries of broadcast_fp16, at the end of a step */
    size_t *point;           /* where the walk is; the number of points: after backward */
    shard_moment_taker *take;
    void *self;
};

/* A walk and what it owns. */
struct walker {
    struct walk walk;
    struct shard_division division;
    size_t point;
    uint32_t *owners;
    bool *is_bucketed;
};

/* fsdp1 from a snapshot, which has no names of modules: what is trained in a unit that is else
 * frozen counts as flat tensors of its own. */
static inline bool walk_splits(const struct walk *walk)
{
    return walk->strategy == SHARD_FSDP1 && !walk->options->has_flat_parameters &&
           !walk->model->has_names;
}

/* sums.c: sets the sums of units from the tensors. */
void walker_add_up(struct walk *walk);

/* shard.c. The walker must not be moved. */
bool walker_init(struct walker *walker, const struct shard_model *model,
                 const struct shard_options *options, enum shard_strategy strategy,
                 struct error *err);
void walker_release(struct walker *walker);
/* Sets the rank whose parameters for the optimizer are largest: the lowest of several. */
bool walker_set_heaviest(struct walk *walk, struct error *err);
void walker_run(struct walk *walk);

/* Hands out a moment of a point; `residual` is its own memory, before the batch factor. */
void walk_note(const struct walk *walk, enum shard_phase phase, uint32_t unit,
               struct shard_memory memory, int64_t residual);

/* Bytes of a tensor's elements as stored: --dtype makes all of one type. */
static inline int64_t walk_size_of(const struct walk *walk, const struct shard_tensor *tensor)
{
    int64_t own = shard_type_size(tensor->type);
    return walk->options->parameter_size > 0 || own == 0 ? walk->size : own;
}

/* `elements` of a tensor, as many of the walk's own type as have their bytes. */
static inline int64_t walk_count(const struct walk *walk, const struct shard_tensor *tensor,
                                 int64_t elements)
{
    int64_t own = walk_size_of(walk, tensor);
    return own == walk->size ? elements : (elements * own + walk->size - 1) / walk->size;
}

static inline int64_t walk_elements(const struct walk *walk, const struct shard_tensor *tensor)
{
    return walk_count(walk, tensor, tensor->elements);
}

static inline uint32_t walk_unit(const struct walk *walk, const struct shard_point *point)
{
    return point->is_outside_unit ? SHARD_ROOT : walk->model->layers[point->layer].unit;
}

/* The innermost unit with others in it that runs with `unit`, and may be that; or SHARD_ROOT. */
static inline uint32_t walk_around(const struct walk *walk, uint32_t unit)
{
    return walk->units[unit].has_inner ? unit : walk->units[unit].outer;
}

/* The outermost of these that is not open yet, or SHARD_ROOT. */
static inline uint32_t walk_next_around(const struct walk *walk, uint32_t unit)
{
    uint32_t next = SHARD_ROOT, around = walk_around(walk, unit);
    for (; around != SHARD_ROOT; around = walk->units[around].outer)
        next = walk->units[around].is_open ? next : around;
    return next;
}

/* Closes the innermost of these whose forward or backward pass ends at a point. Returns it, or
 * SHARD_ROOT. */
static inline uint32_t walk_close(const struct walk *walk, uint32_t unit, size_t point)
{
    uint32_t around = walk_around(walk, unit);
    for (; around != SHARD_ROOT; around = walk->units[around].outer) {
        const struct unit_sums *sums = &walk->units[around];
        if (sums->is_open && (sums->last_forward == point || sums->last_backward == point))
            break;
    }
    if (around != SHARD_ROOT)
        walk->units[around].is_open = false;
    return around;
}

/* The unit of the model that was divided. */
static inline uint32_t walk_origin(const struct walk *walk, uint32_t unit)
{
    return walk->division->origins ? walk->division->origins[unit] : unit;
}

static inline enum shard_phase walk_phase(const struct shard_point *point)
{
    return point->recomputes    ? SHARD_RECOMPUTATION
           : point->is_backward ? SHARD_BACKWARD
                                : SHARD_FORWARD;
}

/* Shards, and what the optimizer has of them, are on the host. */
static inline bool walk_offloads(const struct walk *walk)
{
    return walk->options->offload && shard_is_full(walk->strategy);
}

/* What the shards of all units take on the device, in bytes: nothing if they are on the host. */
struct flat_shards {
    int64_t parameters, gradients;
};

static inline struct flat_shards walk_flat_shards(const struct walk *walk)
{
    struct flat_shards shards = {0, 0};
    for (size_t i = 0; i < walk->model->unit_count && !walk->options->offload; i++) {
        shards.parameters += walk->units[i].shard * walk->size;
        shards.gradients += walk->units[i].trained_shard * walk->gradient_size;
    }
    return shards;
}

/* A step begins with gradients of the pass or the step before. */
static inline bool walk_begins_with_gradients(const struct walk *walk)
{
    return walk->options->accumulation > 1 || walk->options->keeps_gradients;
}

static inline void walk_begin_units(const struct walk *walk)
{
    for (size_t i = 0; i < walk->model->unit_count; i++) {
        walk->units[i].stays = false;
        walk->units[i].made = 0;
    }
}

void walk_replicated(const struct walk *walk); /* ddp, zero, oss, sdp */
void walk_flat(const struct walk *walk);       /* fsdp */
void walk_flat_torch(const struct walk *walk); /* fsdp1 */
void walk_per_tensor(const struct walk *walk); /* fsdp2 */

/* buckets.c: marks the tensors whose gradients SDP puts into buckets, and returns the elements of
 * all buckets. */
bool shard_buckets(const struct walk *walk, bool *is_bucketed, int64_t *elements,
                   struct error *err);

/* The same file: temporaries of a broadcast as float16. */
bool shard_broadcast(const struct walk *walk, int64_t *bytes, struct error *err);

/* traffic.c */
void shard_traffic_of(const struct walk *walk, struct shard_traffic *traffic);

/* states.c: fills state_bytes, temporary_bytes and main_gradient_bytes, from the owners or the
 * units. */
void walk_set_states(struct walk *walk);

#endif
