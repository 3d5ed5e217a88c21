/* A back end computes cost tables (solve/cost/cost_table.h) on the CPU or on a device.
 *
 * Back ends see integers only. All give the same tables, bit for bit; they differ in layout, time
 * and where they can run. None prints. They are called from one thread at a time, and may keep an
 * opened device for the next call. */
#ifndef MEMSNAP_SOLVE_BACKEND_BACKEND_H
#define MEMSNAP_SOLVE_BACKEND_BACKEND_H

#include "solve/cost/cost_table.h"

/* Seconds that a device took, without its start-up: to load the problems, to run the kernels, and
 * to fetch the tables. */
struct backend_times {
    double load, kernels, fetch;
};

struct backend_options {
    unsigned threads;            /* CPU threads at most; 0: as many as the process may run on */
    struct budget *budget;       /* counts all memory that grows with the problem */
    struct backend_times *times; /* a device adds its times; NULL: not wanted, which saves a
                                    synchronization */
};

/* Where a back end runs. */
struct backend_place {
    bool usable;    /* on this machine */
    bool is_cpu;    /* a driver for the host's processor: slower than backend_cpu */
    char what[160]; /* one line: the device or driver, or why it is unavailable ("AVX2, 2 threads",
                       "libcuda.so.1 not found"); names from drivers are not escaped */
};

struct backend {
    const char *name; /* as in --backend: "cpu", "opencl", "cuda" */

    /* Fills *place, and returns place->usable. May load a library and query devices, which takes
     * time. */
    bool (*available)(struct backend_place *place);

    /* Estimates, from the sizes alone, the seconds that solving these problems takes, start-up
     * included, if the back end is available. */
    double (*seconds)(const struct cost_problem *problems, size_t count, unsigned threads);

    /* Fills one table for each problem, in any layout. The caller releases them with
     * cost_table_release() and the same budget. Tables are zeros, or hold memory to reuse, as for
     * cost_table_create(). Problems have passed cost_problem_check(). A batch shares the start-up
     * of a device and uses it better; the results are those of solving one by one.
     *
     * On false no table is filled, though one may keep the memory it came with. STATUS_LIMIT:
     * not enough memory, in the budget or on the device. STATUS_IO: any other failure of a device,
     * named in the error; the caller can fall back to the CPU. */
    bool (*solve)(const struct cost_problem *problems, struct cost_table *tables, size_t count,
                  const struct backend_options *options, struct error *err);
};

#endif
