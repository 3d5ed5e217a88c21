#include <stdlib.h>
#include <string.h>

#include "solve/opencl/opencl.h"

#define MOST_PLATFORMS 16
#define MOST_DEVICES   64
#define LOCAL_BYTES                                                                                \
    (2 * DEVICE_STEP * DEVICE_TILE * DEVICE_SLOTS * sizeof(int32_t)) /* for cost_product */

static struct opencl_api opencl; /* filled by opencl_find() */

static const char *const function_names[] = {
#define NAME(name, result, parameters) #name,
    OPENCL_FUNCTIONS(NAME)
#undef NAME
};

static bool opencl_failed(const char *call, int32_t status, struct error *err)
{
    switch (status) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
        return error_set(err, STATUS_LIMIT, "%s: out of memory (error %d)", call, status);
    case CL_OUT_OF_RESOURCES:
        return error_set(err, STATUS_LIMIT, "%s: out of resources (error %d)", call, status);
    default:
        return error_set(err, STATUS_IO, "%s: error %d", call, status);
    }
}

static bool ask(cl_device_id device, uint32_t what, void *answer, size_t size)
{
    memset(answer, 0, size);
    return opencl.clGetDeviceInfo(device, what, size, answer, NULL) == CL_SUCCESS;
}

/* True if the kernels can run on the device. */
static bool suits(cl_device_id device)
{
    uint32_t present = 0, compiles = 0;
    uint64_t local = 0;
    size_t threads = 0;
    return ask(device, CL_DEVICE_AVAILABLE, &present, sizeof(present)) && present &&
           ask(device, CL_DEVICE_COMPILER_AVAILABLE, &compiles, sizeof(compiles)) && compiles &&
           ask(device, CL_DEVICE_LOCAL_MEM_SIZE, &local, sizeof(local)) && local >= LOCAL_BYTES &&
           ask(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, &threads, sizeof(threads)) &&
           threads >= DEVICE_THREADS;
}

static bool better(const struct opencl_place *place, const struct opencl_place *best)
{
    if (!best->device || place->is_cpu != best->is_cpu)
        return !best->device || best->is_cpu;
    return place->units > best->units;
}

static void look_at(cl_platform_id platform, cl_device_id device, bool is_cpu,
                    struct opencl_place *best)
{
    struct opencl_place place = {.device = device, .is_cpu = is_cpu};
    if (!suits(device) ||
        !ask(device, CL_DEVICE_MAX_COMPUTE_UNITS, &place.units, sizeof(place.units)) ||
        !ask(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &place.most_bytes, sizeof(place.most_bytes)))
        return;
    /* a name that is too long is left empty */
    (void)ask(device, CL_DEVICE_NAME, place.name, sizeof(place.name) - 1);
    (void)opencl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(place.platform) - 1,
                                   place.platform, NULL);
    if (better(&place, best))
        *best = place;
}

/* Returns the number of devices, including unsuitable ones. */
static size_t look_for(cl_platform_id platform, uint64_t kind, struct opencl_place *best)
{
    cl_device_id devices[MOST_DEVICES];
    uint32_t count = 0;
    if (opencl.clGetDeviceIDs(platform, kind, MOST_DEVICES, devices, &count) != CL_SUCCESS)
        return 0;
    for (uint32_t i = 0; i < count && i < MOST_DEVICES; i++)
        look_at(platform, devices[i], kind == CL_DEVICE_TYPE_CPU, best);
    return count;
}

static bool find(struct opencl_place *place, struct error *err)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    struct opencl_place best = {0};
    uint32_t count = 0;
    size_t devices = 0;
    int32_t status = opencl.clGetPlatformIDs(MOST_PLATFORMS, platforms, &count);
    if (status == CL_PLATFORM_NOT_FOUND_KHR || (status == CL_SUCCESS && count == 0))
        return error_set(err, STATUS_IO, "no OpenCL platform is installed");
    if (status != CL_SUCCESS)
        return opencl_failed("clGetPlatformIDs", status, err);
    for (uint32_t i = 0; i < count && i < MOST_PLATFORMS; i++)
        devices += look_for(platforms[i], CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR, &best) +
                   look_for(platforms[i], CL_DEVICE_TYPE_CPU, &best);
    if (!best.device)
        return error_set(err, STATUS_IO,
                         devices ? "no OpenCL device with a compiler, %zu KiB of local memory and "
                                   "groups of %d"
                                 : "no OpenCL device",
                         LOCAL_BYTES / 1024, DEVICE_THREADS);
    *place = best;
    return true;
}

bool opencl_find(struct opencl_place *place, struct error *err)
{
    static enum { NOT_YET, FOUND, ABSENT } state;
    static struct opencl_place found;
    static struct error why_not;
    if (state == NOT_YET) {
        bool there =
            library_load("libOpenCL.so.1", "OpenCL loader", function_names,
                         sizeof(function_names) / sizeof(function_names[0]), &opencl, &why_not) &&
            find(&found, &why_not);
        state = there ? FOUND : ABSENT;
    }
    if (state == ABSENT)
        *err = why_not;
    else
        *place = found;
    return state == FOUND;
}

/* Reports the first line of the build log that names an error. */
static bool build_failed(const struct opencl_device *device, const struct opencl_place *place,
                         int32_t status, struct error *err)
{
    size_t size = 0;
    if (status != CL_BUILD_PROGRAM_FAILURE ||
        opencl.clGetProgramBuildInfo(device->program, place->device, CL_PROGRAM_BUILD_LOG, 0, NULL,
                                     &size) != CL_SUCCESS)
        return opencl_failed("clBuildProgram", status, err);
    char *log = calloc(1, size + 1);
    if (log)
        (void)opencl.clGetProgramBuildInfo(device->program, place->device, CL_PROGRAM_BUILD_LOG,
                                           size, log, NULL);
    const char *line = log ? strstr(log, "error") : NULL;
    line = line ? line : log ? log : "";
    error_set(err, STATUS_IO, "its compiler rejects the kernel: %.*s",
              (int)(strcspn(line, "\n") < 150 ? strcspn(line, "\n") : 150), line);
    free(log);
    return false;
}

static bool build(struct opencl_device *device, const struct opencl_place *place, struct error *err)
{
    const char *source = (const char *)opencl_source;
    int32_t status;
    device->program =
        opencl.clCreateProgramWithSource(device->context, 1, &source, &opencl_source_size, &status);
    if (!device->program)
        return opencl_failed("clCreateProgramWithSource", status, err);
    status = opencl.clBuildProgram(device->program, 1, &place->device, "-cl-std=CL1.2", NULL, NULL);
    if (status != CL_SUCCESS)
        return build_failed(device, place, status, err);
    for (size_t i = 0; i < DEVICE_KERNELS; i++) {
        device->kernels[i] =
            opencl.clCreateKernel(device->program, device_kernel_names[i], &status);
        if (!device->kernels[i])
            return opencl_failed("clCreateKernel", status, err);
    }
    return true;
}

static bool open_all(struct opencl_device *device, const struct opencl_place *place,
                     struct error *err)
{
    int32_t status;
    device->context = opencl.clCreateContext(NULL, 1, &place->device, NULL, NULL, &status);
    if (!device->context)
        return opencl_failed("clCreateContext", status, err);
    device->queue = opencl.clCreateCommandQueue(device->context, place->device, 0, &status);
    if (!device->queue)
        return opencl_failed("clCreateCommandQueue", status, err);
    return build(device, place, err);
}

bool opencl_open(struct opencl_device *device, const struct opencl_place *place, struct error *err)
{
    *device = (struct opencl_device){0};
    bool ok = open_all(device, place, err);
    if (!ok)
        opencl_close(device);
    return ok;
}

void opencl_close(struct opencl_device *device)
{
    for (size_t i = 0; i < DEVICE_KERNELS; i++)
        if (device->kernels[i])
            (void)opencl.clReleaseKernel(device->kernels[i]);
    if (device->program)
        (void)opencl.clReleaseProgram(device->program);
    if (device->queue)
        (void)opencl.clReleaseCommandQueue(device->queue);
    if (device->context)
        (void)opencl.clReleaseContext(device->context);
    *device = (struct opencl_device){0};
}

static cl_mem buffer(struct opencl_device *device, uint64_t flags, size_t bytes, const void *from,
                     struct error *err)
{
    int32_t status = CL_SUCCESS;
    cl_mem made = opencl.clCreateBuffer(device->context, flags, bytes, (void *)from, &status);
    if (!made)
        (void)opencl_failed("clCreateBuffer", status, err);
    return made;
}

static bool set_arguments(struct opencl_device *device, struct error *err)
{
    const cl_mem arguments[] = {device->tables, device->numbers, device->problems};
    for (size_t k = 0; k < DEVICE_KERNELS; k++)
        for (uint32_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
            int32_t status =
                opencl.clSetKernelArg(device->kernels[k], i, sizeof(cl_mem), &arguments[i]);
            if (status != CL_SUCCESS)
                return opencl_failed("clSetKernelArg", status, err);
        }
    return true;
}

bool opencl_load(void *self, const struct device_batch *batch, struct error *err)
{
    struct opencl_device *device = self;
    const uint64_t given = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    device->tables = buffer(device, CL_MEM_READ_WRITE, batch->table_bytes, NULL, err);
    if (device->tables)
        device->numbers = buffer(device, given, batch->number_count * sizeof(*batch->numbers),
                                 batch->numbers, err);
    if (device->numbers)
        device->problems =
            buffer(device, given, batch->count * sizeof(*batch->problems), batch->problems, err);
    bool ok = device->problems && set_arguments(device, err);
    if (!ok)
        opencl_unload(device);
    return ok;
}

bool opencl_launch(void *self, enum device_kernel kernel, const uint32_t groups[3], int diagonal,
                   struct error *err)
{
    struct opencl_device *device = self;
    const size_t threads[3] = {DEVICE_THREADS, 1, 1};
    const size_t all[3] = {groups[0] * threads[0], groups[1], groups[2]};
    int32_t argument = diagonal;
    int32_t status = opencl.clSetKernelArg(device->kernels[kernel], 3, sizeof(argument), &argument);
    if (status != CL_SUCCESS)
        return opencl_failed("clSetKernelArg", status, err);
    status = opencl.clEnqueueNDRangeKernel(device->queue, device->kernels[kernel], 3, NULL, all,
                                           threads, 0, NULL, NULL);
    return status == CL_SUCCESS || opencl_failed("clEnqueueNDRangeKernel", status, err);
}

bool opencl_fetch(void *self, size_t offset, void *to, size_t bytes, struct error *err)
{
    struct opencl_device *device = self;
    int32_t status = opencl.clEnqueueReadBuffer(device->queue, device->tables, 1, offset, bytes, to,
                                                0, NULL, NULL);
    return status == CL_SUCCESS || opencl_failed("clEnqueueReadBuffer", status, err);
}

void opencl_unload(void *self)
{
    struct opencl_device *device = self;
    (void)opencl.clFinish(device->queue);
    cl_mem *const buffers[] = {&device->tables, &device->numbers, &device->problems};
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        if (*buffers[i])
            (void)opencl.clReleaseMemObject(*buffers[i]);
        *buffers[i] = NULL;
    }
}
