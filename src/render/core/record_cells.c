#include <string.h>

#include "render/core/records.h"

void record_cells_init(struct record_cells *cells, struct budget *budget)
{
    *cells = (struct record_cells){0};
    arena_init(&cells->arena, budget);
}

void record_cells_release(struct record_cells *cells)
{
    vec_free(cells->items, cells->capacity, sizeof(*cells->items), cells->arena.budget);
    arena_release(&cells->arena);
    *cells = (struct record_cells){0};
}

const struct text *record_cells_find(const struct record_cells *cells, uint32_t id)
{
    return id < cells->capacity && cells->items[id].bytes ? &cells->items[id] : NULL;
}

const struct text *record_cells_make(struct record_cells *cells, struct record_writer *records,
                                     uint32_t id, const char *bytes, size_t size, struct error *err)
{
    size_t before = cells->capacity;
    if (!vec_reserve(cells->items, cells->capacity, (size_t)id + 1, cells->arena.budget, err))
        return NULL;
    memset(cells->items + before, 0, (cells->capacity - before) * sizeof(*cells->items));
    struct text cell = record_cell_of(records, bytes, size);
    char *copy = arena_alloc(&cells->arena, cell.size, err);
    if (!copy)
        return NULL;
    memcpy(copy, cell.bytes, cell.size);
    cells->items[id] = (struct text){copy, cell.size};
    return &cells->items[id];
}
