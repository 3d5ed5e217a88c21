#include "solve/cpu/wave.h"

#include <sched.h>

#define SPINS 200

/* The column strips that a thread works on. */
struct pass {
    struct wave *wave;
    struct wave_buffers *buffers;
    size_t first, count; /* strip numbers: columns COST_STRIP*first.. */
    size_t block;        /* the span's first block, and its number of blocks */
    size_t blocks;
    size_t known; /* row strips that the previous pass is known to have completed */
};

static inline int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline size_t larger_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline size_t lesser_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Computes least(i,j) of the four columns for every row. It is infinite for columns beyond the
 * last. */
static void set_least(const struct wave *wave, size_t column, int32_t *least)
{
    for (size_t c = 0; c < COST_STRIP; c++) {
        size_t j = column * COST_STRIP + c;
        bool none = j >= (size_t)wave->table->layers;
        int32_t passing = 0; /* the maximum between i and j */
        for (size_t i = j; i-- > 0;) {
            const int32_t *x = wave->chain.x;
            int32_t most = larger(x[i + 1] + wave->chain.ftmp[i], passing);
            least[i * COST_STRIP + c] = none ? COST_INFINITE : x[j + 1] + most;
            passing = larger(passing, x[i] + x[i + 1] + wave->chain.ftmp[i]);
        }
    }
}

/* Computes the offsets of H(s, first_j, first slot of a block - x[s]) in the buffer of columns. */
static void set_offsets(const struct pass *pass)
{
    const int32_t *x = pass->wave->chain.x;
    size_t rows = (pass->first + pass->count) * COST_STRIP;
    for (size_t block = 0; block < pass->blocks; block++) {
        size_t *offsets = pass->buffers->offsets + block * pass->buffers->rows;
        int32_t slot = (int32_t)((pass->block + block) * COST_BLOCK);
        for (size_t s = 0; s < rows; s++)
            offsets[s] = s * COST_STRIP * pass->buffers->step +
                         (size_t)(COST_BLOCK + larger(slot - x[s], -COST_BLOCK));
    }
}

static void do_tile(const struct pass *pass, size_t row, size_t column)
{
    struct wave *wave = pass->wave;
    struct wave_buffers *buffers = pass->buffers;
    const struct wave_column *here = &buffers->columns[column - pass->first];
    int32_t first = (int32_t)(row * COST_STRIP), slot = (int32_t)(pass->block * COST_BLOCK);
    size_t cell = cost_cell_index(wave->table, first, first, slot);
    struct tile tile = {
        .chain = &wave->chain,
        .first_i = row * COST_STRIP,
        .first_j = column * COST_STRIP,
        .slot = slot,
        .blocks = pass->blocks,
        .width = (wave->shape.strips - row) * COST_STRIP,
        .panel = wave->table->cells + cell,
        .tops =
            wave->tops + cell / COST_BLOCK + (row * wave->shape.blocks + pass->block) * TILE_GROUP,
        .columns = here->cells,
        .step = buffers->step,
        .rows = buffers->rows,
        .offsets = buffers->offsets,
        .ends = here->ends,
        .least = here->least,
        .finite = here->finite,
        .left = buffers->left,
        .right = here->right,
        .shape_rows = buffers->shape,
        .shape_columns = here->shape,
        .is_first = column == larger_size(row + 1, pass->first),
        .chosen = buffers->chosen,
        .splits = buffers->splits,
        .places = buffers->places,
        .work = &buffers->work,
    };
    wave->variant->tile(&tile);
}

/* Waits until the previous pass has completed the row strips that this row needs. */
static void wait_for(struct pass *pass, size_t row)
{
    size_t number = pass->first / pass->wave->shape.pass_strips;
    size_t needed = pass->block / TILE_SPAN * pass->first + (pass->first - row);
    for (unsigned spins = 0; pass->known < needed; spins++) {
        pass->known = atomic_load_explicit(&pass->wave->done[number - 1], memory_order_acquire);
        if (pass->known < needed && spins % SPINS == SPINS - 1)
            sched_yield();
    }
}

static void do_row(struct pass *pass, size_t row)
{
    if (row < pass->first)
        wait_for(pass, row);
    for (size_t column = larger_size(row, pass->first); column < pass->first + pass->count;
         column++)
        do_tile(pass, row, column);
}

static void do_pass(struct pass *pass)
{
    struct wave *wave = pass->wave;
    size_t number = pass->first / wave->shape.pass_strips, done = 0;
    for (size_t k = 0; k < pass->count; k++) {
        struct wave_column *column = &pass->buffers->columns[k];
        set_least(wave, pass->first + k, column->least);
        for (size_t row = 0; row < pass->buffers->rows; row++)
            column->finite[row] = COST_INFINITE;
        for (size_t c = 0; c < COST_STRIP; c++)
            column->shape[c] = 0;
    }
    for (pass->block = 0; pass->block < wave->shape.blocks; pass->block += TILE_SPAN) {
        pass->blocks = lesser_size(wave->shape.blocks - pass->block, TILE_SPAN);
        set_offsets(pass);
        for (size_t row = pass->first + pass->count; row-- > 0;) {
            do_row(pass, row);
            atomic_store_explicit(&wave->done[number], ++done, memory_order_release);
        }
    }
}

void wave_run(struct wave *wave, struct wave_buffers *buffers)
{
    size_t number;
    while ((number = atomic_fetch_add(&wave->next, 1)) * wave->shape.pass_strips <
           wave->shape.strips) {
        size_t first = number * wave->shape.pass_strips;
        struct pass pass = {.wave = wave,
                            .buffers = buffers,
                            .first = first,
                            .count =
                                lesser_size(wave->shape.strips - first, wave->shape.pass_strips)};
        do_pass(&pass);
    }
}
