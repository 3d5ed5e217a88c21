/* Copies. What arrives from a GPU is zero, unless only copies have touched it. */
#include <string.h>

#include "dryrun/device/state.h"
#include "dryrun/device/values.h"

enum { COPY_TO_DEVICE = 1, COPY_TO_HOST = 2 };

static void (*on_read)(void);

/* The function is called at every copy to the host of values that are not known; NULL: none. */
API void memsnap_dryrun_on_read(void (*function)(void))
{
    __atomic_store_n(&on_read, function, __ATOMIC_RELEASE);
}

static void count_read(void)
{
    void (*function)(void) = __atomic_load_n(&on_read, __ATOMIC_ACQUIRE);
    __atomic_add_fetch(&machine.values_read, 1, __ATOMIC_RELAXED);
    if (function)
        function();
}

static void copy(void *to, const void *from, size_t size, int kind)
{
    bool is_from_host =
        kind == COPY_TO_DEVICE || (kind != COPY_TO_HOST && address_device(from) < 0);
    if (size == 0)
        return;
    if (address_device(to) >= 0) {
        if (is_from_host)
            values_put(to, from, size);
        else
            values_move(to, from, size);
    } else if (is_from_host) {
        memmove(to, from, size);
    } else if (!values_get(to, from, size)) {
        memset(to, 0, size);
        count_read();
    }
}

API int cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
    copy(to, from, size, kind);
    return CUDA_OK;
}

API int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind)
{
    copy(to, from, size, kind);
    return CUDA_OK;
}

API int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                     size_t height, int kind)
{
    for (size_t row = 0; row < height; row++)
        copy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind);
    return CUDA_OK;
}

API int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                          size_t width, size_t height, int kind)
{
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

API int cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size)
{
    values_move(to, from, size);
    return CUDA_OK;
}

API int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size)
{
    return cudaMemcpyPeer(to, to_device, from, from_device, size);
}

API int cudaMemcpyToSymbol(void)
{
    return CUDA_OK;
}

API int cudaMemcpyToSymbolAsync(void)
{
    return CUDA_OK;
}

API int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size)
{
    memset(to, 0, size);
    return CUDA_OK;
}

API int cudaMemset(void *to, int value, size_t size)
{
    if (address_device(to) < 0)
        memset(to, value, size);
    else
        values_fill(to, value, size);
    return CUDA_OK;
}

API int cudaMemsetAsync(void *to, int value, size_t size)
{
    return cudaMemset(to, value, size);
}

API int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size)
{
    copy((void *)(uintptr_t)to, from, size, COPY_TO_DEVICE);
    return CUDA_OK;
}

API int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size)
{
    return cuMemcpyHtoDAsync_v2(to, from, size);
}

API int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size)
{
    copy(to, (const void *)(uintptr_t)from, size, COPY_TO_HOST);
    return CUDA_OK;
}

API int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size)
{
    return cuMemcpyDtoHAsync_v2(to, from, size);
}

API int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size)
{
    values_move((void *)(uintptr_t)to, (void *)(uintptr_t)from, size);
    return CUDA_OK;
}

API int cuMemsetD8Async(void)
{
    values_forget();
    return CUDA_OK;
}

API int cuMemsetD32Async(void)
{
    values_forget();
    return CUDA_OK;
}
