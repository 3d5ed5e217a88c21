/* Bump allocation: many small pieces, released together. */
#ifndef MEMSNAP_BASE_ARENA_H
#define MEMSNAP_BASE_ARENA_H

#include <stddef.h>

#include "base/budget.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first */
    char *next, *end;           /* free part of the newest chunk */
    struct budget *budget;      /* not owned */
};

/* The budget must outlive the arena. */
void arena_init(struct arena *arena, struct budget *budget);
void arena_release(struct arena *arena); /* frees every piece */

/* `size` bytes aligned to 8, not cleared; NULL and STATUS_LIMIT when over budget. */
void *arena_alloc(struct arena *arena, size_t size, struct error *err);

#endif
