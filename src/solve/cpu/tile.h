/* A tile of a cost table: COST_STRIP rows, COST_STRIP columns and a span of up to TILE_SPAN blocks
 * of slots, with pointers to its inputs (described in solve/cpu/wave.h). */
#ifndef MEMSNAP_SOLVE_CPU_TILE_H
#define MEMSNAP_SOLVE_CPU_TILE_H

#include <stdbool.h>

#include "solve/cost/cost_table.h"

#define TILE_SPAN  2 /* blocks */
#define TILE_GROUP 8 /* splits that are examined together */
#define TILE_CELLS (COST_STRIP * COST_STRIP * COST_BLOCK)

/* Size of a block of `tops`. Vectors read beyond the last row's end, where another thread must not
 * be writing the next block. */
#define TILE_TOPS(width) (COST_STRIP * (width) + TILE_GROUP)

/* The arrays of struct cost_problem, padded with zeros to whole strips. */
struct tile_chain {
    int32_t *x, *xbar, *ftmp, *btmp, *forward;
    int32_t *before; /* P(i) */
};

/* Work done, in pairs of an addition and a minimum (or comparison) of int32. */
struct cpu_work {
    uint64_t splits; /* one pair for each split of a cell */
    uint64_t bounds; /* to rule out splits: one pair for each row and column of the tile */
};

/* The positions of the ones in a set of TILE_GROUP bits, ascending. */
struct tile_places {
    uint32_t of[TILE_GROUP], count;
};

/* A split of a block: where its inputs begin, in the panel and in `columns`. */
struct tile_split {
    const int32_t *row, *column;
};

struct tile {
    const struct tile_chain *chain;
    size_t first_i, first_j; /* the first row and column */
    int32_t slot;            /* the first slot */
    size_t blocks;
    size_t width;   /* columns of the row strip, from first_i on */
    int32_t *panel; /* H(i, j, slot..) of the rows: [block][column][row][slot] */
    int32_t *tops;  /* H(i, j, last slot of a block): [block][row][column], each block with room for
                       TILE_GROUP more; unless `slot` is 0, there is a block before the first */
    int32_t *columns; /* H(s, j, .) of the columns: [s][column][`step` slots]; slot 0 is at index
                         COST_BLOCK, and values before it are infinite */
    size_t step;
    size_t rows;            /* of the arrays that follow, with room for TILE_GROUP more */
    const size_t *offsets;  /* [block][s]: of H(s, first_j, first slot - x[s]) in `columns` */
    int32_t *ends;          /* [block][column][s]: H(s, j, last slot - x[s]), of rows below */
    int32_t *left, *right;  /* [block][s]: see solve/cpu/bounds.h */
    int32_t *shape_rows;    /* r(i) of solve/cpu/bounds.h: the same for a row strip in a pass */
    int32_t *shape_columns; /* c(j): the same for a column strip in a span, until it is renewed */
    bool is_first;        /* the first tile of its row strip in the pass, except on the diagonal */
    const int32_t *least; /* [i][column]: least(i,j) */
    int32_t *finite;  /* [i]: a slot from which H(i, j, .) is finite in all columns; or infinite */
    uint32_t *chosen; /* room for the splits that were not ruled out */
    struct tile_split *splits;        /* room for the inputs of the chosen splits */
    const struct tile_places *places; /* for every set of TILE_GROUP bits */
    struct cpu_work *work;
};

static inline int32_t tile_larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline int32_t tile_slot(const struct tile *tile, size_t block)
{
    return tile->slot + (int32_t)(block * COST_BLOCK);
}

/* H(first_i, j, first slot of the block ..) in the panel. The next column is at + COST_STRIP *
 * COST_BLOCK, the next row at + COST_BLOCK. */
static inline int32_t *tile_column(const struct tile *tile, size_t block, size_t j)
{
    return tile->panel + (block * tile->width + (j - tile->first_i)) * (COST_STRIP * COST_BLOCK);
}

/* H(first_i + r, j, last slot of the block), followed by the values for j + 1, j + 2, ... */
static inline int32_t *tile_tops(const struct tile *tile, size_t block, size_t r, size_t j)
{
    return tile->tops + block * TILE_TOPS(tile->width) + r * tile->width + (j - tile->first_i);
}

/* Like tile_tops(), for the previous block. */
static inline const int32_t *tile_tops_before(const struct tile *tile, size_t block, size_t r,
                                              size_t j)
{
    return tile_tops(tile, block, r, j) - TILE_TOPS(tile->width);
}

/* H(i, first_j + c, first slot of the block ..) in the buffer of columns. */
static inline int32_t *tile_row(const struct tile *tile, size_t block, size_t i, size_t c)
{
    return tile->columns + (i * COST_STRIP + c) * tile->step +
           (size_t)(COST_BLOCK + tile_slot(tile, block));
}

/* H(i+1, first_j + c, first slot - xbar[i] ..) in the buffer of columns. */
static inline const int32_t *tile_kept(const struct tile *tile, size_t block, size_t i, size_t c)
{
    int32_t from = tile_larger(tile_slot(tile, block) - tile->chain->xbar[i], -COST_BLOCK);
    return tile->columns + ((i + 1) * COST_STRIP + c) * tile->step + (size_t)(COST_BLOCK + from);
}

/* H(s, first_j + c, first slot - x[s] ..) in the buffer of columns. */
static inline const int32_t *tile_behind(const struct tile *tile, size_t block, size_t s, size_t c)
{
    return tile->columns + tile->offsets[block * tile->rows + s] + c * tile->step;
}

static inline int32_t *tile_ends(const struct tile *tile, size_t block, size_t c, size_t s)
{
    return tile->ends + (block * COST_STRIP + c) * tile->rows + s;
}

static inline int32_t *tile_left(const struct tile *tile, size_t block, size_t s)
{
    return tile->left + block * tile->rows + s;
}

static inline int32_t *tile_right(const struct tile *tile, size_t block, size_t s)
{
    return tile->right + block * tile->rows + s;
}

#endif
