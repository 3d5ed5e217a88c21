/* The runtime's memory of devices and pinned memory of the host. */
#define _GNU_SOURCE /* madvise */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dryrun/device/state.h"

#define DEVICE_PAGE (2 * MIB) /* the driver gives out device memory in pages of this size */

/* Types of memory in cudaPointerGetAttributes(). */
enum { MEMORY_UNREGISTERED, MEMORY_HOST, MEMORY_DEVICE };

static uint64_t round_up(uint64_t size, uint64_t page)
{
    return (size + page - 1) / page * page;
}

API int cudaMalloc(void **address, size_t size)
{
    int device = device_current();
    uint64_t at = 0, bytes = round_up(size, DEVICE_PAGE);
    machine_start();
    *address = NULL;
    if (size == 0)
        return CUDA_OK;
    if (bytes < size)
        return runtime_fail(CUDA_OUT_OF_MEMORY);
    pthread_mutex_lock(&machine.lock);
    if (device_charge(device, bytes)) {
        at = space_take(&machine.devices[device].memory, bytes, DEVICE_PAGE);
        if (at == 0)
            device_discharge(device, bytes);
    }
    pthread_mutex_unlock(&machine.lock);
    *address = (void *)(uintptr_t)at;
    return at ? CUDA_OK : runtime_fail(CUDA_OUT_OF_MEMORY);
}

API int cudaFree(void *address)
{
    int device = address_device(address);
    if (!address)
        return CUDA_OK;
    if (device < 0)
        return runtime_fail(CUDA_INVALID_VALUE);
    pthread_mutex_lock(&machine.lock);
    uint64_t size = space_give_back(&machine.devices[device].memory, (uint64_t)(uintptr_t)address);
    device_discharge(device, size);
    pthread_mutex_unlock(&machine.lock);
    return size ? CUDA_OK : runtime_fail(CUDA_INVALID_VALUE);
}

API int cudaMallocAsync(void **address, size_t size)
{
    return cudaMalloc(address, size);
}

API int cudaMallocFromPoolAsync(void **address, size_t size)
{
    return cudaMalloc(address, size);
}

API int cudaFreeAsync(void *address)
{
    return cudaFree(address);
}

API int cudaMemGetInfo(size_t *unused, size_t *total)
{
    machine_start();
    uint64_t used = machine.devices[device_current()].used + machine.other;
    *total = machine.card.bytes;
    *unused = used > *total ? 0 : *total - used;
    return CUDA_OK;
}

API int cudaMemPoolGetAttribute(void *pool, int attribute, uint64_t *value)
{
    enum { RESERVED = 5, RESERVED_MOST, USED, USED_MOST };
    const struct device *device = &machine.devices[device_current()];
    bool is_most = attribute == RESERVED_MOST || attribute == USED_MOST;
    *value = attribute < RESERVED ? 0 : is_most ? device->most : device->used;
    return CUDA_OK;
}

API int cudaDeviceGetDefaultMemPool(void **pool, int device)
{
    *pool = &machine.devices[device];
    return CUDA_OK;
}

API int cudaDeviceGetMemPool(void **pool, int device)
{
    return cudaDeviceGetDefaultMemPool(pool, device);
}

API int cudaDeviceGetGraphMemAttribute(int device, int attribute, uint64_t *value)
{
    *value = 0;
    return CUDA_OK;
}

static uint64_t host_page(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

API int cudaHostAlloc(void **address, size_t size)
{
    uint64_t bytes = round_up(size ? size : 1, host_page());
    machine_start();
    *address = NULL;
    pthread_mutex_lock(&machine.lock);
    uint64_t at = bytes < size ? 0 : space_take(&machine.pinned, bytes, host_page());
    pthread_mutex_unlock(&machine.lock);
    if (!at || mprotect((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE) != 0)
        return runtime_fail(CUDA_OUT_OF_MEMORY);
    *address = (void *)(uintptr_t)at;
    return CUDA_OK;
}

API int cudaMallocHost(void **address, size_t size)
{
    return cudaHostAlloc(address, size);
}

API int cudaMallocManaged(void **address, size_t size)
{
    return cudaHostAlloc(address, size);
}

API int cudaFreeHost(void *address)
{
    if (!address)
        return CUDA_OK;
    pthread_mutex_lock(&machine.lock);
    uint64_t size = space_give_back(&machine.pinned, (uint64_t)(uintptr_t)address);
    if (size > 0) {
        madvise(address, size, MADV_DONTNEED);
        mprotect(address, size, PROT_NONE);
    }
    pthread_mutex_unlock(&machine.lock);
    return size ? CUDA_OK : runtime_fail(CUDA_INVALID_VALUE);
}

API int cudaHostGetDevicePointer(void **device, void *host)
{
    *device = host;
    return CUDA_OK;
}

API int cudaHostRegister(void *address, size_t size)
{
    pthread_mutex_lock(&machine.lock);
    bool ok = space_take_at(&machine.registered, (uint64_t)(uintptr_t)address, size);
    pthread_mutex_unlock(&machine.lock);
    return ok ? CUDA_OK : runtime_fail(CUDA_OUT_OF_MEMORY);
}

API int cudaHostUnregister(void *address)
{
    pthread_mutex_lock(&machine.lock);
    uint64_t size = space_give_back(&machine.registered, (uint64_t)(uintptr_t)address);
    pthread_mutex_unlock(&machine.lock);
    return size ? CUDA_OK : runtime_fail(CUDA_INVALID_VALUE);
}

API int cudaPointerGetAttributes(void *out, const void *address)
{
    /* sizeof(struct cudaPointerAttributes): 24 bytes until CUDA 12.8 and 88 in CUDA 13, as its
     * cuda_runtime_api.h says. The fields are the same. */
    struct {
        int type, device;
        const void *on_device, *on_host;
    } fields = {MEMORY_UNREGISTERED, -2, NULL, address};
    int device = address_device(address);
    if (device >= 0) {
        fields.type = MEMORY_DEVICE;
        fields.device = device;
        fields.on_device = address;
        fields.on_host = NULL;
    } else if (address_is_pinned(address)) {
        fields.type = MEMORY_HOST;
        fields.device = 0;
        fields.on_device = address;
    }
    memset(out, 0, machine.runtime_version >= 13000 ? 88 : 24);
    memcpy(out, &fields, sizeof(fields));
    return CUDA_OK;
}

/* Processes cannot share memory that does not exist. */
API int cudaIpcGetMemHandle(void)
{
    return runtime_fail(CUDA_NOT_SUPPORTED);
}

API int cudaIpcOpenMemHandle(void)
{
    return runtime_fail(CUDA_NOT_SUPPORTED);
}

API int cudaIpcCloseMemHandle(void)
{
    return CUDA_OK;
}

API int cudaIpcGetEventHandle(void)
{
    return runtime_fail(CUDA_NOT_SUPPORTED);
}

API int cudaIpcOpenEventHandle(void)
{
    return runtime_fail(CUDA_NOT_SUPPORTED);
}
