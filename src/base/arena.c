#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>

#define ALIGNMENT      8
#define SMALLEST_CHUNK ((size_t)512) /* there may be an arena for each of thousands of items */
#define LARGEST_CHUNK  ((size_t)1 << 20)

struct arena_chunk {
    struct arena_chunk *older;
    size_t size; /* size of the whole chunk, including this header */
    char data[];
};

_Static_assert(sizeof(struct arena_chunk) % ALIGNMENT == 0, "pieces start aligned");

void arena_init(struct arena *arena, struct budget *budget)
{
    *arena = (struct arena){.budget = budget};
}

void arena_release(struct arena *arena)
{
    struct arena_chunk *chunk = arena->chunks;
    while (chunk) {
        struct arena_chunk *older = chunk->older;
        budget_give(arena->budget, chunk->size);
        free(chunk);
        chunk = older;
    }
    arena_init(arena, arena->budget);
}

static struct arena_chunk *chunk_create(struct arena *arena, size_t size, struct error *err)
{
    if (!budget_take(arena->budget, size, err))
        return NULL;
    struct arena_chunk *chunk = malloc(size);
    if (!chunk) {
        budget_give(arena->budget, size);
        error_out_of_memory(err);
        return NULL;
    }
    chunk->size = size;
    return chunk;
}

/* Chunk sizes double: small input takes little memory, large input takes few chunks. */
static size_t next_chunk_size(const struct arena *arena)
{
    size_t size = arena->chunks ? arena->chunks->size * 2 : SMALLEST_CHUNK;
    return size < LARGEST_CHUNK ? size : LARGEST_CHUNK;
}

/* An allocation that would waste much of a chunk gets a chunk of its own. It is linked after the
 * newest chunk, whose free part stays in use. */
static void *alloc_alone(struct arena *arena, size_t size, struct error *err)
{
    struct arena_chunk *chunk = chunk_create(arena, sizeof(*chunk) + size, err);
    if (!chunk)
        return NULL;
    chunk->older = arena->chunks->older;
    arena->chunks->older = chunk;
    return chunk->data;
}

static void *alloc_slow(struct arena *arena, size_t size, struct error *err)
{
    size_t chunk_size = next_chunk_size(arena);
    if (arena->chunks && size > chunk_size / 4)
        return alloc_alone(arena, size, err);
    if (chunk_size < sizeof(struct arena_chunk) + size)
        chunk_size = sizeof(struct arena_chunk) + size;

    struct arena_chunk *chunk = chunk_create(arena, chunk_size, err);
    if (!chunk)
        return NULL;
    chunk->older = arena->chunks;
    arena->chunks = chunk;
    arena->next = chunk->data + size;
    arena->end = (char *)chunk + chunk_size;
    return chunk->data;
}

void *arena_alloc(struct arena *arena, size_t size, struct error *err)
{
    if (size > SIZE_MAX / 2) {
        error_set(err, STATUS_LIMIT, "%zu bytes are too many", size);
        return NULL;
    }
    size = size ? (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1) : ALIGNMENT;
    if (size > (size_t)(arena->end - arena->next))
        return alloc_slow(arena, size, err);
    char *piece = arena->next;
    arena->next += size;
    return piece;
}
