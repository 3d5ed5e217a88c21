#include "solve/cuda/cuda.h"

static bool find_kernels(struct cuda_device *device, struct error *err)
{
    CUmodule module; /* goes with the context */
    int status = cuda.cuModuleLoadData(&module, cuda_image);
    if (status != CUDA_SUCCESS)
        return cuda_failed("cuModuleLoadData", status, err);
    for (size_t i = 0; i < DEVICE_KERNELS; i++) {
        status = cuda.cuModuleGetFunction(&device->kernels[i], module, device_kernel_names[i]);
        if (status != CUDA_SUCCESS)
            return cuda_failed("cuModuleGetFunction", status, err);
    }
    return true;
}

bool cuda_open(struct cuda_device *device, const struct cuda_place *place, struct error *err)
{
    struct cuda_device opened = {.device = place->device};
    int status = cuda.cuDevicePrimaryCtxRetain(&opened.context, place->device);
    if (status != CUDA_SUCCESS)
        return cuda_failed("cuDevicePrimaryCtxRetain", status, err);
    status = cuda.cuCtxSetCurrent(opened.context);
    bool ok = status == CUDA_SUCCESS ? find_kernels(&opened, err)
                                     : cuda_failed("cuCtxSetCurrent", status, err);
    if (!ok) {
        cuda_close(&opened);
        return false;
    }
    *device = opened;
    return true;
}

void cuda_close(struct cuda_device *device)
{
    if (device->context)
        (void)cuda.cuDevicePrimaryCtxRelease(device->device);
    *device = (struct cuda_device){0};
}

#define SPARE_BYTES ((size_t)64 << 20) /* for numbers and problems, and the driver's own */

bool cuda_free_bytes(size_t *bytes, struct error *err)
{
    size_t free_now, all;
    int status = cuda.cuMemGetInfo(&free_now, &all);
    if (status != CUDA_SUCCESS)
        return cuda_failed("cuMemGetInfo", status, err);
    *bytes = free_now > SPARE_BYTES ? free_now - SPARE_BYTES : 0;
    return true;
}

static bool allocate(CUdeviceptr *at, size_t bytes, struct error *err)
{
    CUdeviceptr made;
    int status = cuda.cuMemAlloc(&made, bytes);
    if (status != CUDA_SUCCESS)
        return cuda_failed("cuMemAlloc", status, err);
    *at = made;
    return true;
}

static bool copy_there(CUdeviceptr *at, const void *from, size_t bytes, struct error *err)
{
    if (!allocate(at, bytes, err))
        return false;
    int status = cuda.cuMemcpyHtoD(*at, from, bytes);
    return status == CUDA_SUCCESS || cuda_failed("cuMemcpyHtoD", status, err);
}

bool cuda_load(void *self, const struct device_batch *batch, struct error *err)
{
    struct cuda_device *device = self;
    bool ok = allocate(&device->tables, batch->table_bytes, err) &&
              copy_there(&device->numbers, batch->numbers,
                         batch->number_count * sizeof(*batch->numbers), err) &&
              copy_there(&device->problems, batch->problems,
                         batch->count * sizeof(*batch->problems), err);
    if (!ok)
        cuda_unload(device);
    return ok;
}

bool cuda_launch(void *self, enum device_kernel kernel, const uint32_t groups[3], int diagonal,
                 struct error *err)
{
    struct cuda_device *device = self;
    void *arguments[] = {&device->tables, &device->numbers, &device->problems, &diagonal};
    int status = cuda.cuLaunchKernel(device->kernels[kernel], groups[0], groups[1], groups[2],
                                     DEVICE_THREADS, 1, 1, 0, NULL, arguments, NULL);
    return status == CUDA_SUCCESS || cuda_failed("cuLaunchKernel", status, err);
}

/* What a kernel did wrong is said by the first call that waits for it. */
bool cuda_fetch(void *self, size_t offset, void *to, size_t bytes, struct error *err)
{
    struct cuda_device *device = self;
    int status = cuda.cuCtxSynchronize();
    if (status != CUDA_SUCCESS)
        return cuda_failed("the cost kernel", status, err);
    status = cuda.cuMemcpyDtoH(to, device->tables + offset, bytes);
    return status == CUDA_SUCCESS || cuda_failed("cuMemcpyDtoH", status, err);
}

void cuda_unload(void *self)
{
    struct cuda_device *device = self;
    CUdeviceptr *const buffers[] = {&device->tables, &device->numbers, &device->problems};
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        if (*buffers[i])
            (void)cuda.cuMemFree(*buffers[i]); /* waits for what still runs */
        *buffers[i] = 0;
    }
}
