#include "solve/cpu_wave.h"

#include <sched.h>

#define SPINS 200

/* A column strip that a thread is at. */
struct strip {
    struct wave *wave;
    struct wave_buffers *buffers;
    size_t column;   /* strip number: columns COST_STRIP*column.. */
    size_t row_size; /* of a row of one column in buffers->columns */
    size_t block;
    int32_t slot; /* the block's first */
    size_t known; /* tiles that the strip before is known to have done */
};

static inline int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline int32_t lesser(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* least(i,j) of the four columns, for every row. */
static void set_least(const struct strip *strip)
{
    const struct wave *wave = strip->wave;
    int32_t *least = strip->buffers->least;
    for (size_t c = 0; c < COST_STRIP; c++) {
        size_t j = strip->column * COST_STRIP + c;
        int32_t passing = 0; /* the most between i and j */
        for (size_t i = j; i-- > 0;) {
            const int32_t *x = wave->chain.x;
            least[i * COST_STRIP + c] = x[j + 1] + larger(x[i + 1] + wave->chain.ftmp[i], passing);
            passing = larger(passing, x[i] + x[i + 1] + wave->chain.ftmp[i]);
        }
    }
}

/* Where the block of H(s, ., m - shift) begins, relative to that row and column. */
static inline size_t shifted(const struct strip *strip, int32_t shift)
{
    return (size_t)(COST_BLOCK + larger(strip->slot - shift, -COST_BLOCK));
}

static void set_offsets(const struct strip *strip)
{
    size_t rows = (strip->column + 1) * COST_STRIP;
    for (size_t s = 0; s < rows; s++)
        strip->buffers->offsets[s] =
            s * COST_STRIP * strip->row_size + shifted(strip, strip->wave->chain.x[s]);
}

/* No split of any cell of the tile fits into the block. */
static bool too_little(const struct strip *strip, size_t row)
{
    const int32_t *least = strip->buffers->least + row * COST_STRIP * COST_STRIP;
    int32_t any = least[0];
    for (size_t k = 1; k < COST_STRIP * COST_STRIP; k++)
        any = lesser(any, least[k]);
    return strip->slot + COST_BLOCK <= any;
}

static void do_tile(const struct strip *strip, size_t row)
{
    struct wave *wave = strip->wave;
    int32_t first = (int32_t)(row * COST_STRIP);
    struct tile tile = {
        .chain = &wave->chain,
        .first_i = row * COST_STRIP,
        .first_j = strip->column * COST_STRIP,
        .slot = strip->slot,
        .product = row < strip->column && !too_little(strip, row),
        .panel = wave->table->cells + cost_cell_index(wave->table, first, first, strip->slot),
        .columns = strip->buffers->columns,
        .step = strip->row_size,
        .offsets = strip->buffers->offsets,
        .least = strip->buffers->least,
    };
    wave->variant->tile(&tile);
}

/* The tile beside this one is the last that it needs of the column strip before. */
static void wait_for(struct strip *strip, size_t row)
{
    size_t needed = strip->block * strip->column + (strip->column - row);
    for (unsigned spins = 0; strip->known < needed; spins++) {
        strip->known =
            atomic_load_explicit(&strip->wave->done[strip->column - 1], memory_order_acquire);
        if (strip->known < needed && spins % SPINS == SPINS - 1)
            sched_yield();
    }
}

static void do_strip(struct strip *strip)
{
    struct wave *wave = strip->wave;
    size_t done = 0;
    set_least(strip);
    for (strip->block = 0; strip->block < wave->blocks; strip->block++) {
        strip->slot = (int32_t)(strip->block * COST_BLOCK);
        set_offsets(strip);
        for (size_t row = strip->column + 1; row-- > 0;) {
            if (row < strip->column)
                wait_for(strip, row);
            do_tile(strip, row);
            atomic_store_explicit(&wave->done[strip->column], ++done, memory_order_release);
        }
    }
}

void wave_run(struct wave *wave, struct wave_buffers *buffers)
{
    size_t column;
    while ((column = atomic_fetch_add(&wave->next, 1)) < wave->strips) {
        struct strip strip = {.wave = wave,
                              .buffers = buffers,
                              .column = column,
                              .row_size = COST_BLOCK + wave->table->stride};
        do_strip(&strip);
    }
}
