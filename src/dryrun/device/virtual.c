/* The driver's virtual memory: addresses are reserved, and physical memory is mapped to them.
 * PyTorch's expandable segments use it. */
#include <stdlib.h>
#include <string.h>

#include "dryrun/device/state.h"

#define PAGE (2 * MIB)

/* Physical memory. It is in use until its handle is released and it is mapped nowhere. */
struct physical {
    int device;
    uint64_t size;
    unsigned references;
};

/* Where physical memory is mapped. */
struct mapping {
    uint64_t address, size;
    struct physical *physical;
    struct mapping *next;
};

static struct mapping *mappings; /* the newest first */

API int cuMemAddressReserve(uint64_t *address, size_t size, size_t align)
{
    machine_start();
    pthread_mutex_lock(&machine.lock);
    *address =
        space_take(&machine.devices[device_current()].reserved, size, align > PAGE ? align : PAGE);
    pthread_mutex_unlock(&machine.lock);
    return *address ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

API int cuMemAddressFree(uint64_t address)
{
    int device = address_device((void *)(uintptr_t)address);
    if (device < 0)
        return CUDA_INVALID_VALUE;
    pthread_mutex_lock(&machine.lock);
    uint64_t size = space_give_back(&machine.devices[device].reserved, address);
    pthread_mutex_unlock(&machine.lock);
    return size ? CUDA_OK : CUDA_INVALID_VALUE;
}

/* The properties are a struct CUmemAllocationProp, whose fourth int is the device. */
API int cuMemCreate(struct physical **handle, size_t size, const int *properties)
{
    int device = properties[3];
    machine_start();
    if (device < 0 || device >= machine.device_count)
        return CUDA_INVALID_DEVICE;
    struct physical *physical = malloc(sizeof(*physical));
    if (!physical)
        return CUDA_OUT_OF_MEMORY;
    *physical = (struct physical){device, size, 1};
    pthread_mutex_lock(&machine.lock);
    bool fits = device_charge(device, size);
    pthread_mutex_unlock(&machine.lock);
    if (!fits) {
        free(physical);
        return CUDA_OUT_OF_MEMORY;
    }
    *handle = physical;
    return CUDA_OK;
}

/* The caller holds the lock. */
static void drop(struct physical *physical)
{
    if (--physical->references > 0)
        return;
    device_discharge(physical->device, physical->size);
    free(physical);
}

API int cuMemRelease(struct physical *handle)
{
    pthread_mutex_lock(&machine.lock);
    drop(handle);
    pthread_mutex_unlock(&machine.lock);
    return CUDA_OK;
}

API int cuMemMap(uint64_t address, size_t size, size_t offset, struct physical *handle)
{
    struct mapping *mapping = malloc(sizeof(*mapping));
    if (!mapping)
        return CUDA_OUT_OF_MEMORY;
    pthread_mutex_lock(&machine.lock);
    *mapping = (struct mapping){address, size, handle, mappings};
    mappings = mapping;
    handle->references++;
    pthread_mutex_unlock(&machine.lock);
    return CUDA_OK;
}

API int cuMemUnmap(uint64_t address, size_t size)
{
    pthread_mutex_lock(&machine.lock);
    for (struct mapping **at = &mappings; *at;) {
        struct mapping *mapping = *at;
        if (mapping->address < address || mapping->address - address >= size) {
            at = &mapping->next;
            continue;
        }
        *at = mapping->next;
        drop(mapping->physical);
        free(mapping);
    }
    pthread_mutex_unlock(&machine.lock);
    return CUDA_OK;
}

API int cuMemSetAccess(void)
{
    return CUDA_OK;
}

API int cuMemGetAllocationGranularity(size_t *granularity)
{
    *granularity = PAGE;
    return CUDA_OK;
}

API int cuMemRetainAllocationHandle(struct physical **handle, const void *address)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    int status = CUDA_INVALID_VALUE;
    pthread_mutex_lock(&machine.lock);
    for (const struct mapping *mapping = mappings; mapping && status; mapping = mapping->next) {
        if (at < mapping->address || at - mapping->address >= mapping->size)
            continue;
        *handle = mapping->physical;
        mapping->physical->references++;
        status = CUDA_OK;
    }
    pthread_mutex_unlock(&machine.lock);
    return status;
}

/* Processes cannot share memory that does not exist. */
API int cuMemExportToShareableHandle(void)
{
    return CUDA_NOT_SUPPORTED;
}

API int cuMemImportFromShareableHandle(void)
{
    return CUDA_NOT_SUPPORTED;
}

API int cuMulticastCreate(void)
{
    return CUDA_NOT_SUPPORTED;
}
