/* The cost table of optimal persistent checkpoint schedules: the only computation of this program
 * that needs vector instructions, threads and devices. All data are flat arrays of int32, so that
 * the results of back ends (solve/backend/backend.h) can be compared bit for bit.
 *
 * Source: Beaumont, Eyraud-Dubois, Herrmann, Joly, Shilova, "Optimal checkpointing for
 * heterogeneous chains: how to train deep neural networks with limited memory", hal-02352969.
 *
 * THE CHAIN. Layers 0..L-1. Memory is counted in slots, time in units; both are the caller's.
 *   x[0..L]      x[i]: the input of layer i, which is the output of layer i-1; x[L]: the chain's
 *                output. Gradients of tensors are as large as the tensors.
 *   xbar[0..L-1] what layer i keeps for its backward, its output included: xbar[i] >= x[i+1]
 *   ftmp[0..L-1] temporary memory of layer i while it runs forward, and
 *   btmp[0..L-1] while it runs backward
 *   uf[0..L-1]   time of its forward. Backward times change no decision
 * P(i) = uf[0] + ... + uf[i-1].
 *
 * THE TABLE. For 0 <= i <= j < L and 0 <= m <= M, E(i,j,m) is the least time of forward passes that
 * are run again while layers i..j are run forward and backward, with x[i] kept (and not counted in
 * m) and m slots for all else, the gradient x[j+1] included. The table holds H = E + P(i), or
 * COST_INFINITE where no schedule fits:
 *
 *   all(i,j)   = max(x[j+1] + xbar[i] + ftmp[i], x[i+1] + xbar[i] + btmp[i])
 *   least(i,j) = x[j+1] + max(x[i+1] + ftmp[i], max over i < q < j of x[q] + x[q+1] + ftmp[q])
 *
 *   H(i,i,m) = P(i)                                       if m >= all(i,i), else infinite
 *   H(i,j,m) = min(A, S), j > i, where
 *   A = H(i+1,j, m - xbar[i]) - uf[i]                     if m >= all(i,j) and that H is finite,
 *                                                         else infinite
 *   S = min over i < s <= j of H(i,s-1, m) + H(s,j, m - x[s]) - P(i)
 *                                                         if m >= least(i,j), else infinite;
 *                                                         terms with m < x[s] are infinite
 *
 * and every value >= COST_INFINITE is stored as COST_INFINITE. Only minima are stored: decisions
 * are reconstructed from the table (solve/dp/rotor_batch.h), so plans do not depend on the back
 * end either.
 *
 * OVERFLOW. cost_problem_check() ensures that sizes are in 0..COST_MAX_SLOTS and that
 * L * P(L) < COST_INFINITE. Finite values are then below L * P(L), for no layer runs more than L
 * times; the sum of two values fits an int32, infinite ones included, and an infinite one stays at
 * least COST_INFINITE after P(i) is taken off, since P(i) <= H(s,j). So S needs no test for
 * infinite terms, only a final min with COST_INFINITE. A does: H - uf[i] of an infinite H is less.
 *
 * MEMORY. cost_table_bytes() for the table, O(L) besides. TIME. L^3/6 * (M+1) additions and
 * minima. */
#ifndef MEMSNAP_SOLVE_COST_COST_TABLE_H
#define MEMSNAP_SOLVE_COST_COST_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"

#define COST_INFINITE   INT32_C(0x3fffffff)
#define COST_MAX_LAYERS 16384
#define COST_MAX_SLOTS  (INT32_C(1) << 20) /* limit of M and of every size */

/* Arrays are the caller's, and outlive the call. */
struct cost_problem {
    int32_t layers;         /* L >= 1 */
    int32_t slots;          /* M >= 0 */
    const int32_t *x;       /* [L+1] */
    const int32_t *xbar;    /* [L] */
    const int32_t *ftmp;    /* [L] */
    const int32_t *btmp;    /* [L] */
    const int32_t *forward; /* [L]: uf */
};

/* STATUS_LIMIT: a size or the total time exceeds the range of the table. STATUS_BAD_INPUT: a value
 * is negative, or xbar[i] < x[i+1]. */
bool cost_problem_check(const struct cost_problem *problem, struct error *err);

enum cost_layout {
    /* Row (i,j) is `stride` cells, m ascending, at (j*(j+1)/2 + i) * stride. */
    COST_ROWS,
    /* The layout of the CPU back end. Layers i in strips of COST_STRIP, slots m in blocks
     * of COST_BLOCK; a strip t has, block by block, its columns j = COST_STRIP*t .. columns-1,
     * each [COST_STRIP layers][COST_BLOCK slots]; columns = L rounded up to whole strips. */
    COST_PANELS,
};

#define COST_STRIP 4
#define COST_BLOCK 16
#define COST_ROOM  16 /* a row's capacity is a multiple of these */

/* Cells of i > j, of m > M and of rows and columns beyond L are unspecified. */
struct cost_table {
    enum cost_layout layout;
    int32_t layers, slots;
    size_t stride;  /* capacity of a row in cells: M+1 rounded up to a multiple of COST_ROOM */
    size_t bytes;   /* size of the cells */
    int32_t *cells; /* 64-byte aligned; the extra memory follows at a cache line */
    size_t room;    /* bytes allocated and counted in the budget */
};

/* Size of a table's cells in bytes; 0 if it exceeds size_t. */
size_t cost_table_bytes(const struct cost_problem *problem, enum cost_layout layout);

/* Allocates a table and `beside` bytes of working memory for its back end, uninitialised. *table is
 * zeros, or an unneeded table of the same budget whose memory is reused if it is large enough:
 * touching new pages takes time. On false *table is released; STATUS_LIMIT: out of memory or
 * beyond the budget. */
bool cost_table_create(struct cost_table *table, const struct cost_problem *problem,
                       enum cost_layout layout, size_t beside, struct budget *budget,
                       struct error *err);
void cost_table_release(struct cost_table *table,
                        struct budget *budget); /* a zeroed table is allowed */

/* The index of (i, j, m) in cells, for 0 <= i <= j < L, 0 <= m < stride. */
static inline size_t cost_cell_index(const struct cost_table *table, int32_t i, int32_t j,
                                     int32_t m)
{
    if (table->layout == COST_ROWS)
        return ((size_t)j * ((size_t)j + 1) / 2 + (size_t)i) * table->stride + (size_t)m;
    size_t strips = ((size_t)table->layers + COST_STRIP - 1) / COST_STRIP;
    size_t strip = (size_t)i / COST_STRIP, column = (size_t)j - strip * COST_STRIP;
    size_t columns = (strips - strip) * COST_STRIP; /* of this strip */
    size_t columns_before = COST_STRIP * (strip * strips - strip * (strip - 1) / 2);
    size_t block = (size_t)m / COST_BLOCK;
    return (columns_before * (table->stride / COST_BLOCK) + block * columns + column) *
               (COST_STRIP * COST_BLOCK) +
           (size_t)i % COST_STRIP * COST_BLOCK + (size_t)m % COST_BLOCK;
}

/* H(i,j,m); infinite for m < 0. m <= M. */
static inline int32_t cost_at(const struct cost_table *table, int32_t i, int32_t j, int32_t m)
{
    return m < 0 ? COST_INFINITE : table->cells[cost_cell_index(table, i, j, m)];
}

#endif
