#include "base/budget.h"

#include <string.h>

#include "base/machine.h"
#include "base/pages.h"
#include "base/units.h"

#define SMALLEST_VEC_BYTES 64

size_t budget_default_limit(void)
{
    uint64_t limit = machine_memory("") / 4 * 3;
    return limit < SIZE_MAX ? (size_t)limit : SIZE_MAX;
}

bool budget_take(struct budget *budget, size_t bytes, struct error *err)
{
    if (bytes > budget->limit - budget->used) {
        char limit[UNITS_TEXT_SIZE];
        uint64_t shown = budget->limit < INT64_MAX ? budget->limit : INT64_MAX;
        return error_set(err, STATUS_LIMIT, "more than the memory limit of %s is needed",
                         units_bytes(limit, (int64_t)shown, UNIT_AUTO));
    }
    budget->used += bytes;
    return true;
}

void budget_give(struct budget *budget, size_t bytes)
{
    budget->used -= bytes;
}

/* Doubles the capacity, but returns at least `need` and at least a minimal allocation. */
static size_t next_capacity(size_t capacity, size_t need, size_t item)
{
    size_t next = capacity <= SIZE_MAX / 2 ? capacity * 2 : SIZE_MAX;
    if (next < SMALLEST_VEC_BYTES / item)
        next = SMALLEST_VEC_BYTES / item;
    return next > need ? next : need;
}

bool vec_grow_beyond(void **data, size_t *capacity, size_t need, size_t item, struct budget *budget,
                     struct error *err)
{
    size_t next = next_capacity(*capacity, need, item);
    size_t bytes;
    if (__builtin_mul_overflow(next, item, &bytes))
        return error_set(err, STATUS_LIMIT, "%zu items of %zu bytes are too many", next, item);

    size_t more = bytes - *capacity * item;
    if (!budget_take(budget, more, err))
        return false;

    /* `data` points to a pointer of the caller's own type: it is copied to respect strict aliasing.
     */
    void *old;
    memcpy(&old, data, sizeof(old));
    void *grown = pages_resize(old, bytes);
    if (!grown) {
        budget_give(budget, more);
        return error_out_of_memory(err);
    }
    memcpy(data, &grown, sizeof(grown));
    *capacity = next;
    return true;
}

void vec_free(void *data, size_t capacity, size_t item, struct budget *budget)
{
    if (!data)
        return;
    pages_free(data);
    budget_give(budget, capacity * item);
}
