/* A hash table from 32-bit hashes to 32-bit ids: open addressing over 8-byte slots. Only the caller
 * knows what an id stands for and when two items are equal:
 *
 *     if (idtable_find(&table, tag, is_equal, items, &wanted, &id)) return id;
 *     if (!idtable_add(&table, tag, new_id, budget, err)) return false; */
#ifndef MEMSNAP_BASE_IDTABLE_H
#define MEMSNAP_BASE_IDTABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"

/* The largest id: a slot stores the id plus 1, since 0 marks a free slot. */
#define IDTABLE_MAX_ID (UINT32_MAX - 1)

struct idslot {
    uint32_t tag;
    uint32_t id_plus_one; /* 0: free */
};

struct idtable {
    struct idslot *slots; /* `capacity` slots, a power of two, or NULL */
    size_t capacity, count;
};

struct idprobe {
    size_t at;
    uint32_t tag;
};

/* Makes room for one more id. Required before every insertion. */
bool idtable_reserve(struct idtable *table, struct budget *budget, struct error *err);
void idtable_insert(struct idtable *table, uint32_t tag, uint32_t id);
/* Reserves room and inserts. */
bool idtable_add(struct idtable *table, uint32_t tag, uint32_t id, struct budget *budget,
                 struct error *err);
void idtable_release(struct idtable *table, struct budget *budget);

static inline struct idprobe idtable_probe(const struct idtable *table, uint32_t tag)
{
    return (struct idprobe){.at = table->capacity ? tag & (table->capacity - 1) : 0, .tag = tag};
}

/* The next id with the probe's tag; false when there are no more. */
static inline bool idtable_next(const struct idtable *table, struct idprobe *probe, uint32_t *id)
{
    if (table->capacity == 0)
        return false;
    for (;;) {
        struct idslot slot = table->slots[probe->at];
        if (slot.id_plus_one == 0)
            return false;
        probe->at = (probe->at + 1) & (table->capacity - 1);
        if (slot.tag == probe->tag) {
            *id = slot.id_plus_one - 1;
            return true;
        }
    }
}

/* True if the item `id` of `items` equals `wanted`. */
typedef bool idtable_equal(const void *items, uint32_t id, const void *wanted);

/* Finds the id with this tag whose item equals `wanted`. Inlined, so that `equal` is inlined too.
 */
static inline __attribute__((always_inline)) bool idtable_find(const struct idtable *table,
                                                               uint32_t tag, idtable_equal *equal,
                                                               const void *items,
                                                               const void *wanted, uint32_t *id)
{
    struct idprobe probe = idtable_probe(table, tag);
    while (idtable_next(table, &probe, id))
        if (equal(items, *id, wanted))
            return true;
    return false;
}

#endif
