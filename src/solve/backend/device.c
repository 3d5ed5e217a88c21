#include "solve/backend/device.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"

#define MOST_PROBLEMS 32768 /* per launch: devices accept 65535 groups along an axis */

const char *const device_kernel_names[DEVICE_KERNELS] = {"cost_product", "cost_finish"};

/* A launch has as many groups as the largest problem of the batch needs. */
static bool launch_all(const struct device *device, const struct device_batch *batch,
                       struct error *err)
{
    int layers = 0, stride = 0;
    for (size_t k = 0; k < batch->count; k++) {
        layers = batch->problems[k].count > layers ? batch->problems[k].count : layers;
        stride = batch->problems[k].stride > stride ? batch->problems[k].stride : stride;
    }
    int blocks = (layers + DEVICE_TILE - 1) / DEVICE_TILE;
    uint32_t chunks = (uint32_t)((stride + DEVICE_SLOTS - 1) / DEVICE_SLOTS);
    for (int diagonal = 0; diagonal < blocks; diagonal++) {
        uint32_t here = (uint32_t)(blocks - diagonal), all = (uint32_t)batch->count;
        uint32_t product[3] = {here, chunks, all}, finish[3] = {here, 1, all};
        if (diagonal > 0 && !device->launch(device->self, DEVICE_PRODUCT, product, diagonal, err))
            return false;
        if (!device->launch(device->self, DEVICE_FINISH, finish, diagonal, err))
            return false;
    }
    return true;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Adds the time since `*from` and sets `*from` to the current time. */
static void clock_in(double *sum, double *from)
{
    double at = now();
    *sum += at - *from;
    *from = at;
}

static bool compute(const struct device *device, const struct device_batch *batch,
                    const struct cost_table *tables, struct backend_times *times, struct error *err)
{
    double at = now();
    int32_t first;
    if (!device->load(device->self, batch, err))
        return false;
    if (times)
        clock_in(&times->load, &at);
    bool ok = launch_all(device, batch, err);
    if (ok && times) {
        ok = device->fetch(device->self, 0, &first, sizeof(first), err); /* waits for the kernels */
        clock_in(&times->kernels, &at);
    }
    for (size_t k = 0; ok && k < batch->count; k++)
        ok = device->fetch(device->self, (size_t)batch->problems[k].table * sizeof(int32_t),
                           tables[k].cells, tables[k].bytes, err);
    if (times)
        clock_in(&times->fetch, &at);
    device->unload(device->self);
    return ok;
}

static void release_all(struct cost_table *tables, size_t count, struct budget *budget)
{
    for (size_t k = 0; k < count; k++)
        cost_table_release(&tables[k], budget);
}

static bool create_all(struct cost_table *tables, const struct cost_problem *problems, size_t count,
                       struct budget *budget, struct error *err)
{
    for (size_t k = 0; k < count; k++)
        if (!cost_table_create(&tables[k], &problems[k], COST_ROWS, 0, budget, err)) {
            release_all(tables, k, budget);
            return false;
        }
    return true;
}

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

/* Computes each level from two entries of the level below. Entries that would reach beyond the last
 * layer are never read. */
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
        error_out_of_memory(err);
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

static void release_batch(struct device_batch *batch, struct budget *budget)
{
    if (batch->problems)
        budget_give(budget, batch->count * sizeof(*batch->problems));
    if (batch->numbers)
        budget_give(budget, batch->number_count * sizeof(*batch->numbers));
    free(batch->problems);
    free(batch->numbers);
    *batch = (struct device_batch){0};
}

/* STATUS_LIMIT beyond the budget. */
static bool create_batch(struct device_batch *batch, const struct cost_problem *problems,
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
        release_batch(&made, budget);
        return false;
    }
    fill(&made, problems);
    *batch = made;
    return true;
}

/* The number of problems that fit into device memory together; 0: not even the first fits. */
static size_t count_fitting(const struct device *device, const struct cost_problem *problems,
                            size_t count)
{
    size_t fitting = 0, left = device->most_bytes;
    while (fitting < count && fitting < MOST_PROBLEMS) {
        size_t bytes = cost_table_bytes(&problems[fitting], COST_ROWS);
        if (bytes == 0 || bytes > left)
            break;
        left -= bytes;
        fitting++;
    }
    return fitting;
}

static bool solve_fitting(const struct device *device, const struct cost_problem *problems,
                          struct cost_table *tables, size_t count,
                          const struct backend_options *options, struct error *err)
{
    struct budget *budget = options->budget;
    struct device_batch batch;
    if (!create_all(tables, problems, count, budget, err))
        return false;
    bool ok = create_batch(&batch, problems, count, budget, err);
    if (ok) {
        ok = compute(device, &batch, tables, options->times, err);
        release_batch(&batch, budget);
    }
    if (!ok)
        release_all(tables, count, budget);
    return ok;
}

static void too_large(size_t table, size_t device, struct error *err)
{
    char has[UNITS_TEXT_SIZE], needs[UNITS_TEXT_SIZE];
    error_set(err, STATUS_LIMIT, "a table of %s does not fit the %s that are free there",
              units_bytes(needs, (int64_t)table, UNIT_AUTO),
              units_bytes(has, (int64_t)device, UNIT_AUTO));
}

bool device_solve(const struct device *device, const struct cost_problem *problems,
                  struct cost_table *tables, size_t count, const struct backend_options *options,
                  struct error *err)
{
    for (size_t done = 0, fitting; done < count; done += fitting) {
        fitting = count_fitting(device, problems + done, count - done);
        bool ok = fitting > 0 &&
                  solve_fitting(device, problems + done, tables + done, fitting, options, err);
        if (ok)
            continue;
        if (fitting == 0)
            too_large(cost_table_bytes(&problems[done], COST_ROWS), device->most_bytes, err);
        release_all(tables, done, options->budget);
        return false;
    }
    return true;
}

double device_seconds(const struct cost_problem *problems, size_t count, double start, double rate,
                      double bandwidth)
{
    double seconds = start;
    for (size_t k = 0; k < count; k++) {
        double layers = problems[k].layers, slots = problems[k].slots + 1.0;
        seconds += layers * layers * layers / 6 * slots / rate +
                   (double)cost_table_bytes(&problems[k], COST_ROWS) / bandwidth;
    }
    return seconds;
}

bool library_load(const char *file, const char *package, const char *const *names, size_t count,
                  void *functions, struct error *err)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        if (!why || strstr(why, "No such file"))
            return error_set(err, STATUS_IO, "%s not found (no %s)", file, package);
        return error_set(err, STATUS_IO, "%.200s", why);
    }
    for (size_t i = 0; i < count; i++) {
        void *function = dlsym(library, names[i]);
        if (!function) {
            dlclose(library);
            return error_set(err, STATUS_IO, "%s lacks %s: too old", file, names[i]);
        }
        memcpy((char *)functions + i * sizeof(function), &function, sizeof(function));
    }
    return true;
}
