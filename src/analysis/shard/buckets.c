/* The buckets of FairScale's ShardedDataParallel. Each owner has one. Its tensors are tried by
 * rising size, and those that no longer fit stay outside. */
#include <stdlib.h>

#include "analysis/shard/walk.h"

#define MOST_IN_BUCKET (INT64_C(1) << 23) /* elements */
#define HALF           2                  /* bytes of float16 */

struct item {
    int64_t elements;
    uint32_t owner, place, tensor;
};

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->elements != y->elements)
        return x->elements < y->elements ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

bool shard_buckets(const struct walk *walk, bool *is_bucketed, int64_t *elements, struct error *err)
{
    const struct shard_model *model = walk->model;
    int64_t most = walk->options->reduce_buffer, all = shard_elements(model), filled = 0;
    struct item *items = calloc(model->tensor_count, sizeof(*items));
    if (!items)
        return error_out_of_memory(err);
    if (most > MOST_IN_BUCKET)
        most = MOST_IN_BUCKET;
    if (most > all)
        most = all;
    size_t count = 0;
    for (size_t i = 0; i < model->tensor_count; i++)
        if (shard_is_trained(&model->tensors[i]))
            items[count++] = (struct item){.elements = model->tensors[i].elements,
                                           .owner = walk->owners[i],
                                           .place = model->tensors[i].place,
                                           .tensor = (uint32_t)i};
    qsort(items, count, sizeof(*items), compare_items);
    *elements = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && items[i].owner != items[i - 1].owner)
            filled = 0;
        if (filled + items[i].elements >= most)
            continue;
        filled += items[i].elements;
        *elements += walk_elements(walk, &model->tensors[items[i].tensor]);
        is_bucketed[items[i].tensor] = true;
    }
    free(items);
    return true;
}

/* The most that exists at once, beside the float32 parameters. All owners' parameters are first
 * converted to float16. Then those of one owner after the other are converted back, and the new
 * float32 tensor exists beside the old one: see OSS._broadcast_params() and ParamBucket.to() of
 * FairScale. */
static int64_t broadcast_of(const int64_t *own, size_t world, int64_t size)
{
    int64_t all = 0, highest = 0;
    for (size_t i = 0; i < world; i++)
        all += own[i] * HALF;
    for (size_t i = 0; i < world; i++) {
        if (all + own[i] * size > highest)
            highest = all + own[i] * size;
        all -= own[i] * HALF;
    }
    return highest;
}

bool shard_broadcast(const struct walk *walk, int64_t *bytes, struct error *err)
{
    const struct shard_model *model = walk->model;
    size_t world = (size_t)walk->options->world;
    int64_t *own = calloc(world, sizeof(*own));
    if (!own)
        return error_out_of_memory(err);
    for (size_t i = 0; i < model->tensor_count; i++)
        if (shard_is_trained(&model->tensors[i]))
            own[walk->owners[i]] += walk_elements(walk, &model->tensors[i]);
    *bytes = broadcast_of(own, world, walk->size);
    free(own);
    return true;
}
