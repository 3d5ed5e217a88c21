/* State and temporaries of optimizers, for one tensor after the other, as torch.optim, bitsandbytes
 * and lion_pytorch allocate them. */
#ifndef MEMSNAP_ANALYSIS_SHARD_OPTIMIZERS_H
#define MEMSNAP_ANALYSIS_SHARD_OPTIMIZERS_H

#include "analysis/shard/options.h"

/* The part of a tensor that a rank updates. */
struct shard_part {
    int64_t elements;
    int64_t height, width; /* the last two dimensions, if there are two */
    unsigned dimensions;   /* 0: unknown; the part then counts as a square matrix */
};

int64_t shard_state_bytes(const struct shard_options *options, struct shard_part part,
                          int64_t size);

/* Of the float32 gradients that the optimizer keeps; 0 without them. */
int64_t shard_main_gradient_bytes(const struct shard_options *options, struct shard_part part);

/* A step of the optimizer. Zero it, set the first two members, then add all parts in order. */
struct shard_step {
    const struct shard_options *options;
    bool is_one_by_one; /* parameters for which PyTorch has no foreach: flat ones */
    int64_t all;        /* bytes of temporaries that exist together */
    int64_t highest;    /* of those that exist while one tensor is updated */
    int64_t before;     /* of those that are left of the tensor before */
    bool multiplies;    /* it multiplies matrices, for which cuBLAS takes a workspace */
};

void shard_step_add(struct shard_step *step, struct shard_part part, int64_t size);
int64_t shard_step_temporaries(const struct shard_step *step);

#endif
