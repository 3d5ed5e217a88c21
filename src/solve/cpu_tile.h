/* A tile of a cost table: COST_STRIP rows, COST_STRIP columns, COST_BLOCK slots, and where all that
 * it is made from lies (solve/cpu_wave.h says how it comes there). */
#ifndef MEMSNAP_SOLVE_CPU_TILE_H
#define MEMSNAP_SOLVE_CPU_TILE_H

#include "solve/cost_table.h"

#define TILE_CELLS (COST_STRIP * COST_STRIP * COST_BLOCK)
#define TILE_CHUNK 64 /* splits at a time: their rows stay in the first-level cache */

/* The chain, padded with zeros to whole strips. */
struct tile_chain {
    int32_t *x, *xbar, *ftmp, *btmp, *forward;
    int32_t *before; /* P(i) */
};

struct tile {
    const struct tile_chain *chain;
    size_t first_i, first_j; /* the tile's first row and column */
    int32_t slot;            /* and slot */
    bool product;            /* some split with both halves in other tiles fits */
    int32_t *panel;          /* H(i, j, slot..) of the rows, from column first_i on:
                                [column][row][slot] */
    int32_t *columns;        /* H(s, j, .) of the columns: [s][column][`step` slots]; slot 0 is
                                COST_BLOCK behind the beginning, what is before it infinite */
    size_t step;
    const size_t *offsets; /* [s]: of H(s, first_j, slot - x[s]) in `columns` */
    const int32_t *least;  /* [i][column]: least(i,j) */
};

struct cell_terms {
    int32_t least, all;      /* slots */
    int32_t before, forward; /* P(i), uf[i] */
};

static inline int32_t tile_larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline struct cell_terms tile_terms(const struct tile *tile, size_t i, size_t c)
{
    const struct tile_chain *chain = tile->chain;
    int32_t output = chain->x[tile->first_j + c + 1];
    return (struct cell_terms){
        .least = tile->least[i * COST_STRIP + c],
        .all =
            chain->xbar[i] + tile_larger(output + chain->ftmp[i], chain->x[i + 1] + chain->btmp[i]),
        .before = chain->before[i],
        .forward = chain->forward[i],
    };
}

static inline int32_t *tile_cells(const struct tile *tile, size_t i, size_t c)
{
    size_t column = tile->first_j + c - tile->first_i;
    return tile->panel + (column * COST_STRIP + (i - tile->first_i)) * COST_BLOCK;
}

/* H(i, j, slot..) in the buffer of columns. */
static inline int32_t *tile_row(const struct tile *tile, size_t i, size_t c)
{
    return tile->columns + (i * COST_STRIP + c) * tile->step + COST_BLOCK + tile->slot;
}

/* H(i+1, j, slot - xbar[i]..) there. */
static inline const int32_t *tile_kept(const struct tile *tile, size_t i, size_t c)
{
    int32_t from = tile_larger(tile->slot - tile->chain->xbar[i], -COST_BLOCK);
    return tile->columns + ((i + 1) * COST_STRIP + c) * tile->step + (size_t)(COST_BLOCK + from);
}

/* H(i,i) */
static inline void tile_single(const struct tile *tile, size_t i, size_t c)
{
    struct cell_terms terms = tile_terms(tile, i, c);
    int32_t *cells = tile_cells(tile, i, c), *row = tile_row(tile, i, c);
    for (int32_t v = 0; v < COST_BLOCK; v++)
        cells[v] = row[v] = tile->slot + v >= terms.all ? terms.before : COST_INFINITE;
}

#endif
