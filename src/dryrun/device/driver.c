/* The driver: devices, contexts and modules. */
#include <stdio.h>
#include <string.h>

#include "dryrun/device/state.h"
#include "dryrun/device/values.h"

/* The runtime's function of the same meaning. */
API int cudaGetDeviceCount(int *count);
API int cudaDeviceGetAttribute(int *value, int attribute, int device);
API int cudaMemGetInfo(size_t *unused, size_t *total);
API const char *cudaGetErrorString(int status);
API const char *cudaGetErrorName(int status);

enum { ATTRIBUTE_VIRTUAL_MEMORY = 102, ATTRIBUTE_SHAREABLE = 103 };

static char contexts[DEVICES_MOST], module, function; /* any addresses */

API int cuInit(void)
{
    machine_start();
    return CUDA_OK;
}

API int cuDriverGetVersion(int *version)
{
    *version = machine.runtime_version;
    return CUDA_OK;
}

API int cuDeviceGetCount(int *count)
{
    return cudaGetDeviceCount(count);
}

API int cuDeviceGet(int *device, int number)
{
    *device = number;
    return CUDA_OK;
}

API int cuDeviceGetName(char *text, int size)
{
    machine_start();
    snprintf(text, (size_t)size, "%s", machine.card.product);
    return CUDA_OK;
}

API int cuDeviceGetUuid(unsigned char *uuid, int device)
{
    memset(uuid, 0, 16);
    uuid[0] = 0x5a;
    uuid[15] = (unsigned char)(device + 1);
    return CUDA_OK;
}

API int cuDeviceGetUuid_v2(unsigned char *uuid, int device)
{
    return cuDeviceGetUuid(uuid, device);
}

API int cuDeviceTotalMem_v2(size_t *bytes)
{
    machine_start();
    *bytes = machine.card.bytes;
    return CUDA_OK;
}

API int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    if (attribute == ATTRIBUTE_VIRTUAL_MEMORY || attribute == ATTRIBUTE_SHAREABLE) {
        *value = 1;
        return CUDA_OK;
    }
    return cudaDeviceGetAttribute(value, attribute, device);
}

API int cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    return cudaMemGetInfo(unused, total);
}

API int cuCtxGetCurrent(void **context)
{
    *context = &contexts[device_current()];
    return CUDA_OK;
}

API int cuCtxGetDevice(int *device)
{
    *device = device_current();
    return CUDA_OK;
}

API int cuCtxPushCurrent_v2(void)
{
    return CUDA_OK;
}

API int cuCtxPopCurrent_v2(void **context)
{
    return context ? cuCtxGetCurrent(context) : CUDA_OK;
}

API int cuCtxGetLimit(size_t *value)
{
    *value = 8 * MIB;
    return CUDA_OK;
}

API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active)
{
    *flags = 0;
    *is_active = 1;
    return CUDA_OK;
}

API int cuDevicePrimaryCtxRetain(void **context, int device)
{
    if (device < 0 || device >= machine.device_count)
        return CUDA_INVALID_DEVICE;
    *context = &contexts[device];
    return CUDA_OK;
}

API int cuStreamGetCtx(void *stream, void **context)
{
    return cuCtxGetCurrent(context);
}

API int cuGetErrorString(int status, const char **text)
{
    *text = cudaGetErrorString(status);
    return CUDA_OK;
}

API int cuGetErrorName(int status, const char **name)
{
    *name = cudaGetErrorName(status);
    return CUDA_OK;
}

API int cuPointerGetAttribute(void *value, int attribute, uint64_t address)
{
    enum { CONTEXT = 1, MEMORY_TYPE = 2, DEVICE_ADDRESS = 3, HOST_ADDRESS = 4, ORDINAL = 9 };
    int device = address_device((void *)(uintptr_t)address);
    int number = attribute == MEMORY_TYPE ? (device >= 0 ? 2 : 1) : device < 0 ? 0 : device;
    if (device < 0 && !address_is_pinned((void *)(uintptr_t)address))
        return CUDA_INVALID_VALUE;
    if (attribute == MEMORY_TYPE || attribute == ORDINAL)
        memcpy(value, &number, sizeof(number));
    else if (attribute == DEVICE_ADDRESS || attribute == HOST_ADDRESS)
        memcpy(value, &address, sizeof(address));
    else if (attribute == CONTEXT)
        return cuCtxGetCurrent(value);
    else
        return CUDA_NOT_SUPPORTED;
    return CUDA_OK;
}

API int cuMemGetAddressRange_v2(uint64_t *base, size_t *size, uint64_t address)
{
    int device = address_device((void *)(uintptr_t)address);
    const struct space_block *block = NULL;
    pthread_mutex_lock(&machine.lock);
    if (device >= 0)
        block = space_find(&machine.devices[device].memory, address);
    if (block && base)
        *base = block->address;
    if (block && size)
        *size = block->size;
    pthread_mutex_unlock(&machine.lock);
    return block ? CUDA_OK : CUDA_INVALID_VALUE;
}

/* Modules hold kernels that were compiled while the program runs. */

API int cuModuleLoad(void **loaded)
{
    *loaded = &module;
    return CUDA_OK;
}

API int cuModuleLoadData(void **loaded)
{
    return cuModuleLoad(loaded);
}

API int cuModuleLoadDataEx(void **loaded)
{
    return cuModuleLoad(loaded);
}

API int cuLinkCreate_v2(unsigned count, void *options, void *values, void **made)
{
    *made = &module;
    return CUDA_OK;
}

API int cuLinkAddData_v2(void)
{
    return CUDA_OK;
}

API int cuLinkComplete(void *link, void **code, size_t *size)
{
    *code = &module;
    *size = sizeof(module);
    return CUDA_OK;
}

API int cuModuleGetFunction(void **found)
{
    *found = &function;
    return CUDA_OK;
}

API int cuFuncGetAttribute(int *value, int attribute)
{
    enum { THREADS = 0, REGISTERS = 4 };
    *value = attribute == THREADS ? 1024 : attribute == REGISTERS ? 32 : 0;
    return CUDA_OK;
}

API int cuKernelGetAttribute(int *value, int attribute)
{
    return cuFuncGetAttribute(value, attribute);
}

API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count)
{
    *count = 2;
    return CUDA_OK;
}

API int cuOccupancyMaxActiveClusters(int *count)
{
    *count = 16;
    return CUDA_OK;
}

API int cuTensorMapEncodeTiled(void)
{
    return CUDA_OK;
}

/* Triton links the code that it compiles with the driver, so these cannot be left to stubs, which
 * exist only for what PyTorch's own libraries need. */
#define NOTHING(function)                                                                          \
    API int function(void)                                                                         \
    {                                                                                              \
        return CUDA_OK;                                                                            \
    }
NOTHING(cuCtxSetCurrent)
NOTHING(cuCtxSetLimit)
NOTHING(cuCtxSynchronize)
NOTHING(cuFuncSetAttribute)
NOTHING(cuFuncSetCacheConfig)
NOTHING(cuModuleUnload)

API int cuLaunchKernel(void)
{
    values_forget();
    return CUDA_OK;
}

API int cuLaunchKernelEx(void)
{
    return cuLaunchKernel();
}

/* Entry points by name. */

API int cudaGetDriverEntryPoint(const char *name, void **found, uint64_t flags, int *result)
{
    *found = entry_point(name);
    if (result)
        *result = *found ? 0 : 1; /* 1: the symbol is unknown */
    return CUDA_OK;
}

API int cudaGetDriverEntryPointByVersion(const char *name, void **found, unsigned version,
                                         uint64_t flags, int *result)
{
    return cudaGetDriverEntryPoint(name, found, flags, result);
}

API int cuGetProcAddress_v2(const char *name, void **found, int version, uint64_t flags,
                            int *result)
{
    return cudaGetDriverEntryPoint(name, found, flags, result);
}

API int cuGetProcAddress(const char *name, void **found, int version, uint64_t flags)
{
    return cudaGetDriverEntryPoint(name, found, flags, NULL);
}
