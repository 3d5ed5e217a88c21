#include "solve/cuda/cuda.h"

#include <stdio.h>

#include "solve/backend/device.h"
#include "solve/backend/remote.h"
#include "solve/cuda/api.h"

#define SPARE_BYTES ((size_t)64 << 20) /* for numbers, problems and the driver itself */

/* The driver's first device. CUDA_VISIBLE_DEVICES selects among several. */
struct cuda_place {
    CUdevice device;
    char name[96];
    int major, minor; /* compute capability */
    int processors;
};

struct cuda_device {
    CUdevice device;
    CUcontext context;
    CUfunction kernels[DEVICE_KERNELS];
    CUdeviceptr tables, numbers, problems; /* of the loaded batch; 0: not allocated */
};

static struct cuda_api cuda; /* filled by cuda_find() */

static const char *const function_names[] = {
#define NAME(name, exported, parameters) exported,
    CUDA_FUNCTIONS(NAME)
#undef NAME
};

static bool cuda_failed(const char *call, int status, struct error *err)
{
    const char *what = NULL;
    if (status == CUDA_ERROR_NO_BINARY_FOR_GPU || status == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
        return error_set(err, STATUS_IO, "its driver is older than the CUDA of this build");
    if (cuda.cuGetErrorString(status, &what) != CUDA_SUCCESS || !what)
        what = "unknown error";
    return error_set(err, status == CUDA_ERROR_OUT_OF_MEMORY ? STATUS_LIMIT : STATUS_IO,
                     "%s: %.120s (error %d)", call, what, status);
}

static bool find(struct cuda_place *place, struct error *err)
{
    struct cuda_place found = {0};
    int count = 0;
    int status = cuda.cuInit(0);
    if (status == CUDA_SUCCESS)
        status = cuda.cuDeviceGetCount(&count);
    if (status == CUDA_ERROR_NO_DEVICE || (status == CUDA_SUCCESS && count == 0))
        return error_set(err, STATUS_IO, "no CUDA device");
    if (status != CUDA_SUCCESS)
        return cuda_failed("cuInit", status, err);
    status = cuda.cuDeviceGet(&found.device, 0);
    if (status != CUDA_SUCCESS)
        return cuda_failed("cuDeviceGet", status, err);
    if (cuda.cuDeviceGetName(found.name, sizeof(found.name), found.device) != CUDA_SUCCESS)
        found.name[0] = '\0';
    found.name[sizeof(found.name) - 1] = '\0';
    /* only shown to the user: 0 if the query fails */
    (void)cuda.cuDeviceGetAttribute(&found.major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                    found.device);
    (void)cuda.cuDeviceGetAttribute(&found.minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                    found.device);
    (void)cuda.cuDeviceGetAttribute(&found.processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                    found.device);
    *place = found;
    return true;
}

static bool cuda_find(struct cuda_place *place, struct error *err)
{
    static enum { NOT_YET, FOUND, ABSENT } state;
    static struct cuda_place found;
    static struct error why_not;
    if (state == NOT_YET) {
        bool there = cuda_image_size == 0
                         ? error_set(&why_not, STATUS_IO, "not in this build (no nvcc)")
                         : library_load("libcuda.so.1", "NVIDIA driver", function_names,
                                        sizeof(function_names) / sizeof(function_names[0]), &cuda,
                                        &why_not) &&
                               find(&found, &why_not);
        state = there ? FOUND : ABSENT;
    }
    if (state == ABSENT)
        *err = why_not;
    else
        *place = found;
    return state == FOUND;
}

static bool find_kernels(struct cuda_device *device, struct error *err)
{
    CUmodule module; /* unloaded with the context */
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

static void cuda_close(struct cuda_device *device)
{
    if (device->context)
        (void)cuda.cuDevicePrimaryCtxRelease(device->device);
    *device = (struct cuda_device){0};
}

static bool cuda_open(struct cuda_device *device, const struct cuda_place *place, struct error *err)
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

static bool cuda_free_bytes(size_t *bytes, struct error *err)
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

static void cuda_unload(void *self)
{
    struct cuda_device *device = self;
    CUdeviceptr *const buffers[] = {&device->tables, &device->numbers, &device->problems};
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        if (*buffers[i])
            (void)cuda.cuMemFree(*buffers[i]); /* waits for running kernels */
        *buffers[i] = 0;
    }
}

static bool cuda_load(void *self, const struct device_batch *batch, struct error *err)
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

static bool cuda_launch(void *self, enum device_kernel kernel, const uint32_t groups[3],
                        int diagonal, struct error *err)
{
    struct cuda_device *device = self;
    void *arguments[] = {&device->tables, &device->numbers, &device->problems, &diagonal};
    int status = cuda.cuLaunchKernel(device->kernels[kernel], groups[0], groups[1], groups[2],
                                     DEVICE_THREADS, 1, 1, 0, NULL, arguments, NULL);
    return status == CUDA_SUCCESS || cuda_failed("cuLaunchKernel", status, err);
}

/* Kernel errors are reported by the first call that waits for the kernel. */
static bool cuda_fetch(void *self, size_t offset, void *to, size_t bytes, struct error *err)
{
    struct cuda_device *device = self;
    int status = cuda.cuCtxSynchronize();
    if (status != CUDA_SUCCESS)
        return cuda_failed("the cost kernel", status, err);
    status = cuda.cuMemcpyDtoH(to, device->tables + offset, bytes);
    return status == CUDA_SUCCESS || cuda_failed("cuMemcpyDtoH", status, err);
}

static bool available(struct backend_place *place)
{
    struct cuda_place found;
    struct error err;
    if (remote_is_connected())
        return remote_available(&backend_cuda, place);
    *place = (struct backend_place){.usable = cuda_find(&found, &err)};
    if (place->usable)
        snprintf(place->what, sizeof(place->what), "%s, compute capability %d.%d, %d processors",
                 found.name, found.major, found.minor, found.processors);
    else
        snprintf(place->what, sizeof(place->what), "%.*s", (int)sizeof(place->what) - 1, err.text);
    return place->usable;
}

/* The driver takes long to start. The rate is half the best that an H200 reaches, and the tables
 * are copied back through pageable memory. */
static double seconds(const struct cost_problem *problems, size_t count, unsigned threads)
{
    (void)threads;
    return device_seconds(problems, count, 0.3, 4e12, 2e9);
}

static bool solve(const struct cost_problem *problems, struct cost_table *tables, size_t count,
                  const struct backend_options *options, struct error *err)
{
    static struct cuda_device opened; /* open once `context` is set */
    struct cuda_place place;
    struct device device = {
        .self = &opened,
        .load = cuda_load,
        .launch = cuda_launch,
        .fetch = cuda_fetch,
        .unload = cuda_unload,
    };
    if (remote_is_connected())
        return remote_solve(&backend_cuda, problems, tables, count, options, err);
    return cuda_find(&place, err) && (opened.context || cuda_open(&opened, &place, err)) &&
           cuda_free_bytes(&device.most_bytes, err) &&
           device_solve(&device, problems, tables, count, options, err);
}

const struct backend backend_cuda = {
    .name = "cuda", .available = available, .seconds = seconds, .solve = solve};
