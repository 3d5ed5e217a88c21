/* The order of model.parameters(), which is that of allocation: a model is moved to its device, or
 * made there, module by module. The forward pass may use them in another order.
 *
 * But parameters() begins with those that the model itself has, and moving ends with them. The same
 * is true of each module within it, but which of the modules before belong to one, stacks do not
 * tell. */
#include <stdlib.h>

#include "analysis/shard/snapshot_reader.h"

struct placed {
    uint32_t tensor, place;
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
    const struct held_parameter *x = *(struct held_parameter *const *)a;
    const struct held_parameter *y = *(struct held_parameter *const *)b;
    return (x->order > y->order) - (x->order < y->order);
}

/* How many rows before `at` are of modules within the model that moved the row `at`. */
static size_t count_within(struct held_parameter *const *rows, size_t at)
{
    size_t first = at;
    while (first > 0 && rows[first - 1]->line == rows[at]->line && !rows[first - 1]->is_of_model)
        first--;
    return at - first;
}

/* Sets the places of the rows of modules within a model, then its own ones. */
static void number_model(struct held_parameter **rows, size_t at, size_t within)
{
    size_t own = at, first = at - within;
    while (rows[at] && rows[at]->is_of_model && rows[at]->line == rows[own]->line)
        rows[at++]->place = (uint32_t)first++;
    for (size_t i = own - within; i < own; i++)
        rows[i]->place = (uint32_t)first++;
}

/* Trained and frozen parameters have one order: owners are chosen among both. */
static void number_rows(struct held_parameters *held, struct held_parameter **rows)
{
    for (size_t i = 0; i < held->count; i++)
        rows[i] = &held->rows[i];
    qsort(rows, held->count, sizeof(struct held_parameter *), compare_orders);
    for (size_t i = 0; i < held->count; i++)
        rows[i]->place = (uint32_t)i;
    for (size_t i = 0; i < held->count; i++) {
        size_t within = rows[i]->is_of_model ? count_within(rows, i) : 0;
        if (within > 0)
            number_model(rows, i, within);
    }
}

/* By size, and the last first. */
static int compare_held(const void *a, const void *b)
{
    const struct held_parameter *x = *(struct held_parameter *const *)a;
    const struct held_parameter *y = *(struct held_parameter *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->order < y->order) - (x->order > y->order);
}

/* Gives each tensor the place of a parameter of its size; those of equal size get them in the order
 * of their use. Returns false unless all these parameters were made in the trace: the addresses of
 * older ones do not tell their order. */
static bool match(struct held_parameter *const *rows, size_t row_count, struct placed *tensors,
                  size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < row_count; i++) {
        const struct held_parameter *row = rows[i];
        if (!row->is_trained)
            continue;
        if (at == count || tensors[at].bytes != row->bytes || row->order < HELD_IN_TRACE)
            return false;
        tensors[at++].place = row->place;
    }
    return at == count;
}

bool snapshot_order_tensors(struct shard_model *model, struct held_parameters *held,
                            struct error *err)
{
    size_t count = model->tensor_count;
    struct placed *tensors = calloc(count + 1, sizeof(*tensors));
    struct held_parameter **rows = calloc(held->count + 1, sizeof(struct held_parameter *));
    bool ok = tensors && rows;
    for (size_t i = 0; ok && i < count; i++)
        tensors[i] =
            (struct placed){.tensor = (uint32_t)i, .bytes = model->tensors[i].elements * ELEMENT};
    if (ok) {
        qsort(tensors, count, sizeof(*tensors), compare_tensors);
        number_rows(held, rows);
        qsort(rows, held->count, sizeof(struct held_parameter *), compare_held);
    }
    if (ok && match(rows, held->count, tensors, count))
        for (size_t i = 0; i < count; i++)
            model->tensors[tensors[i].tensor].place = tensors[i].place;
    free(rows);
    free(tensors);
    return ok || error_out_of_memory(err);
}
