/* Sources: torch/optim of PyTorch 2.15 (adam.py, _adafactor.py, _muon.py), bitsandbytes 0.50
 * (optim/optimizer.py: Optimizer2State.init_state), lion_pytorch 0.2.5 (update_fn). */
#include "analysis/shard/optimizers.h"

#define BLOCK         256  /* elements that share a scale in 8-bit optimizers */
#define LEAST_BLOCKED 4096 /* smaller tensors have float32 states */
#define FLOAT32       4
#define BFLOAT16      2

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rounded down. */
static int64_t square_root(int64_t n)
{
    int64_t low = 0, high = INT64_C(1) << 31;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (middle * middle <= n)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static struct shard_part with_shape(struct shard_part part)
{
    if (part.dimensions > 0)
        return part;
    part.dimensions = 2;
    part.height = part.width = square_root(part.elements);
    return part;
}

/* Two states of 8 bits an element, and a scale for each block. */
static int64_t blockwise_state(int64_t elements)
{
    if (elements < LEAST_BLOCKED)
        return 2 * FLOAT32 * elements;
    return 2 * elements + 2 * FLOAT32 * ((elements + BLOCK - 1) / BLOCK);
}

/* A value for each row and each column of the last two dimensions. */
static int64_t factored_elements(struct shard_part part)
{
    if (part.dimensions < 2)
        return part.elements;
    return part.elements / larger(part.width, 1) + part.elements / larger(part.height, 1);
}

static bool is_matrix(struct shard_part part)
{
    return part.dimensions == 2;
}

int64_t shard_state_bytes(const struct shard_options *options, struct shard_part part, int64_t size)
{
    const struct shard_optimizer *optimizer = options->optimizer;
    int64_t master = options->has_master ? FLOAT32 * part.elements : 0;
    part = with_shape(part);
    if (options->has_master)
        size = FLOAT32;
    if (options->custom_state >= 0)
        return options->custom_state * part.elements + master;
    switch (optimizer->rule) {
    case SHARD_BLOCKWISE:
        return blockwise_state(part.elements) + master;
    case SHARD_FACTORED:
        return factored_elements(part) * size + master;
    case SHARD_ORTHOGONAL: /* AdamW for what is not a matrix */
        return (is_matrix(part) ? 1 : 2) * part.elements * size + master;
    default:
        return optimizer->copies * part.elements * size + master;
    }
}

int64_t shard_main_gradient_bytes(const struct shard_options *options, struct shard_part part)
{
    return options->has_main_gradients ? FLOAT32 * part.elements : 0;
}

/* Adam's foreach makes one temporary of all parameters. */
static void add_adam(struct shard_step *step, int64_t bytes)
{
    if (!step->is_one_by_one) {
        step->all += bytes;
        return;
    }
    step->highest = larger(step->highest, 2 * bytes + step->before); /* `denom` of the one before */
    step->before = bytes;
}

/* `var_estimate` of this tensor, while `update` still has that of the tensor before; and the
 * squares of a vector's gradient. */
static void add_adafactor(struct shard_step *step, struct shard_part part, int64_t size)
{
    int64_t bytes = part.elements * size;
    int64_t squares = part.dimensions < 2 ? bytes : 0;
    step->highest = larger(step->highest, bytes + squares + step->before);
    step->before = bytes;
}

/* The update in the type of the gradient, two copies of it as bfloat16, and two square matrices. */
static void add_muon(struct shard_step *step, struct shard_part part, int64_t size)
{
    int64_t side = smaller(part.height, part.width);
    if (!is_matrix(part)) {
        add_adam(step, part.elements * size);
        return;
    }
    step->multiplies = true;
    step->highest =
        larger(step->highest, part.elements * (size + 2 * BFLOAT16) + 2 * side * side * BFLOAT16);
}

void shard_step_add(struct shard_step *step, struct shard_part part, int64_t size)
{
    part = with_shape(part);
    if (step->options->has_master)
        size = FLOAT32;
    switch (step->options->optimizer->rule) {
    case SHARD_ADAM:
        if (!step->options->not_foreach)
            add_adam(step, part.elements * size);
        break;
    case SHARD_FACTORED:
        add_adafactor(step, part, size);
        break;
    case SHARD_SIGN: /* a copy of the average, and its sum with the gradient */
        step->highest = larger(step->highest, 2 * part.elements * size);
        break;
    case SHARD_ORTHOGONAL:
        add_muon(step, part, size);
        break;
    default:
        break;
    }
}

int64_t shard_step_temporaries(const struct shard_step *step)
{
    return larger(step->all, step->highest);
}
