#include "solve/backend/library.h"
#include "solve/cuda/cuda.h"

struct cuda_api cuda;

static const char *const function_names[] = {
#define NAME(name, exported, parameters) exported,
    CUDA_FUNCTIONS(NAME)
#undef NAME
};

bool cuda_failed(const char *call, int status, struct error *err)
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
    /* only told to the user: 0 where it cannot be asked */
    (void)cuda.cuDeviceGetAttribute(&found.major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                    found.device);
    (void)cuda.cuDeviceGetAttribute(&found.minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                    found.device);
    (void)cuda.cuDeviceGetAttribute(&found.processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                    found.device);
    *place = found;
    return true;
}

bool cuda_find(struct cuda_place *place, struct error *err)
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
