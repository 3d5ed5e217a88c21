/* The OpenCL back end. opencl.c implements the interface, device.c calls the library. */
#ifndef MEMSNAP_SOLVE_OPENCL_OPENCL_H
#define MEMSNAP_SOLVE_OPENCL_OPENCL_H

#include "solve/backend/device.h"
#include "solve/opencl/api.h"

extern const struct backend backend_opencl;

/* A device that has not been opened. */
struct opencl_place {
    cl_device_id device;
    bool is_cpu;
    uint32_t units;
    uint64_t most_bytes; /* largest size of a buffer */
    char platform[64], name[96];
};

/* Loads the library, which stays loaded, and finds the best device: GPUs and accelerators come
 * before CPUs; among equals, the one with the most compute units wins. STATUS_IO if there is none;
 * the error says why. The first call searches, later ones return its result. */
bool opencl_find(struct opencl_place *place, struct error *err);

struct opencl_device {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernels[DEVICE_KERNELS];
    cl_mem tables, numbers, problems; /* of the loaded batch */
};

/* Opens the device and compiles the kernels. */
bool opencl_open(struct opencl_device *device, const struct opencl_place *place, struct error *err);
void opencl_close(struct opencl_device *device);

/* These implement struct device. */
bool opencl_load(void *self, const struct device_batch *batch, struct error *err);
bool opencl_launch(void *self, enum device_kernel kernel, const uint32_t groups[3], int diagonal,
                   struct error *err);
bool opencl_fetch(void *self, size_t offset, void *to, size_t bytes, struct error *err);
void opencl_unload(void *self);

/* The source of the kernels, generated from kernel.cl by scripts/embed. */
extern const unsigned char opencl_source[];
extern const size_t opencl_source_size;

#endif
