#include "model/addrmap.h"

#include <stdlib.h>

#define FIRST_CAPACITY 256

void addrmap_init(struct addrmap *map, struct budget *budget)
{
    *map = (struct addrmap){.seed = hash_seed(), .budget = budget};
}

static size_t capacity_of(const struct addrmap *map)
{
    return map->slots ? map->mask + 1 : 0;
}

void addrmap_release(struct addrmap *map)
{
    if (map->slots && map->budget)
        budget_give(map->budget, capacity_of(map) * sizeof(*map->slots));
    free(map->slots);
    *map = (struct addrmap){.seed = map->seed, .budget = map->budget};
}

/* The slot that holds `addr`, or the empty slot where it would be inserted. */
static struct addrmap_slot *probe(const struct addrmap *map, uint64_t addr)
{
    size_t i = (size_t)hash_word(addr, map->seed) & map->mask;
    while (map->slots[i].tag && map->slots[i].addr != addr)
        i = (i + 1) & map->mask;
    return &map->slots[i];
}

static bool grow(struct addrmap *map, struct error *err)
{
    size_t capacity = map->slots ? capacity_of(map) * 2 : FIRST_CAPACITY;
    size_t bytes;
    if (__builtin_mul_overflow(capacity, sizeof(*map->slots), &bytes))
        return error_set(err, STATUS_LIMIT, "too many live addresses");
    if (map->budget && !budget_take(map->budget, bytes, err))
        return false;
    struct addrmap bigger = *map;
    bigger.mask = capacity - 1;
    bigger.slots = calloc(capacity, sizeof(*map->slots));
    if (!bigger.slots) {
        if (map->budget)
            budget_give(map->budget, bytes);
        return error_out_of_memory(err);
    }
    for (size_t i = 0; i < capacity_of(map); i++) {
        if (map->slots[i].tag)
            *probe(&bigger, map->slots[i].addr) = map->slots[i];
    }
    addrmap_release(map);
    *map = bigger;
    return true;
}

bool addrmap_put(struct addrmap *map, uint64_t addr, struct addrmap_slot **slot, struct error *err)
{
    if (map->count >= capacity_of(map) / 2 && !grow(map, err))
        return false;
    struct addrmap_slot *found = probe(map, addr);
    if (!found->tag) {
        found->addr = addr;
        map->count++;
    }
    *slot = found;
    return true;
}

void addrmap_remove(struct addrmap *map, struct addrmap_slot *slot)
{
    size_t hole = (size_t)(slot - map->slots);
    /* A following entry may fill the hole unless its home slot lies after the hole. */
    for (size_t i = (hole + 1) & map->mask; map->slots[i].tag; i = (i + 1) & map->mask) {
        size_t home = (size_t)hash_word(map->slots[i].addr, map->seed) & map->mask;
        if (((i - home) & map->mask) >= ((i - hole) & map->mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole].tag = 0;
    map->count--;
}
