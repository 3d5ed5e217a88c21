#include <stdlib.h>
#include <string.h>

#include "solve/cpu_wave.h"

#define ARRAYS 6

static void *allocate(size_t bytes, struct budget *budget, struct error *err)
{
    void *memory;
    if (!budget_take(budget, bytes, err))
        return NULL;
    if (posix_memalign(&memory, 64, bytes) == 0)
        return memory;
    budget_give(budget, bytes);
    error_set(err, STATUS_LIMIT, "out of memory");
    return NULL;
}

static size_t number_bytes(const struct wave *wave)
{
    return (wave->strips * COST_STRIP * ARRAYS + 1) * sizeof(int32_t);
}

static size_t done_bytes(const struct wave *wave)
{
    return wave->strips * sizeof(atomic_size_t);
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
                 const struct cpu_variant *variant, struct budget *budget, struct error *err)
{
    *wave = (struct wave){.variant = variant, .table = table};
    wave->strips = ((size_t)problem->layers + COST_STRIP - 1) / COST_STRIP;
    wave->blocks = table->stride / COST_BLOCK;
    wave->numbers = allocate(number_bytes(wave), budget, err);
    if (!wave->numbers)
        return false;
    wave->done = allocate(done_bytes(wave), budget, err);
    if (!wave->done) {
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
    free(wave->numbers);
    free(wave->done);
    *wave = (struct wave){0};
}

bool wave_buffers_create(struct wave_buffers *buffers, const struct wave *wave,
                         struct budget *budget, struct error *err)
{
    size_t rows = wave->strips * COST_STRIP, row_size = COST_BLOCK + wave->table->stride;
    size_t cells = rows * COST_STRIP * row_size;
    size_t bytes =
        cells * sizeof(int32_t) + rows * COST_STRIP * sizeof(int32_t) + rows * sizeof(size_t);
    int32_t *columns = allocate(bytes, budget, err);
    if (!columns)
        return false;
    /* The diagonal tile reads no further than what was stored, but for rows that cannot be. */
    for (size_t k = 0; k < cells; k++)
        columns[k] = COST_INFINITE;
    buffers->columns = columns;
    buffers->offsets = (size_t *)(void *)(columns + cells);
    buffers->least = (int32_t *)(void *)(buffers->offsets + rows);
    memset(buffers->least, 0, rows * COST_STRIP * sizeof(int32_t));
    buffers->bytes = bytes;
    return true;
}

void wave_buffers_release(struct wave_buffers *buffers, struct budget *budget)
{
    free(buffers->columns);
    budget_give(budget, buffers->bytes);
    *buffers = (struct wave_buffers){0};
}
