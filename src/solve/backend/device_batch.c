#include <stdlib.h>
#include <string.h>

#include "solve/backend/device.h"

static unsigned peak_levels(int32_t layers)
{
    return 32 - (unsigned)__builtin_clz((unsigned)layers);
}

static size_t number_count(const struct cost_problem *problem)
{
    return (DEVICE_PEAKS + peak_levels(problem->layers)) * ((size_t)problem->layers + 1);
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Each level from two of the one below; what would reach beyond the last layer is not used. */
static void fill_peaks(const struct cost_problem *problem, int32_t *peaks)
{
    int32_t layers = problem->layers;
    for (int32_t q = 0; q < layers; q++)
        peaks[q] = problem->x[q] + problem->x[q + 1] + problem->ftmp[q];
    for (unsigned level = 1; level < peak_levels(layers); level++) {
        int32_t *below = peaks;
        peaks += layers + 1;
        for (int32_t q = 0; q + (1 << level) <= layers; q++)
            peaks[q] = larger(below[q], below[q + (1 << (level - 1))]);
    }
}

static void fill_numbers(const struct cost_problem *problem, int32_t *numbers)
{
    size_t layers = (size_t)problem->layers, room = layers + 1;
    memcpy(numbers + DEVICE_X * room, problem->x, room * sizeof(*numbers));
    memcpy(numbers + DEVICE_XBAR * room, problem->xbar, layers * sizeof(*numbers));
    memcpy(numbers + DEVICE_FTMP * room, problem->ftmp, layers * sizeof(*numbers));
    memcpy(numbers + DEVICE_BTMP * room, problem->btmp, layers * sizeof(*numbers));
    memcpy(numbers + DEVICE_FORWARD * room, problem->forward, layers * sizeof(*numbers));
    int32_t *before = numbers + DEVICE_BEFORE * room;
    for (size_t i = 0; i < layers; i++)
        before[i + 1] = before[i] + problem->forward[i];
    fill_peaks(problem, numbers + DEVICE_PEAKS * room);
}

static void *take(size_t count, size_t item, struct budget *budget, struct error *err)
{
    if (!budget_take(budget, count * item, err))
        return NULL;
    void *data = calloc(count, item);
    if (!data) {
        budget_give(budget, count * item);
        error_set(err, STATUS_LIMIT, "out of memory");
    }
    return data;
}

static void fill(struct device_batch *batch, const struct cost_problem *problems)
{
    size_t number = 0;
    for (size_t k = 0; k < batch->count; k++) {
        size_t bytes = cost_table_bytes(&problems[k], COST_ROWS);
        size_t layers = (size_t)problems[k].layers, rows = layers * (layers + 1) / 2;
        batch->problems[k] = (struct device_problem){
            .table = (int64_t)(batch->table_bytes / sizeof(int32_t)),
            .numbers = (int64_t)number,
            .count = problems[k].layers,
            .stride = (int)(bytes / sizeof(int32_t) / rows),
        };
        fill_numbers(&problems[k], batch->numbers + number);
        number += number_count(&problems[k]);
        batch->table_bytes += bytes;
    }
}

bool device_batch_create(struct device_batch *batch, const struct cost_problem *problems,
                         size_t count, struct budget *budget, struct error *err)
{
    struct device_batch made = {.count = count};
    for (size_t k = 0; k < count; k++)
        made.number_count += number_count(&problems[k]);
    made.problems = take(count, sizeof(*made.problems), budget, err);
    if (!made.problems)
        return false;
    made.numbers = take(made.number_count, sizeof(*made.numbers), budget, err);
    if (!made.numbers) {
        device_batch_release(&made, budget);
        return false;
    }
    fill(&made, problems);
    *batch = made;
    return true;
}

void device_batch_release(struct device_batch *batch, struct budget *budget)
{
    if (batch->problems)
        budget_give(budget, batch->count * sizeof(*batch->problems));
    if (batch->numbers)
        budget_give(budget, batch->number_count * sizeof(*batch->numbers));
    free(batch->problems);
    free(batch->numbers);
    *batch = (struct device_batch){0};
}
