/* Cost tables on a device: the host's side that OpenCL and CUDA share. */
#ifndef MEMSNAP_SOLVE_BACKEND_DEVICE_H
#define MEMSNAP_SOLVE_BACKEND_DEVICE_H

#include "solve/backend/backend.h"

#define WIDE int64_t
#include "solve/backend/device_shape.h"
#undef WIDE

enum device_kernel { DEVICE_PRODUCT, DEVICE_FINISH };
#define DEVICE_KERNELS 2
extern const char *const device_kernel_names[DEVICE_KERNELS];

/* Problems in the layout that the kernels read. */
struct device_batch {
    struct device_problem *problems;
    size_t count;
    int32_t *numbers;
    size_t number_count;
    size_t table_bytes; /* of all tables */
};

/* A device that was opened. Its functions fail with STATUS_LIMIT if the device lacks
 * memory, else with STATUS_IO. */
struct device {
    void *self;
    size_t most_bytes; /* of all tables of a batch */
    /* Allocates the tables on the device and copies the rest there. After success the caller calls
     * unload(). */
    bool (*load)(void *self, const struct device_batch *batch, struct error *err);
    /* Starts a kernel over the batch, after those launched before; may return before it ends. */
    bool (*launch)(void *self, enum device_kernel kernel, const uint32_t groups[3], int diagonal,
                   struct error *err);
    /* Waits for the kernels, then copies `bytes` at `offset` of the tables. */
    bool (*fetch)(void *self, size_t offset, void *to, size_t bytes, struct error *err);
    void (*unload)(void *self);
};

/* Implements backend.solve on a device, in batches of as many problems as fit into its memory. */
bool device_solve(const struct device *device, const struct cost_problem *problems,
                  struct cost_table *tables, size_t count, const struct backend_options *options,
                  struct error *err);

/* Implements backend.seconds for a device: `start` seconds to open it, `rate` additions and minima
 * per second, `bandwidth` bytes per second for copying the tables back. */
double device_seconds(const struct cost_problem *problems, size_t count, double start, double rate,
                      double bandwidth);

/* Loads the shared library `file`, which stays loaded, and stores the addresses of the `count`
 * functions `names`, in that order, at `functions`. STATUS_IO: the library is missing (the error
 * names `package`, which contains it) or lacks a function. */
bool library_load(const char *file, const char *package, const char *const *names, size_t count,
                  void *functions, struct error *err);

#endif
