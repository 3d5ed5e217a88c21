/* Copies. What arrives from a GPU is zero, unless only copies have touched it. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

#include "dryrun/device/state.h"
#include "dryrun/device/values.h"

#define FRAMES_MOST 32 /* frames of functions that call a copy */

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

/* The mangled names of at::native::linalg_eig() and linalg_eigvals(), but not of linalg_eigh(). */
static bool is_eig(const char *name)
{
    const char *found = strstr(name, "linalg_eig");
    return found && found[10] != 'h' && strncmp(found + 10, "valsh", 5) != 0;
}

/* PyTorch asks the GPU whether the input of some functions is valid, and they fail if not:
 * torch.linalg.eig() if it is finite, and multinomial() before 2.2 if all probabilities are, and
 * then, as a bool or as a count, whether all are zero. */
static bool is_check_of_input(void)
{
    static __thread bool is_second;
    void *frames[FRAMES_MOST];
    int count = backtrace(frames, FRAMES_MOST);
    for (int i = 0; i < count; i++) {
        Dl_info info;
        if (!dladdr(frames[i], &info) || !info.dli_sname)
            continue;
        if (strstr(info.dli_sname, "linalg_check_errors"))
            return false;
        if (is_eig(info.dli_sname))
            return true;
        if (strstr(info.dli_sname, "native11multinomial") ||
            strstr(info.dli_sname, "native15multinomial_out")) {
            is_second = !is_second;
            return is_second;
        }
    }
    return false;
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
        if ((size == sizeof(bool) || size == sizeof(int64_t)) && is_check_of_input())
            *(unsigned char *)to = 1;
        else
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
