#include "analysis/replay/block_set.h"

#include <stdlib.h>
#include <string.h>

static inline bool is_before(const struct block_key *key, uint64_t size, uint64_t order,
                             uint64_t addr)
{
    if (key->size != size)
        return key->size < size;
    if (key->order != order)
        return key->order < order;
    return key->block->addr < addr;
}

struct set_place block_set_find(const struct block_set *set, uint64_t size, uint64_t order,
                                uint64_t addr)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(&set->chunks[middle].first, size, order, addr))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return (struct set_place){0, 0};
    const struct block_chunk *chunk = set->chunks[low - 1].chunk;
    size_t from = 1, to = chunk->count; /* the first key is less */
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (is_before(&chunk->keys[middle], size, order, addr))
            from = middle + 1;
        else
            to = middle;
    }
    return from < chunk->count ? (struct set_place){low - 1, from} : (struct set_place){low, 0};
}

static struct block_chunk *make_chunk(struct budget *budget, struct error *err)
{
    struct block_chunk *chunk;
    if (!budget_take(budget, sizeof(*chunk), err))
        return NULL;
    chunk = malloc(sizeof(*chunk));
    if (!chunk) {
        budget_give(budget, sizeof(*chunk));
        error_out_of_memory(err);
        return NULL;
    }
    chunk->count = 0;
    return chunk;
}

static void free_chunk(struct block_chunk *chunk, struct budget *budget)
{
    free(chunk);
    budget_give(budget, sizeof(*chunk));
}

/* Inserts an empty chunk at index `at`. */
static struct block_chunk *insert_chunk(struct block_set *set, size_t at, struct budget *budget,
                                        struct error *err)
{
    if (!vec_reserve(set->chunks, set->capacity, set->count + 1, budget, err))
        return NULL;
    struct block_chunk *chunk = make_chunk(budget, err);
    if (!chunk)
        return NULL;
    memmove(set->chunks + at + 1, set->chunks + at, (set->count - at) * sizeof(*set->chunks));
    set->chunks[at].chunk = chunk;
    set->count++;
    return chunk;
}

/* Moves the upper half of a full chunk to a new chunk after it. */
static bool split_chunk(struct block_set *set, size_t at, struct budget *budget, struct error *err)
{
    struct block_chunk *upper = insert_chunk(set, at + 1, budget, err);
    if (!upper)
        return false;
    struct block_chunk *lower = set->chunks[at].chunk;
    lower->count = BLOCK_CHUNK_KEYS / 2;
    upper->count = BLOCK_CHUNK_KEYS - lower->count;
    memcpy(upper->keys, lower->keys + lower->count, upper->count * sizeof(upper->keys[0]));
    set->chunks[at + 1].first = upper->keys[0];
    return true;
}

bool block_set_add(struct block_set *set, const struct block_key *key, struct budget *budget,
                   struct error *err)
{
    if (set->count == 0) {
        if (!insert_chunk(set, 0, budget, err))
            return false;
        set->chunks[0].chunk->count = 1;
        set->chunks[0].chunk->keys[0] = set->chunks[0].first = *key;
        return true;
    }
    struct set_place place = block_set_find(set, key->size, key->order, key->block->addr);
    if (place.index == 0 && place.chunk > 0) { /* append to the chunk before */
        place.chunk--;
        place.index = set->chunks[place.chunk].chunk->count;
    }
    if (set->chunks[place.chunk].chunk->count == BLOCK_CHUNK_KEYS) {
        if (!split_chunk(set, place.chunk, budget, err))
            return false;
        if (place.index > BLOCK_CHUNK_KEYS / 2) {
            place.chunk++;
            place.index -= BLOCK_CHUNK_KEYS / 2;
        }
    }
    struct block_chunk *chunk = set->chunks[place.chunk].chunk;
    memmove(chunk->keys + place.index + 1, chunk->keys + place.index,
            (chunk->count - place.index) * sizeof(chunk->keys[0]));
    chunk->keys[place.index] = *key;
    chunk->count++;
    if (place.index == 0)
        set->chunks[place.chunk].first = *key;
    return true;
}

bool block_set_remove(struct block_set *set, const struct block_key *key, struct budget *budget)
{
    uint64_t addr = key->block->addr;
    struct set_place place = block_set_find(set, key->size, key->order, addr);
    const struct block_key *found = block_set_at(set, place);
    /* Only a contradictory trace has two blocks at one address. */
    while (found && found->block != key->block && found->size == key->size &&
           found->order == key->order && found->block->addr == addr) {
        place = block_set_next(set, place);
        found = block_set_at(set, place);
    }
    if (!found || found->block != key->block)
        return false;
    struct block_chunk *chunk = set->chunks[place.chunk].chunk;
    chunk->count--;
    memmove(chunk->keys + place.index, chunk->keys + place.index + 1,
            (chunk->count - place.index) * sizeof(chunk->keys[0]));
    if (chunk->count == 0) {
        free_chunk(chunk, budget);
        set->count--;
        memmove(set->chunks + place.chunk, set->chunks + place.chunk + 1,
                (set->count - place.chunk) * sizeof(*set->chunks));
    } else if (place.index == 0) {
        set->chunks[place.chunk].first = chunk->keys[0];
    }
    return true;
}

void block_set_release(struct block_set *set, struct budget *budget)
{
    for (size_t i = 0; i < set->count; i++)
        free_chunk(set->chunks[i].chunk, budget);
    vec_free(set->chunks, set->capacity, sizeof(*set->chunks), budget);
    *set = (struct block_set){0};
}
