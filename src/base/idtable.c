#include "base/idtable.h"

#include <stdlib.h>

#define SMALLEST_CAPACITY ((size_t)64)

static void place(struct idslot *slots, size_t capacity, struct idslot slot)
{
    size_t at = slot.tag & (capacity - 1);
    while (slots[at].id_plus_one != 0)
        at = (at + 1) & (capacity - 1);
    slots[at] = slot;
}

/* At most two thirds of the slots are taken, so probes are short and always end. */
bool idtable_reserve(struct idtable *table, struct budget *budget, struct error *err)
{
    if (table->count + 1 <= table->capacity / 3 * 2)
        return true;

    size_t capacity = table->capacity ? table->capacity * 2 : SMALLEST_CAPACITY;
    size_t bytes;
    if (__builtin_mul_overflow(capacity, sizeof(struct idslot), &bytes))
        return error_set(err, STATUS_LIMIT, "%zu table slots are too many", capacity);
    if (!budget_take(budget, bytes, err))
        return false;
    struct idslot *slots = calloc(capacity, sizeof(*slots));
    if (!slots) {
        budget_give(budget, bytes);
        return error_out_of_memory(err);
    }

    for (size_t i = 0; i < table->capacity; i++)
        if (table->slots[i].id_plus_one != 0)
            place(slots, capacity, table->slots[i]);
    size_t count = table->count;
    idtable_release(table, budget);
    *table = (struct idtable){.slots = slots, .capacity = capacity, .count = count};
    return true;
}

void idtable_insert(struct idtable *table, uint32_t tag, uint32_t id)
{
    place(table->slots, table->capacity, (struct idslot){.tag = tag, .id_plus_one = id + 1});
    table->count++;
}

bool idtable_add(struct idtable *table, uint32_t tag, uint32_t id, struct budget *budget,
                 struct error *err)
{
    if (!idtable_reserve(table, budget, err))
        return false;
    idtable_insert(table, tag, id);
    return true;
}

void idtable_release(struct idtable *table, struct budget *budget)
{
    free(table->slots);
    budget_give(budget, table->capacity * sizeof(*table->slots));
    *table = (struct idtable){0};
}
