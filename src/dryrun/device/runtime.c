/* Devices, errors and kernels of the runtime. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "dryrun/device/state.h"
#include "dryrun/device/values.h"

static __thread int last_error;

int runtime_fail(int status)
{
    last_error = status;
    return status;
}

API int cudaGetLastError(void)
{
    int status = last_error;
    last_error = CUDA_OK;
    return status;
}

API int cudaPeekAtLastError(void)
{
    return last_error;
}

static const struct {
    int status;
    const char *name, *text;
} errors[] = {
    {CUDA_OK, "cudaSuccess", "no error"},
    {CUDA_INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"},
    {CUDA_OUT_OF_MEMORY, "cudaErrorMemoryAllocation", "out of memory"},
    {CUDA_INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {CUDA_NOT_READY, "cudaErrorNotReady", "device not ready"},
    {CUDA_NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported"},
};

API const char *cudaGetErrorString(int status)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (errors[i].status == status)
            return errors[i].text;
    return "unknown error";
}

API const char *cudaGetErrorName(int status)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (errors[i].status == status)
            return errors[i].name;
    return "cudaErrorUnknown";
}

API int cudaGetDeviceCount(int *count)
{
    machine_start();
    *count = machine.device_count;
    return CUDA_OK;
}

API int cudaGetDevice(int *device)
{
    *device = device_current();
    return CUDA_OK;
}

/* Programs print CUDA's "invalid device ordinal", which names neither the device nor the remedy. */
static void explain_device(int device)
{
    static atomic_flag is_explained = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&is_explained))
        fprintf(stderr,
                "memsnap: dryrun: the program selects GPU %d, but this dry run has %d; use "
                "--devices %d\n",
                device, machine.device_count, device + 1);
}

API int cudaSetDevice(int device)
{
    machine_start();
    if (device >= machine.device_count)
        explain_device(device);
    if (device < 0 || device >= machine.device_count)
        return runtime_fail(CUDA_INVALID_DEVICE);
    device_select(device);
    return CUDA_OK;
}

API int cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    snprintf(text, (size_t)size, "0000:%02x:00.0", (unsigned)device + 1);
    return CUDA_OK;
}

API int cudaDeviceCanAccessPeer(int *can)
{
    *can = 1;
    return CUDA_OK;
}

API int cudaDeviceGetP2PAttribute(int *value)
{
    *value = 1;
    return CUDA_OK;
}

API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return CUDA_OK;
}

API int cudaDeviceGetLimit(size_t *value)
{
    *value = 8 * MIB;
    return CUDA_OK;
}

API int cudaDriverGetVersion(int *version)
{
    *version = machine.runtime_version;
    return CUDA_OK;
}

API int cudaRuntimeGetVersion(int *version)
{
    return cudaDriverGetVersion(version);
}

/* Kernels: they are registered when a library is loaded, and launching one does nothing. */
API void **__cudaRegisterFatBinary(void)
{
    static void *handle[4];
    return handle;
}

API int __cudaPushCallConfiguration(void)
{
    return CUDA_OK;
}

API int __cudaPopCallConfiguration(unsigned *grid, unsigned *block, size_t *shared, void **stream)
{
    for (int i = 0; i < 3; i++)
        grid[i] = block[i] = 1;
    *shared = 0;
    *stream = NULL;
    return CUDA_OK;
}

API int __cudaGetKernel(const void **kernel, const void *function)
{
    *kernel = function;
    return CUDA_OK;
}

API int cudaLaunchKernel(void)
{
    values_forget();
    return CUDA_OK;
}

API int __cudaLaunchKernel(void)
{
    return cudaLaunchKernel();
}

API int cudaLaunchKernelExC(void)
{
    return cudaLaunchKernel();
}

API int cudaGetFuncBySymbol(const void **function, const void *symbol)
{
    *function = symbol;
    return CUDA_OK;
}

API int cudaGetSymbolAddress(const void **address, const void *symbol)
{
    *address = symbol;
    return CUDA_OK;
}

API int cudaGetSymbolSize(size_t *size)
{
    *size = 256;
    return CUDA_OK;
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *function, int threads)
{
    machine_start();
    int fit = threads > 0 ? machine.card.threads / threads : 1;
    *count = fit < 1 ? 1 : fit > 16 ? 16 : fit;
    return CUDA_OK;
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, const void *function,
                                                               int threads)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(count, function, threads);
}

API int cudaOccupancyMaxActiveClusters(int *count)
{
    *count = 16;
    return CUDA_OK;
}

API int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *size)
{
    *size = 48 * 1024;
    return CUDA_OK;
}

static char library; /* any address */

API int cudaLibraryLoadData(void **loaded)
{
    *loaded = &library;
    return CUDA_OK;
}

API int cudaLibraryLoadFromFile(void **loaded)
{
    return cudaLibraryLoadData(loaded);
}

API int cudaLibraryGetKernel(void **kernel)
{
    return cudaLibraryLoadData(kernel);
}

API int cudaLibraryGetKernelCount(unsigned *count)
{
    *count = 1;
    return CUDA_OK;
}
