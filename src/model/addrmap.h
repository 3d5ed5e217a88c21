/* A hash table keyed by address, whose size follows the live set.
 *
 * Linear probing, at most half full. Removal shifts the following entries back, so there are no
 * tombstones and the table does not slow down as entries come and go. The hash is seeded, because
 * addresses come from the file. */
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
    struct addrmap_slot *slots; /* mask + 1 slots, or NULL before the first put */
    size_t mask, count;
    uint64_t seed;
    struct budget *budget; /* not owned; NULL: memory is not counted */
};

void addrmap_init(struct addrmap *map, struct budget *budget);
void addrmap_release(struct addrmap *map);

/* Finds or adds the slot of `addr`. A new slot has tag 0, and the caller must set a tag. Every put
 * and remove may move slots. On false the error is STATUS_LIMIT. */
bool addrmap_put(struct addrmap *map, uint64_t addr, struct addrmap_slot **slot, struct error *err);
void addrmap_remove(struct addrmap *map, struct addrmap_slot *slot);

/* NULL if the address is not in the table. */
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
