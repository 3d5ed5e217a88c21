#include "analysis/shard/walk.h"

#define BLOCK         256  /* elements that share a scale in 8-bit optimizers */
#define LEAST_BLOCKED 4096 /* smaller tensors have float32 states */
#define FLOAT32       4

/* Two states of 8 bits an element, as in bitsandbytes. */
static int64_t blockwise_state(int64_t elements)
{
    if (elements < LEAST_BLOCKED)
        return 2 * FLOAT32 * elements;
    return 2 * elements + 2 * FLOAT32 * ((elements + BLOCK - 1) / BLOCK);
}

static int64_t state_of(const struct walk *walk, int64_t elements, int64_t rows)
{
    const struct shard_options *options = walk->options;
    const struct shard_optimizer *optimizer = options->optimizer;
    int64_t state = 0;
    if (options->custom_state >= 0)
        state = options->custom_state * elements;
    else if (optimizer->is_blockwise)
        state = blockwise_state(elements);
    else if (optimizer->is_factored && rows > 0 && rows < elements)
        state = FLOAT32 * (rows + elements / rows);
    else if (optimizer->is_factored)
        state = FLOAT32 * elements;
    else
        state = (optimizer->copies * (options->has_master ? FLOAT32 : walk->size) +
                 optimizer->state_bytes) *
                elements;
    return state + (options->has_master ? FLOAT32 * elements : 0);
}

static int64_t own_rows(const struct walk *walk, const struct shard_tensor *tensor, int64_t *width)
{
    int64_t rows = tensor->rows > 0 ? tensor->rows : tensor->elements;
    int64_t each = (rows + walk->parts - 1) / walk->parts;
    int64_t first = each * (walk->rank % walk->parts);
    *width = rows > 0 ? tensor->elements / rows : 0;
    return first >= rows ? 0 : rows - first < each ? rows - first : each;
}

/* FSDP2 divides each tensor by rows. */
static int64_t own_elements(const struct walk *walk, const struct shard_tensor *tensor)
{
    int64_t width, rows = own_rows(walk, tensor, &width);
    return rows * width;
}

static void add_tensors(struct walk *walk, int64_t *updated)
{
    const struct shard_model *model = walk->model;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const struct shard_tensor *tensor = &model->tensors[i];
        int64_t elements = tensor->elements, rows = tensor->rows;
        if (tensor->frozen || (walk->owners && walk->owners[i] != walk->rank))
            continue;
        if (walk->strategy == SHARD_FSDP2) {
            elements = own_elements(walk, tensor);
            rows =
                elements > 0 && tensor->rows > 0 ? elements / (tensor->elements / tensor->rows) : 0;
        }
        walk->state_bytes += state_of(walk, elements, rows);
        *updated += elements;
    }
}

/* Flat parameters are updated one after another. */
static void add_flat_units(struct walk *walk)
{
    int64_t before = 0;
    for (size_t i = 0; i < walk->model->unit_count; i++) {
        int64_t shard = walk->units[i].trained > 0 ? walk->units[i].shard : 0;
        int64_t temporary = 2 * shard + before;
        walk->state_bytes += state_of(walk, shard, 0);
        if (walk->temporary_bytes < temporary * walk->size)
            walk->temporary_bytes = temporary * walk->size;
        before = shard;
    }
    if (walk->options->optimizer->temporaries == SHARD_NO_TEMPORARIES || walk->options->not_foreach)
        walk->temporary_bytes = 0;
}

void walk_set_states(struct walk *walk)
{
    int64_t updated = 0, size = walk->options->has_master ? FLOAT32 : walk->size;
    walk->state_bytes = walk->temporary_bytes = 0;
    if (walk->strategy == SHARD_FSDP) {
        add_flat_units(walk);
        return;
    }
    add_tensors(walk, &updated);
    if (walk->options->optimizer->temporaries == SHARD_FOREACH_TEMPORARIES &&
        !walk->options->not_foreach)
        walk->temporary_bytes = updated * size;
}
