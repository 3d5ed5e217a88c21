/* A libcuda.so.1 that runs the cost kernel on the CPU, so that what the CUDA back end does can be
 * tested without a card: each thread of a group is a context of its own, switched at barriers.
 *
 *   FAKE_CUDA_FAILS=cuMemAlloc_v2   that function fails
 *   FAKE_CUDA_CRASHES=cuInit        that function crashes
 *   FAKE_CUDA_NAME=...              the device's name
 *   FAKE_CUDA_MIB=100               its memory */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define WIDE int64_t
#include "solve/backend/device_shape.h"

#define STACK_BYTES 32768

static ucontext_t scheduler, threads[DEVICE_THREADS];
static bool ended[DEVICE_THREADS];
static char stacks[DEVICE_THREADS][STACK_BYTES];
static int current_thread;
static int current_group[3];

static void wait_for_others(void)
{
    swapcontext(&threads[current_thread], &scheduler);
}

#define COST_INFINITE 0x3fffffff
#define DEVICE        static
#define KERNEL        static
#define GLOBAL
#define LOCAL
#define LOCAL_ARRAY static
#define PRIVATE
#define BARRIER()   wait_for_others()
#define GROUP(axis) current_group[axis]
#define THREAD      current_thread
#define UNROLL
#define MAX(a, b)             ((a) > (b) ? (a) : (b))
#define LOG2(n)               (31 - __builtin_clz((unsigned)(n)))
#define LEAST_SUM(a, b, best) ((a) + (b) < (best) ? (a) + (b) : (best))
#include "solve/backend/cost_kernel.h"

typedef void kernel(int *, const int *, const struct device_problem *, int);
static struct launch {
    kernel *kernel;
    int *tables;
    const int *numbers;
    const struct device_problem *problems;
    int diagonal;
} launch;

static void thread_main(void)
{
    launch.kernel(launch.tables, launch.numbers, launch.problems, launch.diagonal);
    ended[current_thread] = true;
}

static void run_group(void)
{
    for (int t = 0; t < DEVICE_THREADS; t++) {
        getcontext(&threads[t]);
        threads[t].uc_stack.ss_sp = stacks[t];
        threads[t].uc_stack.ss_size = STACK_BYTES;
        threads[t].uc_link = &scheduler;
        ended[t] = false;
        makecontext(&threads[t], thread_main, 0);
    }
    while (!ended[0])
        for (current_thread = 0; current_thread < DEVICE_THREADS; current_thread++)
            swapcontext(&scheduler, &threads[current_thread]);
}

static bool asked_for(const char *variable, const char *function)
{
    const char *value = getenv(variable);
    return value && strcmp(value, function) == 0;
}

static bool fails(const char *function)
{
    if (asked_for("FAKE_CUDA_CRASHES", function))
        raise(SIGSEGV);
    return asked_for("FAKE_CUDA_FAILS", function);
}

#define OUT_OF_MEMORY 2
#define NO_DEVICE     100
#define NO_BINARY     209
#define LAUNCH_FAILED 719
#define UNKNOWN       999
#define FAIL_AS(error)                                                                             \
    if (fails(__func__))                                                                           \
    return error

int fake_cuda_live; /* allocations that were not freed */

int cuInit(unsigned flags);
int cuGetErrorString(int error, const char **text);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int index);
int cuDeviceGetName(char *name, int size, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(kernel **function, void *module, const char *name);
int cuMemGetInfo_v2(size_t *free_now, size_t *all);
int cuMemAlloc_v2(uint64_t *at, size_t bytes);
int cuMemFree_v2(uint64_t at);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuLaunchKernel(kernel *function, unsigned x, unsigned y, unsigned z, unsigned threads_x,
                   unsigned threads_y, unsigned threads_z, unsigned local, void *stream,
                   void **arguments, void **extra);

int cuInit(unsigned flags)
{
    FAIL_AS(NO_DEVICE);
    return flags == 0 ? 0 : UNKNOWN;
}

int cuGetErrorString(int error, const char **text)
{
    *text = error == OUT_OF_MEMORY ? "out of memory" : "something failed";
    return 0;
}

int cuDeviceGetCount(int *count)
{
    FAIL_AS(UNKNOWN);
    *count = 1;
    return 0;
}

int cuDeviceGet(int *device, int index)
{
    FAIL_AS(UNKNOWN);
    *device = index;
    return 0;
}

int cuDeviceGetName(char *name, int size, int device)
{
    const char *text = getenv("FAKE_CUDA_NAME");
    (void)device;
    FAIL_AS(UNKNOWN);
    snprintf(name, (size_t)size, "%s", text ? text : "Abacus");
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    FAIL_AS(UNKNOWN);
    *value = attribute;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    FAIL_AS(UNKNOWN);
    *context = &launch;
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    return 0;
}

int cuCtxSetCurrent(void *context)
{
    FAIL_AS(UNKNOWN);
    return context == &launch ? 0 : UNKNOWN;
}

int cuCtxSynchronize(void)
{
    FAIL_AS(LAUNCH_FAILED);
    return 0;
}

int cuModuleLoadData(void **module, const void *image)
{
    static const unsigned char fatbin[] = {0x50, 0xed, 0x55, 0xba};
    FAIL_AS(NO_BINARY);
    *module = stacks;
    return memcmp(image, fatbin, sizeof(fatbin)) == 0 ? 0 : NO_BINARY;
}

int cuModuleGetFunction(kernel **function, void *module, const char *name)
{
    FAIL_AS(UNKNOWN);
    if (module != stacks)
        return UNKNOWN;
    *function = strcmp(name, "cost_product") == 0  ? cost_product
                : strcmp(name, "cost_finish") == 0 ? cost_finish
                                                   : NULL;
    return *function ? 0 : UNKNOWN;
}

int cuMemGetInfo_v2(size_t *free_now, size_t *all)
{
    const char *size = getenv("FAKE_CUDA_MIB");
    FAIL_AS(UNKNOWN);
    *free_now = *all = (size_t)(size ? atol(size) : 1024) << 20;
    return 0;
}

int cuMemAlloc_v2(uint64_t *at, size_t bytes)
{
    FAIL_AS(OUT_OF_MEMORY);
    void *memory = malloc(bytes);
    *at = (uint64_t)(uintptr_t)memory;
    fake_cuda_live += memory != NULL;
    return memory ? 0 : OUT_OF_MEMORY;
}

int cuMemFree_v2(uint64_t at)
{
    free((void *)(uintptr_t)at);
    fake_cuda_live--;
    return 0;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    FAIL_AS(UNKNOWN);
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    FAIL_AS(UNKNOWN);
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

int cuLaunchKernel(kernel *function, unsigned x, unsigned y, unsigned z, unsigned threads_x,
                   unsigned threads_y, unsigned threads_z, unsigned local, void *stream,
                   void **arguments, void **extra)
{
    FAIL_AS(LAUNCH_FAILED);
    if (threads_x != DEVICE_THREADS || threads_y != 1 || threads_z != 1 || local || stream ||
        extra || y > 65535 || z > 65535)
        return UNKNOWN;
    launch = (struct launch){function, *(int **)arguments[0], *(const int **)arguments[1],
                             *(const struct device_problem **)arguments[2], *(int *)arguments[3]};
    for (unsigned group = 0; group < x * y * z; group++) {
        current_group[0] = (int)(group % x);
        current_group[1] = (int)(group / x % y);
        current_group[2] = (int)(group / x / y);
        run_group();
    }
    return 0;
}
