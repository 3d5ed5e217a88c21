#include <string.h>

#include "solve/backend/library.h"
#include "solve/opencl/opencl.h"

#define MOST_PLATFORMS 16
#define MOST_DEVICES   64
#define LOCAL_BYTES                                                                                \
    (2 * DEVICE_STEP * DEVICE_TILE * DEVICE_SLOTS * sizeof(int32_t)) /* cost_product's */

struct opencl_api opencl;

static const char *const function_names[] = {
#define NAME(name, result, parameters) #name,
    OPENCL_FUNCTIONS(NAME)
#undef NAME
};

bool opencl_failed(const char *call, int32_t status, struct error *err)
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

/* Whether the kernels can run there. */
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
    /* names that are too long leave none */
    (void)ask(device, CL_DEVICE_NAME, place.name, sizeof(place.name) - 1);
    (void)opencl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(place.platform) - 1,
                                   place.platform, NULL);
    if (better(&place, best))
        *best = place;
}

/* Returns how many devices there are, suitable or not. */
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
