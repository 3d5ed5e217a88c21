/* One cost table on the CPU, in COST_PANELS.
 *
 * Columns are taken COST_STRIP at a time, ascending; of such a column strip, blocks of slots
 * ascending; of such a block, row strips from the diagonal up. So a tile of rows and columns needs
 *   - H(i, s-1, m) of its rows and slots, from column strips before: as they lie in the table;
 *   - H(s, j, m - x[s]) of its columns, from rows below: kept row by row in a buffer beside the
 *     table, for there slots are shifted by x[s] and may begin anywhere.
 * All splits with both in other tiles are one product (solve/cpu_variant.h); the few that touch the
 * tile itself are added cell by cell, from its lower left corner on.
 *
 * Threads take whole column strips. A tile has to wait only for the tile beside it, in the column
 * strip before: a wavefront. */
#ifndef MEMSNAP_SOLVE_CPU_WAVE_H
#define MEMSNAP_SOLVE_CPU_WAVE_H

#include <stdatomic.h>

#include "solve/cpu_variant.h"

/* What all threads share. Arrays are padded with zeros to whole strips. */
struct wave {
    const struct cpu_variant *variant;
    struct cost_table *table;
    size_t strips, blocks;
    struct tile_chain chain;
    int32_t *numbers;    /* holds its arrays */
    atomic_size_t next;  /* column strip to be taken */
    atomic_size_t *done; /* tiles of each column strip */
};

/* What one thread works with. */
struct wave_buffers {
    int32_t *columns; /* [row][COST_STRIP columns][COST_BLOCK + stride]: the first block of each is
                         infinite, for slots below 0 */
    int32_t *least;   /* [row][COST_STRIP columns] */
    size_t *offsets;  /* [row]: where H(s, ., m - x[s]) of the present block begins */
    size_t bytes;
};

bool wave_create(struct wave *wave, const struct cost_problem *problem, struct cost_table *table,
                 const struct cpu_variant *variant, struct budget *budget, struct error *err);
void wave_release(struct wave *wave, struct budget *budget);

bool wave_buffers_create(struct wave_buffers *buffers, const struct wave *wave,
                         struct budget *budget, struct error *err);
void wave_buffers_release(struct wave_buffers *buffers, struct budget *budget);

/* Takes column strips until there are no more. Several threads may, each with its own buffers. */
void wave_run(struct wave *wave, struct wave_buffers *buffers);

#endif
