/* Cost tables on a device: what is the same for all kinds of them. */
#ifndef MEMSNAP_SOLVE_BACKEND_DEVICE_H
#define MEMSNAP_SOLVE_BACKEND_DEVICE_H

#include "solve/backend/backend.h"

#define WIDE int64_t
#include "solve/backend/device_shape.h"
#undef WIDE

enum device_kernel { DEVICE_PRODUCT, DEVICE_FINISH };
#define DEVICE_KERNELS 2
extern const char *const device_kernel_names[DEVICE_KERNELS];

/* Problems laid out for the kernels. */
struct device_batch {
    struct device_problem *problems;
    size_t count;
    int32_t *numbers;
    size_t number_count;
    size_t table_bytes; /* of all tables */
};

/* A device that was opened. Its functions fail with STATUS_LIMIT where the device has not the
 * memory, else with STATUS_IO. */
struct device {
    void *self;
    size_t most_bytes; /* of tables at a time */
    /* Makes room for the tables and copies the rest there; unload() follows if it succeeds. */
    bool (*load)(void *self, const struct device_batch *batch, struct error *err);
    /* Runs a kernel over the batch, after what was launched before; may return before it has. */
    bool (*launch)(void *self, enum device_kernel kernel, const uint32_t groups[3], int diagonal,
                   struct error *err);
    /* Waits, and copies from the tables. */
    bool (*fetch)(void *self, size_t offset, void *to, size_t bytes, struct error *err);
    void (*unload)(void *self);
};

/* backend.solve by a device: as many problems at a time as it has memory for. */
bool device_solve(const struct device *device, const struct cost_problem *problems,
                  struct cost_table *tables, size_t count, const struct backend_options *options,
                  struct error *err);

/* backend.seconds, from the time to start, additions and minima a second, and bytes a second on the
 * way back. */
double device_seconds(const struct cost_problem *problems, size_t count, double start, double rate,
                      double bandwidth);

/* device_batch.c. STATUS_LIMIT beyond the budget. */
bool device_batch_create(struct device_batch *batch, const struct cost_problem *problems,
                         size_t count, struct budget *budget, struct error *err);
void device_batch_release(struct device_batch *batch, struct budget *budget);

/* Loads `file`, and sets the `count` pointers to functions at `functions` to those that `names` has
 * in the same order. It stays loaded. STATUS_IO: not there, or too old; `package` is what has it.
 */
bool library_load(const char *file, const char *package, const char *const *names, size_t count,
                  void *functions, struct error *err);

#endif
