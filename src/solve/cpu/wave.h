/* Computes one cost table on the CPU, in COST_PANELS.
 *
 * A pass covers up to WAVE_PASS strips of COST_STRIP columns, and all rows before them; passes are
 * in ascending order. Within a pass, spans of TILE_SPAN blocks of slots are in ascending order.
 * Within a span, row strips are computed from the diagonal up, and in each the columns of the pass
 * from left to right, so that the data of a row strip in a span is read once for all columns of the
 * pass. A tile needs
 *   - H(i, s-1, m) of its rows and slots, from column strips before: read from the table;
 *   - H(s, j, m - x[s]) of its columns, from rows below: kept row by row in a buffer beside the
 *     table, because slots there are shifted by x[s] and may begin anywhere.
 *
 * A split whose two terms both lie in other tiles is tried only if it may change the result
 * (solve/cpu/bounds.h). The last slots of blocks decide that; a second copy of them is contiguous
 * for neighbouring splits. Splits with a term in the tile itself are added cell by cell, from the
 * lower left corner on.
 *
 * A thread computes whole passes. A row strip of a pass waits only for the same row strip of the
 * previous pass, so the threads advance as a wavefront. */
#ifndef MEMSNAP_SOLVE_CPU_WAVE_H
#define MEMSNAP_SOLVE_CPU_WAVE_H

#include <stdatomic.h>

#include "solve/cpu/variant.h"

#define WAVE_PASS 4 /* column strips at most */

/* The dimensions. */
struct wave_shape {
    size_t strips, blocks;
    size_t pass_strips; /* column strips of a pass */
};

/* The state shared by all threads. Arrays are padded with zeros to whole strips. */
struct wave {
    const struct cpu_variant *variant;
    struct cost_table *table;
    struct wave_shape shape;
    struct tile_chain chain;
    int32_t *tops;       /* the last slot of each block: [row strip][block][row][column] */
    atomic_size_t next;  /* next pass to take */
    atomic_size_t *done; /* completed row strips of each pass, summed over spans */
    char *buffers;       /* memory for the buffers of all threads */
};

/* A column strip of the current pass of a thread. */
struct wave_column {
    int32_t *cells; /* [row][COST_STRIP columns][step]: the first block of each is infinite, for
                       slots below 0 */
    int32_t *least; /* [row][COST_STRIP columns] */
    int32_t *ends;  /* of the current span, as in struct tile */
    int32_t *right, *finite, *shape; /* as in struct tile */
};

/* The working memory of one thread. */
struct wave_buffers {
    struct wave_column columns[WAVE_PASS];
    size_t rows, step;
    size_t *offsets; /* of the current span, as in struct tile */
    int32_t *left, *shape;
    uint32_t *chosen;
    struct tile_split *splits;
    struct tile_places *places;
    struct cpu_work work;
};

/* The dimensions for `threads` threads. */
struct wave_shape wave_shape(const struct cost_problem *problem, unsigned threads);
/* The memory that a wave needs for `threads` threads, besides the table's cells. */
size_t wave_bytes(const struct wave_shape *shape, unsigned threads);

/* Lays out the wave in the memory after the cells, which the table still owns. */
void wave_begin(struct wave *wave, const struct wave_shape *shape,
                const struct cost_problem *problem, struct cost_table *table,
                const struct cpu_variant *variant);
void wave_buffers_begin(struct wave_buffers *buffers, const struct wave *wave, unsigned thread);

/* Computes passes until none is left. Several threads may call it, each with its own buffers. */
void wave_run(struct wave *wave, struct wave_buffers *buffers);

#endif
