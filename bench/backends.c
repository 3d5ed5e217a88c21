/* Times every available back end on one problem, or on several equal ones:
 *
 *   bench/backends [LAYERS [SLOTS [COUNT]]]
 *
 * first    the first solve, including a device's start-up and OpenCL's compilation
 * again    a second solve
 * kernels  part of it: computation on the device
 * fetch    part of it: copying the tables back
 * rate     additions and minima per second, in the kernels, or overall without a device
 *
 * The floor is the best possible time on an H200: 132 multiprocessors with 64 additions and minima
 * per clock each, at 1.98 GHz; every entry written to memory at 4.8 TB/s, and copied back over PCIe
 * 5. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "solve/choice/choice.h"

#define H200_STEPS  (132 * 64 * 1.98e9)
#define H200_MEMORY 4.8e12
#define PCIE_5      6e10

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Layers that differ slightly, so that plans are not trivial. */
static void fill(struct cost_problem *problem, int32_t layers, int32_t slots)
{
    size_t room = (size_t)layers + 1;
    int32_t *all = calloc(5 * room, sizeof(*all));
    if (!all)
        exit(1);
    *problem = (struct cost_problem){layers,         slots,          all,           all + room,
                                     all + 2 * room, all + 3 * room, all + 4 * room};
    for (int32_t i = 0; i <= layers; i++)
        all[i] = 1 + i % 3;
    for (int32_t i = 0; i < layers; i++) {
        all[room + (size_t)i] = all[i + 1] + 2 + i % 5;
        all[4 * room + (size_t)i] = 10 + i % 7;
    }
}

static double solve(const struct backend *backend, const struct cost_problem *problems,
                    size_t count, struct backend_times *times)
{
    struct budget budget = {.limit = budget_default_limit()};
    struct backend_options options = {.budget = &budget, .times = times};
    struct cost_table *tables = calloc(count, sizeof(*tables));
    struct error err;
    double start = now();
    if (!tables || !backend->solve(problems, tables, count, &options, &err)) {
        printf("%-8s %s\n", backend->name, tables ? err.text : "out of memory");
        free(tables);
        return -1;
    }
    double seconds = now() - start;
    for (size_t k = 0; k < count; k++)
        cost_table_release(&tables[k], &budget);
    free(tables);
    return seconds;
}

static void time_backend(const struct backend *backend, const struct cost_problem *problems,
                         size_t count, double steps)
{
    struct backend_place place;
    struct backend_times ignored = {0}, times = {0};
    if (!backend->available(&place)) {
        printf("%-8s %s\n", backend->name, place.what);
        return;
    }
    double first = solve(backend, problems, count, &ignored);
    double again = first < 0 ? -1 : solve(backend, problems, count, &times);
    if (again < 0)
        return;
    double kernels = times.kernels > 0 ? times.kernels : again;
    printf("%-8s %9.4f %9.4f %9.4f %9.4f %9.2e  %s\n", backend->name, first, again, times.kernels,
           times.fetch, steps / kernels, place.what);
}

int main(int argc, char **argv)
{
    int32_t layers = argc > 1 ? atoi(argv[1]) : 339, slots = argc > 2 ? atoi(argv[2]) : 500;
    size_t count = argc > 3 ? (size_t)atoi(argv[3]) : 1;
    struct cost_problem problem;
    struct error err;
    if (layers < 1 || layers > COST_MAX_LAYERS || count < 1 || count > 1000)
        return 2;
    fill(&problem, layers, slots);
    if (!cost_problem_check(&problem, &err)) {
        printf("%s\n", err.text);
        return 2;
    }
    struct cost_problem *problems = calloc(count, sizeof(*problems));
    for (size_t k = 0; problems && k < count; k++)
        problems[k] = problem;
    double steps = (double)count * layers * layers * layers / 6 * (slots + 1);
    double bytes = (double)count * (double)cost_table_bytes(&problem, COST_ROWS);
    printf("%zu x %d layers, %d slots: %.3g additions and minima, tables of %.0f MiB\n", count,
           layers, slots, steps, bytes / (1 << 20));
    printf("floor of an H200, seconds: %.5f to compute, %.5f to write, %.4f to fetch\n",
           steps / H200_STEPS, bytes / H200_MEMORY, bytes / PCIE_5);
    printf("%-8s %9s %9s %9s %9s %9s\n", "seconds", "first", "again", "kernels", "fetch", "rate");
    for (size_t i = 0; problems && backends[i]; i++)
        time_backend(backends[i], problems, count, steps);
    free(problems);
    free((void *)(uintptr_t)problem.x);
    return 0;
}
