/* What lives at an address: a hash table that stays as small as the live set.
 *
 * Linear probing at most half full; removal shifts the followers back, so there
 * are no tombstones and a table that is filled and emptied a million times stays
 * as fast as it began. The hash is seeded: addresses come from the file. */
#ifndef MEMSNAP_MODEL_ADDRMAP_H
#define MEMSNAP_MODEL_ADDRMAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"
#include "base/hash.h"

/* `size`, `value` and `tag` are the caller's; a tag of 0 marks an empty slot. */
struct addrmap_slot {
    uint64_t addr, size;
    uint32_t value, tag;
};

struct addrmap {
    struct addrmap_slot *slots; /* mask + 1 of them, or NULL while nothing was put */
    size_t mask, count;
    uint64_t seed;
    struct budget *budget; /* not owned; NULL: not counted */
};

void addrmap_init(struct addrmap *map, struct budget *budget);
void addrmap_release(struct addrmap *map);

/* The slot of `addr`, made where there is none: then its tag is 0, and the caller must set
 * one. Slots move with every put and remove. False: STATUS_LIMIT. */
bool addrmap_put(struct addrmap *map, uint64_t addr, struct addrmap_slot **slot, struct error *err);
void addrmap_remove(struct addrmap *map, struct addrmap_slot *slot);

/* NULL where there is none. */
static inline struct addrmap_slot *addrmap_find(const struct addrmap *map, uint64_t addr)
{
    if (map->count == 0)
        return NULL;
    size_t i = (size_t)hash_word(addr, map->seed) & map->mask;
    while (map->slots[i].tag && map->slots[i].addr != addr)
        i = (i + 1) & map->mask;
    return map->slots[i].tag ? &map->slots[i] : NULL;
}

#endif
