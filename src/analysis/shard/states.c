#include "analysis/shard/optimizers.h"
#include "analysis/shard/walk.h"

static int64_t own_rows(const struct walk *walk, int64_t rows)
{
    int64_t each = (rows + walk->parts - 1) / walk->parts;
    int64_t first = each * (walk->rank % walk->parts);
    return first >= rows ? 0 : rows - first < each ? rows - first : each;
}

/* The part of a tensor that the rank updates: all of it, or its rows. */
static struct shard_part part_of(const struct walk *walk, const struct shard_tensor *tensor)
{
    struct shard_part part = {.elements = tensor->elements,
                              .height = tensor->height,
                              .width = tensor->width,
                              .dimensions = tensor->dimensions};
    if (walk->strategy != SHARD_FSDP2)
        return part;
    int64_t rows = tensor->rows > 0 ? tensor->rows : tensor->elements;
    int64_t own = own_rows(walk, rows);
    part.elements = rows > 0 ? own * (tensor->elements / rows) : 0;
    if (part.dimensions == 2)
        part.height = own;
    return part;
}

static void add_part(struct walk *walk, struct shard_step *step, struct shard_part part,
                     int64_t size)
{
    walk->state_bytes += shard_state_bytes(walk->options, part, size);
    walk->main_gradient_bytes += shard_main_gradient_bytes(walk->options, part);
    shard_step_add(step, part, size);
}

static void add_tensors(struct walk *walk, struct shard_step *step)
{
    const struct shard_model *model = walk->model;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const struct shard_tensor *tensor = &model->tensors[i];
        if (!tensor->frozen && (!walk->owners || walk->owners[i] == walk->rank))
            add_part(walk, step, part_of(walk, tensor), walk_size_of(walk, tensor));
    }
}

static void add_flat_parameters(struct walk *walk, struct shard_step *step)
{
    for (size_t i = 0; i < walk->model->unit_count; i++) {
        const struct unit_sums *sums = &walk->units[i];
        if (sums->trained > 0)
            add_part(walk, step, (struct shard_part){.elements = sums->shard, .dimensions = 1},
                     walk->size);
    }
}

static void add_flat_units(struct walk *walk, struct shard_step *step)
{
    step->is_one_by_one = true;
    add_flat_parameters(walk, step);
}

/* use_orig_params=True: what a rank has of each parameter is a vector of its own. The parameters
 * lie in the flat tensor of their unit one behind the other; the gaps that align them are left out.
 * See walk_splits() for frozen ones. */
static void add_original_parts(struct walk *walk, struct shard_step *step)
{
    const struct shard_model *model = walk->model;
    int64_t rank = walk->rank % walk->parts;
    for (size_t unit = 0; unit < model->unit_count; unit++)
        walk->units[unit].own = 0;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const struct shard_tensor *tensor = &model->tensors[i];
        struct unit_sums *sums = &walk->units[tensor->unit];
        int64_t first = sums->trained_shard * rank, end = first + sums->trained_shard;
        int64_t begin = sums->own, behind = begin + walk_elements(walk, tensor);
        if (!tensor->frozen || !walk_splits(walk))
            sums->own = behind;
        if (tensor->frozen)
            continue;
        first = first > begin ? first : begin;
        end = end < behind ? end : behind;
        if (end > first)
            add_part(walk, step, (struct shard_part){.elements = end - first, .dimensions = 1},
                     walk->size);
    }
}

void walk_set_states(struct walk *walk)
{
    struct shard_step step = {.options = walk->options};
    walk->state_bytes = walk->main_gradient_bytes = 0;
    if (walk->strategy == SHARD_FSDP)
        add_flat_units(walk, &step);
    else if (walk->strategy == SHARD_FSDP1)
        (walk->options->has_flat_parameters ? add_flat_parameters : add_original_parts)(walk,
                                                                                        &step);
    else
        add_tensors(walk, &step);
    walk->temporary_bytes = shard_step_temporaries(&step);
    walk->multiplies = step.multiplies && !walk->options->offload;
}
