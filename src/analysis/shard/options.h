/* The settings of a prediction: strategy, optimizer, data types, and the libraries' options. */
#ifndef MEMSNAP_ANALYSIS_SHARD_OPTIONS_H
#define MEMSNAP_ANALYSIS_SHARD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum shard_strategy {
    SHARD_DDP,   /* DistributedDataParallel; see shard_is_plain() */
    SHARD_ZERO,  /* torch's ZeroRedundancyOptimizer, with DDP */
    SHARD_OSS,   /* FairScale's OSS, with DDP */
    SHARD_SDP,   /* FairScale's ShardedDataParallel, with OSS */
    SHARD_FSDP,  /* FairScale's FullyShardedDataParallel */
    SHARD_FSDP1, /* torch's FullyShardedDataParallel */
    SHARD_FSDP2, /* torch's fully_shard() */
    SHARD_STRATEGIES,
};

const char *shard_strategy_name(enum shard_strategy strategy); /* "ddp", ... */

/* Parameters, gradients and state are divided. */
static inline bool shard_is_full(enum shard_strategy strategy)
{
    return strategy == SHARD_FSDP || strategy == SHARD_FSDP1 || strategy == SHARD_FSDP2;
}

/* The ranks among which a unit is divided may be a group. */
static inline bool shard_has_groups(enum shard_strategy strategy)
{
    return strategy == SHARD_FSDP1 || strategy == SHARD_FSDP2;
}

/* How an optimizer's state and temporaries follow from a tensor: see optimizers.c. */
enum shard_rule {
    SHARD_SGD,
    SHARD_ADAM,
    SHARD_BLOCKWISE,  /* 8 bits an element, and a scale for each block */
    SHARD_FACTORED,   /* Adafactor: a value for each row and each column */
    SHARD_SIGN,       /* Lion */
    SHARD_ORTHOGONAL, /* Muon, and AdamW for what is not a matrix */
};

struct shard_optimizer {
    const char *name;
    unsigned copies; /* states of a parameter's own size and type, if the rule needs them */
    enum shard_rule rule;
};

extern const struct shard_optimizer shard_optimizers[]; /* ends with a NULL name */

const struct shard_optimizer *shard_optimizer_find(const char *name); /* NULL: none */

/* False for optimizers that do not take the DTensors of fully_shard(): Adafactor's in-place pow_()
 * has no rule for them, and bitsandbytes passes plain tensors beside them. */
bool shard_optimizer_runs(const struct shard_optimizer *optimizer, enum shard_strategy strategy);

enum shard_backward_prefetch { SHARD_PREFETCH_PRE, SHARD_PREFETCH_POST, SHARD_PREFETCH_NONE };

enum shard_reshard { SHARD_RESHARD, SHARD_KEEP, SHARD_RESHARD_LAST };

struct shard_options {
    int64_t world; /* 1 to SHARD_MOST_WORLD */
    int64_t group; /* fsdp1, fsdp2: shard within this many ranks; 0: all */
    const struct shard_optimizer *optimizer;
    int64_t custom_state;   /* bytes of state for an element; < 0: those of the optimizer */
    int64_t parameter_size; /* bytes of an element; 0: as recorded */
    int64_t compute_size;   /* fsdp*: element of gathered parameters; 0: the same */
    int64_t reduce_size;    /* fsdp*: element of reduced gradients; 0: the default */
    const char *parameter_type, *compute_type, *reduce_type; /* their names; NULL: not given */
    bool has_master;            /* a float32 copy of the parameters that are updated */
    bool has_main_gradients;    /* float32 gradients of them, from step to step */
    bool not_foreach;           /* fused: no temporaries */
    double batch;               /* factor of activations */
    int64_t accumulation;       /* backward passes for each optimizer step */
    bool keeps_gradients;       /* zero_grad(set_to_none=False) */
    bool bucket_view;           /* ddp, zero: gradient_as_bucket_view */
    int64_t reduce_buffer;      /* sdp: reduce_buffer_size, in elements */
    bool half_broadcast;        /* oss, sdp: broadcast_fp16 */
    bool reduces_at_once;       /* sdp: a reduction takes no time, as in dry runs */
    enum shard_reshard reshard; /* fsdp*: reshard_after_forward */
    int64_t prefetch;           /* fsdp2: units gathered ahead in backward; at least 1 */
    int64_t
        forward_prefetch; /* fsdp2: in forward, set_modules_to_forward_prefetch(); fsdp1: not 0 */
    enum shard_backward_prefetch backward_prefetch; /* fsdp1 */
    bool has_flat_parameters;                       /* fsdp1: use_orig_params=False */
    bool offload;                                   /* fsdp*: shards on the host */
    double bandwidth, latency_us; /* bytes per second and microseconds a call; 0: unknown */
};

/* One rank has nothing to share: ddp is then the program as it is, without
 * DistributedDataParallel. */
static inline bool shard_is_plain(enum shard_strategy strategy, int64_t world)
{
    return world == 1 && strategy == SHARD_DDP;
}

/* The other strategies are then of use for what they keep on the host only. */
static inline bool shard_is_of_use(const struct shard_options *options,
                                   enum shard_strategy strategy)
{
    return options->world > 1 || strategy == SHARD_DDP ||
           (options->offload && shard_is_full(strategy));
}

void shard_options_init(struct shard_options *options);

#endif
