/* CUDA, as far as cost tables need it: the pieces of the back end (cuda.c). */
#ifndef MEMSNAP_SOLVE_CUDA_CUDA_H
#define MEMSNAP_SOLVE_CUDA_CUDA_H

#include "solve/backend/device.h"
#include "solve/cuda/api.h"

struct cuda_place {
    CUdevice device;
    char name[96];
    int major, minor; /* compute capability */
    int processors;
};

/* cuda_find.c: the driver's library, which stays loaded, and its first device: CUDA_VISIBLE_DEVICES
 * is what chooses among several. STATUS_IO: there is none, and why. Looked for once. */
bool cuda_find(struct cuda_place *place, struct error *err);
extern struct cuda_api cuda; /* filled by it */

/* Fills *err from the status of a call; false. */
bool cuda_failed(const char *call, int status, struct error *err);

struct cuda_device {
    CUdevice device;
    CUcontext context;
    CUfunction kernels[DEVICE_KERNELS];
    CUdeviceptr tables, numbers, problems; /* of the batch that is loaded; 0: not there */
};

/* cuda_device.c: takes the device and puts the kernels there. */
bool cuda_open(struct cuda_device *device, const struct cuda_place *place, struct error *err);
void cuda_close(struct cuda_device *device);

/* Bytes that a batch may take now. */
bool cuda_free_bytes(size_t *bytes, struct error *err);

/* For struct device. */
bool cuda_load(void *self, const struct device_batch *batch, struct error *err);
bool cuda_launch(void *self, enum device_kernel kernel, const uint32_t groups[3], int diagonal,
                 struct error *err);
bool cuda_fetch(void *self, size_t offset, void *to, size_t bytes, struct error *err);
void cuda_unload(void *self);

/* The kernels in machine code, made from cuda_kernel.cu by nvcc; of size 0 where the build had no
 * nvcc. */
extern const unsigned char cuda_image[];
extern const size_t cuda_image_size;

#endif
