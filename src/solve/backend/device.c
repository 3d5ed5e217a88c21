#include "solve/backend/device.h"

#include <time.h>

#include "base/units.h"

#define MOST_PROBLEMS 32768 /* a launch: devices take 65535 groups along an axis */

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

/* Adds the time since `*from`, which becomes now. */
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
        ok = device->fetch(device->self, 0, &first, sizeof(first), err); /* waits */
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

/* How many of the problems fit at a time; 0: not even the first. */
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
    bool ok = device_batch_create(&batch, problems, count, budget, err);
    if (ok) {
        ok = compute(device, &batch, tables, options->times, err);
        device_batch_release(&batch, budget);
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
