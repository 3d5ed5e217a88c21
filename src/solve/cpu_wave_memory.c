#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "solve/cpu_wave.h"

#define ARRAYS          6
#define PASSES_A_THREAD 4 /* at least, for threads to have enough to do beside each other */

static void *allocate(size_t bytes, struct budget *budget, struct error *err)
{
    if (!budget_take(budget, bytes, err))
        return NULL;
    void *memory = pages_aligned(bytes);
    if (!memory) {
        budget_give(budget, bytes);
        error_set(err, STATUS_LIMIT, "out of memory");
    }
    return memory;
}

static size_t number_bytes(const struct wave *wave)
{
    return (wave->strips * COST_STRIP * ARRAYS + 1) * sizeof(int32_t);
}

static size_t done_bytes(const struct wave *wave)
{
    return wave->strips * sizeof(atomic_size_t);
}

static size_t tops_bytes(const struct wave *wave)
{
    return wave->table->bytes / COST_BLOCK + TILE_GROUP * sizeof(int32_t);
}

static void set_numbers(struct wave *wave, const struct cost_problem *problem)
{
    size_t n = (size_t)problem->layers, room = wave->strips * COST_STRIP;
    int32_t *next = wave->numbers + room + 1, before = 0;
    const int32_t *from[] = {problem->xbar, problem->ftmp, problem->btmp, problem->forward};
    int32_t **to[] = {&wave->chain.xbar, &wave->chain.ftmp, &wave->chain.btmp,
                      &wave->chain.forward};
    memset(wave->numbers, 0, number_bytes(wave));
    wave->chain.x = wave->numbers;
    memcpy(wave->chain.x, problem->x, (n + 1) * sizeof(int32_t));
    for (size_t k = 0; k < sizeof(to) / sizeof(to[0]); k++, next += room) {
        *to[k] = next;
        memcpy(next, from[k], n * sizeof(int32_t));
    }
    wave->chain.before = next;
    for (size_t i = 0; i < room; i++) {
        wave->chain.before[i] = before;
        before += wave->chain.forward[i];
    }
}

bool wave_create(struct wave *wave, const struct cost_problem *problem, struct cost_table *table,
                 const struct cpu_variant *variant, unsigned threads, struct budget *budget,
                 struct error *err)
{
    *wave = (struct wave){.variant = variant, .table = table, .pass_strips = 1};
    wave->strips = ((size_t)problem->layers + COST_STRIP - 1) / COST_STRIP;
    if (threads == 1)
        wave->pass_strips = WAVE_PASS;
    else if (wave->strips > threads * PASSES_A_THREAD)
        wave->pass_strips = wave->strips / (threads * PASSES_A_THREAD);
    if (wave->pass_strips > WAVE_PASS)
        wave->pass_strips = WAVE_PASS;
    wave->blocks = table->stride / COST_BLOCK;
    wave->numbers = allocate(number_bytes(wave), budget, err);
    if (!wave->numbers)
        return false;
    wave->done = allocate(done_bytes(wave), budget, err);
    if (wave->done)
        wave->tops = allocate(tops_bytes(wave), budget, err);
    if (!wave->tops) {
        wave_release(wave, budget);
        return false;
    }
    set_numbers(wave, problem);
    atomic_init(&wave->next, 0);
    for (size_t k = 0; k < wave->strips; k++)
        atomic_init(&wave->done[k], 0);
    return true;
}

void wave_release(struct wave *wave, struct budget *budget)
{
    if (wave->numbers)
        budget_give(budget, number_bytes(wave));
    if (wave->done)
        budget_give(budget, done_bytes(wave));
    if (wave->tops)
        budget_give(budget, tops_bytes(wave));
    free(wave->tops);
    free(wave->numbers);
    free(wave->done);
    *wave = (struct wave){0};
}

static void set_places(struct tile_places *places)
{
    for (unsigned set = 0; set < 1u << TILE_GROUP; set++) {
        struct tile_places *here = &places[set];
        memset(here, 0, sizeof(*here));
        for (unsigned bit = 0; bit < TILE_GROUP; bit++)
            if (set >> bit & 1)
                here->of[here->count++] = bit;
    }
}

/* Int32 of a column strip beside its cells. */
static size_t column_numbers(size_t rows)
{
    return rows * COST_STRIP + TILE_SPAN * (COST_STRIP + 1) * rows + rows + COST_STRIP;
}

static void set_column(struct wave_column *column, int32_t *cells, int32_t *numbers, size_t rows)
{
    column->cells = cells;
    column->least = numbers;
    column->ends = column->least + rows * COST_STRIP;
    column->right = column->ends + TILE_SPAN * COST_STRIP * rows;
    column->finite = column->right + TILE_SPAN * rows;
    column->shape = column->finite + rows;
}

/* Cells come first: what a row has in a block is a cache line. */
bool wave_buffers_create(struct wave_buffers *buffers, const struct wave *wave,
                         struct budget *budget, struct error *err)
{
    size_t rows = wave->strips * COST_STRIP + TILE_GROUP, step = COST_BLOCK + wave->table->stride;
    size_t quads = wave->strips * COST_STRIP * COST_STRIP, cells = quads * step;
    size_t count = wave->pass_strips, numbers = count * column_numbers(rows);
    numbers += (1 + TILE_SPAN) * rows + COST_STRIP;
    size_t bytes = (count * cells + numbers) * sizeof(int32_t) +
                   rows * (TILE_SPAN * sizeof(size_t) + sizeof(struct tile_split)) +
                   (sizeof(struct tile_places) << TILE_GROUP);
    int32_t *memory = allocate(bytes, budget, err);
    if (!memory)
        return false;
    *buffers = (struct wave_buffers){.rows = rows, .step = step, .memory = memory, .bytes = bytes};
    buffers->offsets = (size_t *)(memory + count * cells);
    buffers->splits = (struct tile_split *)(buffers->offsets + TILE_SPAN * rows);
    int32_t *next = (int32_t *)(buffers->splits + rows);
    for (size_t k = 0; k < count; k++, next += column_numbers(rows)) {
        set_column(&buffers->columns[k], memory + k * cells, next, rows);
        for (size_t row = 0; row < quads; row++)
            for (size_t slot = 0; slot < COST_BLOCK; slot++)
                buffers->columns[k].cells[row * step + slot] = COST_INFINITE;
    }
    buffers->left = next;
    buffers->shape = next + TILE_SPAN * rows;
    buffers->chosen = (uint32_t *)buffers->shape + COST_STRIP;
    buffers->places = (struct tile_places *)(buffers->chosen + rows);
    set_places(buffers->places);
    return true;
}

void wave_buffers_release(struct wave_buffers *buffers, struct budget *budget)
{
    free(buffers->memory);
    budget_give(budget, buffers->bytes);
    *buffers = (struct wave_buffers){0};
}
