/* Who computes cost tables (solve/cost/cost_table.h): the CPU, or a device.
 *
 * A back end sees integers only. All give the same tables, bit for bit; they differ in layout, time
 * and where they can run. None prints. Calls come from one thread at a time; what a device needs to
 * be opened once may be kept from one call to the next. */
#ifndef MEMSNAP_SOLVE_BACKEND_BACKEND_H
#define MEMSNAP_SOLVE_BACKEND_BACKEND_H

#include "solve/cost/cost_table.h"

/* Seconds that a device took, start-up aside. */
struct backend_times {
    double load, kernels, fetch;
};

struct backend_options {
    unsigned threads;      /* CPU threads at most; 0: as many as the process may run on */
    struct budget *budget; /* tables and whatever else grows with the problem is counted here */
    struct backend_times *times; /* devices add to it; NULL: nobody asks, and devices wait less */
};

/* Where a back end would run. */
struct backend_place {
    bool usable;    /* on this machine */
    bool is_cpu;    /* the computer's own processor: a driver for it is no match for backend_cpu */
    char what[160]; /* what it runs on or why it cannot, in words that fit a line ("AVX2, 2
                       threads", "libcuda.so.1 not found"); has names from drivers, not escaped */
};

struct backend {
    const char *name; /* as --backend takes it: "cpu", "opencl", "cuda" */

    /* Fills *place, and returns place->usable. May load a library and ask for devices, so it is not
     * for free. */
    bool (*available)(struct backend_place *place);

    /* Seconds that solving these would take, start-up included, on a machine where it is
     * available: a rough figure, from the sizes alone. */
    double (*seconds)(const struct cost_problem *problems, size_t count, unsigned threads);

    /* Fills one table a problem, in any layout, for the caller to release with
     * cost_table_release() and the same budget. Tables come as cost_table_create() takes them:
     * zeros, or with memory to be used again. Problems were checked (cost_problem_check). A batch
     * shares the start-up of a device and fills it better, and has the same result as each alone.
     *
     * On false no table is filled, though one may still have the memory it came with: STATUS_LIMIT
     * where memory, the caller's or the device's, does not suffice; STATUS_IO for everything else
     * that goes wrong with a device, named in the error, for the caller to fall back to the CPU. */
    bool (*solve)(const struct cost_problem *problems, struct cost_table *tables, size_t count,
                  const struct backend_options *options, struct error *err);
};

/* The recurrences of cost_table.h as they stand there, one cell after another, into COST_ROWS: what
 * all back ends are compared with. */
bool cost_reference_solve(const struct cost_problem *problems, struct cost_table *tables,
                          size_t count, const struct backend_options *options, struct error *err);

#endif
