/* Memory blocks in the order in which PyTorch's allocator searches them: by size, then by `order`,
 * then by address.
 *
 * The keys lie in chunks of bounded size, so adding to a set of a million blocks moves a few
 * hundred bytes, not the whole set. */
#ifndef MEMSNAP_ANALYSIS_REPLAY_BLOCK_SET_H
#define MEMSNAP_ANALYSIS_REPLAY_BLOCK_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"

#define BLOCK_CHUNK_KEYS 128

/* A part of a segment. Its address and size must not change while it is in a set. */
struct memory_block {
    uint64_t addr, size;
    uint64_t order;                     /* decides among blocks of one size, before the address */
    uint64_t inserted;                  /* searches of its pool when it became free */
    struct memory_block *before, *next; /* neighbours in the segment, or NULL */
    struct memory_block *list_before, *list_next; /* in the list of pending or releasable blocks */
    struct expandable *expandable;                /* NULL: made by cudaMalloc */
    struct memory_block **slot;                   /* while it is pending: the caller's pointer */
    uint32_t place;
    bool is_small, is_allocated, is_pending, is_mapped, is_listed;
};

struct block_key {
    uint64_t size, order;
    struct memory_block *block;
};

struct block_chunk {
    size_t count; /* at least 1 */
    struct block_key keys[BLOCK_CHUNK_KEYS];
};

struct block_set {
    struct chunk_entry {
        struct block_key first; /* a copy of the chunk's first key */
        struct block_chunk *chunk;
    } * chunks;
    size_t count, capacity; /* of chunks */
};

/* A position in a set; chunk == set->count at the end. Changes of the set make it invalid. */
struct set_place {
    size_t chunk, index;
};

/* The first key that is not before (size, order, addr). */
struct set_place block_set_find(const struct block_set *set, uint64_t size, uint64_t order,
                                uint64_t addr);
/* Fails only if memory runs out; then the set is unchanged. */
bool block_set_add(struct block_set *set, const struct block_key *key, struct budget *budget,
                   struct error *err);
/* Removes the block that has this key; false if it is not there. */
bool block_set_remove(struct block_set *set, const struct block_key *key, struct budget *budget);
void block_set_release(struct block_set *set, struct budget *budget);

/* The key at a place; NULL at the end. */
static inline const struct block_key *block_set_at(const struct block_set *set,
                                                   struct set_place place)
{
    return place.chunk < set->count ? &set->chunks[place.chunk].chunk->keys[place.index] : NULL;
}

static inline struct set_place block_set_next(const struct block_set *set, struct set_place place)
{
    if (place.index + 1 < set->chunks[place.chunk].chunk->count)
        return (struct set_place){place.chunk, place.index + 1};
    return (struct set_place){place.chunk + 1, 0};
}

/* The key before a place, which may be the end; false at the beginning. */
static inline bool block_set_before(const struct block_set *set, struct set_place *place)
{
    if (place->chunk < set->count && place->index > 0) {
        place->index--;
        return true;
    }
    if (place->chunk == 0)
        return false;
    place->chunk--;
    place->index = set->chunks[place->chunk].chunk->count - 1;
    return true;
}

#endif
