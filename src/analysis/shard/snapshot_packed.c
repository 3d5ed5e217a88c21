/* The parameters of recurrent layers. cuDNN takes those of a layer as one tensor, whose gradient is
 * one, too; but torch made them one by one before it packed them, and optimizers and wrappers see
 * each. */
#include "analysis/shard/snapshot_reader.h"

/* What was made and packed into one block. */
struct packing {
    int64_t bytes;       /* of the block */
    size_t first, count; /* in sizes */
};

struct packings {
    struct packing *items;
    size_t count, capacity;
    int64_t *sizes; /* bytes, in the order of the parameters */
    size_t size_count, size_capacity;
};

/* The innermost function of torch's file of recurrent modules; empty if there is none. */
static struct text recurrent_function(const struct snapshot_reader *reader, stack_id id)
{
    struct stack stack = symbols_stack_at(reader->symbols, id);
    for (size_t i = 0; i < stack.count; i++)
        if (snapshot_is_torch_file(reader, stack.frames[i], "rnn.py"))
            return symbols_text(reader->symbols,
                                symbols_frame_at(reader->symbols, stack.frames[i]).name);
    return (struct text){"", 0};
}

/* The block packs what was made since the last packing, if it is as large as that or little larger.
 */
static bool end_packing(struct packings *packings, int64_t bytes, struct budget *budget,
                        struct error *err)
{
    size_t first = 0;
    int64_t sum = 0;
    if (packings->count > 0)
        first =
            packings->items[packings->count - 1].first + packings->items[packings->count - 1].count;
    for (size_t i = first; i < packings->size_count; i++)
        sum += packings->sizes[i];
    if (sum > bytes || sum < bytes - bytes / 10) {
        packings->size_count = first;
        return true;
    }
    return vec_push(packings->items, packings->count, packings->capacity, budget, err,
                    (struct packing){bytes, first, packings->size_count - first});
}

static bool find_packings(const struct snapshot_reader *reader, struct packings *packings,
                          struct error *err)
{
    const struct timeline *timeline = reader->timeline;
    struct budget *budget = reader->model->budget;
    for (size_t i = 0;
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < reader->chain->first; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        int64_t bytes = (int64_t)trace_size(timeline->trace, item);
        struct text function = recurrent_function(reader, timeline->trace->stack[item]);
        bool packs = text_ends(function, "flatten_parameters");
        bool makes = text_ends(function, "_apply") || text_ends(function, "__init__");
        if (packs && !end_packing(packings, bytes, budget, err))
            return false;
        if (makes && !vec_push(packings->sizes, packings->size_count, packings->size_capacity,
                               budget, err, bytes))
            return false;
    }
    return true;
}

static void shift(uint32_t *number, uint32_t behind, uint32_t by)
{
    *number += *number > behind ? by : 0;
}

/* Puts several tensors in the place of one. */
static bool split(struct shard_model *model, uint32_t at, const int64_t *sizes, size_t count,
                  struct error *err)
{
    struct shard_tensor packed = model->tensors[at];
    uint32_t more = (uint32_t)count - 1;
    for (size_t i = 0; i < more; i++)
        if (!vec_push(model->tensors, model->tensor_count, model->tensor_capacity, model->budget,
                      err, packed))
            return false;
    for (size_t i = model->tensor_count; i-- > at + count;)
        model->tensors[i] = model->tensors[i - more];
    for (size_t i = 0; i < count; i++) {
        int64_t elements = i < more ? sizes[i] / ELEMENT : packed.elements;
        packed.elements -= elements;
        model->tensors[at + i] = packed;
        model->tensors[at + i].elements = elements;
    }
    for (size_t i = 0; i < model->layer_count; i++) {
        shift(&model->layers[i].first_tensor, at, more);
        shift(&model->layers[i].end_tensor, at, more);
    }
    for (size_t i = 0; i < model->point_count; i++) {
        shift(&model->points[i].first_tensor, at, more);
        shift(&model->points[i].end_tensor, at, more);
    }
    return true;
}

static bool split_all(struct shard_model *model, const struct packings *packings, struct error *err)
{
    for (size_t at = model->tensor_count; at-- > 0;) {
        const struct packing *found = NULL;
        for (size_t i = 0; model->tensors[at].packs && i < packings->count && !found; i++)
            if (packings->items[i].bytes / ELEMENT == model->tensors[at].elements)
                found = &packings->items[i];
        if (found && found->count > 1 &&
            !split(model, (uint32_t)at, &packings->sizes[found->first], found->count, err))
            return false;
    }
    return true;
}

bool snapshot_split_packed(const struct snapshot_reader *reader, struct error *err)
{
    struct packings packings = {0};
    struct budget *budget = reader->model->budget;
    bool ok = find_packings(reader, &packings, err) && split_all(reader->model, &packings, err);
    vec_free(packings.items, packings.capacity, sizeof(*packings.items), budget);
    vec_free(packings.sizes, packings.size_capacity, sizeof(*packings.sizes), budget);
    return ok;
}
