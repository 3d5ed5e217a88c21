#include "analysis/shard/partition.h"

#include <stdlib.h>

/* Ranks are in a binary heap: the one with the fewest elements first, of several the lowest. */
struct load {
    int64_t elements;
    uint32_t rank;
};

static bool comes_before(const struct load *a, const struct load *b)
{
    return a->elements < b->elements || (a->elements == b->elements && a->rank < b->rank);
}

static void add_to_first(struct load *heap, size_t count, int64_t elements)
{
    struct load moving = heap[0];
    size_t at = 0, child;
    moving.elements += elements;
    while ((child = 2 * at + 1) < count) {
        if (child + 1 < count && comes_before(&heap[child + 1], &heap[child]))
            child++;
        if (!comes_before(&heap[child], &moving))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

struct item {
    int64_t elements, load;
    uint32_t place, tensor;
};

/* In the order of model.parameters(). */
static int compare_places(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

/* By falling size; equal sizes keep their order. */
static int compare_sizes(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->elements != y->elements)
        return x->elements < y->elements ? 1 : -1;
    return compare_places(a, b);
}

static void share_out(const struct item *items, size_t count, struct load *heap, size_t world,
                      uint32_t *owners)
{
    for (size_t i = 0; i < world; i++)
        heap[i] = (struct load){0, (uint32_t)i};
    for (size_t i = 0; i < count; i++) {
        owners[items[i].tensor] = heap[0].rank;
        add_to_first(heap, world, items[i].load);
    }
}

bool shard_partition(const struct shard_model *model, enum shard_strategy strategy, int64_t world,
                     uint32_t *owners, struct error *err)
{
    size_t count = model->tensor_count, ranks = (size_t)world;
    struct load *heap = calloc(ranks, sizeof(*heap));
    struct item *items = calloc(count, sizeof(*items));
    bool ok = heap && items;
    if (ok) {
        for (size_t i = 0; i < count; i++) {
            const struct shard_tensor *tensor = &model->tensors[i];
            bool is_light = !shard_is_trained(tensor) && strategy != SHARD_ZERO;
            items[i] = (struct item){.elements = tensor->elements,
                                     .load = is_light ? 1 : tensor->elements,
                                     .place = tensor->place,
                                     .tensor = (uint32_t)i};
        }
        qsort(items, count, sizeof(*items),
              strategy == SHARD_ZERO ? compare_sizes : compare_places);
        share_out(items, count, heap, ranks, owners);
    }
    free(heap);
    free(items);
    return ok || error_out_of_memory(err);
}
