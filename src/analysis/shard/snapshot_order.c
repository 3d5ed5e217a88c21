/* The order of model.parameters(), which is that of allocation: a model is moved to its device, or
 * made there, module by module. The forward pass may use them in another order. */
#include <stdlib.h>

#include "analysis/shard/snapshot_reader.h"

struct placed {
    uint64_t order;
    uint32_t tensor;
    int64_t bytes;
};

static int compare_tensors(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->tensor < y->tensor) - (x->tensor > y->tensor);
}

static int compare_orders(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

/* Of equal sizes the order is that of use. Returns false unless each tensor has a parameter that
 * was made in the trace: the addresses of older ones are in no order. */
static bool match(const struct held_parameters *held, struct placed *tensors, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < held->count; i++) {
        const struct held_parameter *row = &held->rows[i];
        if (!row->is_trained)
            continue;
        if (at == count || tensors[at].bytes != row->bytes || row->order < HELD_IN_TRACE)
            return false;
        tensors[at++].order = row->order;
    }
    return at == count;
}

bool snapshot_order_tensors(struct shard_model *model, const struct held_parameters *held,
                            struct error *err)
{
    size_t count = model->tensor_count;
    struct placed *tensors = calloc(count + 1, sizeof(*tensors));
    if (!tensors)
        return error_out_of_memory(err);
    for (size_t i = 0; i < count; i++)
        tensors[i] =
            (struct placed){.tensor = (uint32_t)i, .bytes = model->tensors[i].elements * ELEMENT};
    qsort(tensors, count, sizeof(*tensors), compare_tensors);
    if (match(held, tensors, count)) {
        qsort(tensors, count, sizeof(*tensors), compare_orders);
        for (size_t i = 0; i < count; i++)
            model->tensors[tensors[i].tensor].place = (uint32_t)i;
    }
    free(tensors);
    return true;
}
