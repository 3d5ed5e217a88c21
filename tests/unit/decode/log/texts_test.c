/* The texts of errors, in the spellings of all versions. */
#include <string.h>

#include "unit/decode/log/log.h"

#define NONE UINT64_MAX /* not stated */
#define KIB  UINT64_C(1024)
#define MIB  (1024 * KIB)
#define GIB  (1024 * MIB)

/* Two digits after the point, as bytes. */
#define HUNDREDTHS(number, unit) (((number) * (unit) + 50) / 100)

static const struct sample {
    const char *text;
    enum oom_source source;
    const char *backend;
    int64_t device;
    uint64_t requested, total, free, allowed, allocated, private_pools, unallocated, reserved, own;
    size_t processes;
} samples[] = {
    /* 1.10 */
    {"RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total "
     "capacity; 9.58 GiB already allocated; 8.31 MiB free; 9.72 GiB reserved in total by PyTorch)",
     OOM_SOURCE_ALLOCATOR, "CUDA", 0, 20 * MIB, HUNDREDTHS(1076, GIB), HUNDREDTHS(831, MIB), NONE,
     HUNDREDTHS(958, GIB), NONE, NONE, HUNDREDTHS(972, GIB), NONE, 0},
    /* 1.11 to 2.0, with a limit */
    {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 KiB (GPU 11; 4.00 "
     "GiB total capacity; 3.00 GiB already allocated; 0 bytes free; 3.25 GiB allowed; 3.50 GiB "
     "reserved in total by PyTorch) If reserved memory is >> allocated memory try setting "
     "max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and "
     "PYTORCH_CUDA_ALLOC_CONF",
     OOM_SOURCE_ALLOCATOR, "CUDA", 11, 512 * KIB, 4 * GIB, 0, 3 * GIB + 256 * MIB, 3 * GIB, NONE,
     NONE, 3 * GIB + 512 * MIB, NONE, 0},
    /* 2.1 */
    {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 32.00 MiB. GPU 0 has a "
     "total capacty of 4.00 GiB of which 41.50 MiB is free. Including non-PyTorch memory, this "
     "process has 3.50 GiB memory in use. Of the allocated memory 2.50 GiB is allocated by "
     "PyTorch, "
     "and 2.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is "
     "large try setting max_split_size_mb to avoid fragmentation.",
     OOM_SOURCE_ALLOCATOR, "CUDA", 0, 32 * MIB, 4 * GIB, 41 * MIB + 512 * KIB, NONE,
     2 * GIB + 512 * MIB, NONE, 2 * MIB, NONE, 3 * GIB + 512 * MIB, 0},
    /* 2.3: the number of the device is a character, which terminals drop if it is NUL */
    {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU \x03 has "
     "a total capacity of 44.00 GiB of which 160.50 MiB is free. Process 47694 has 43.00 GiB "
     "memory "
     "in use. Of the allocated memory 42.00 GiB is allocated by PyTorch, and 396.00 MiB is "
     "reserved "
     "by PyTorch but unallocated.",
     OOM_SOURCE_ALLOCATOR, "CUDA", 3, 224 * MIB, 44 * GIB, 160 * MIB + 512 * KIB, NONE, 42 * GIB,
     NONE, 396 * MIB, NONE, NONE, 1},
    {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU  has a "
     "total capacity of 44.00 GiB of which 160.50 MiB is free. Of the allocated memory 42.00 GiB "
     "is "
     "allocated by PyTorch, and 396.00 MiB is reserved by PyTorch but unallocated.",
     OOM_SOURCE_ALLOCATOR, "CUDA", -1, 224 * MIB, 44 * GIB, 160 * MIB + 512 * KIB, NONE, 42 * GIB,
     NONE, 396 * MIB, NONE, NONE, 0},
    /* 2.5 and later: processes, a limit, private pools */
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 25.50 GiB. GPU 4 has a total "
     "capacity of 79.00 GiB of which 23.00 GiB is free. Process 7478 has 4.00 GiB memory in use. "
     "Process 7479 has 500.00 MiB memory in use. Including non-PyTorch memory, this process has "
     "52.00 GiB memory in use. 60.00 GiB allowed; Of the allocated memory 45.00 GiB is allocated "
     "by "
     "PyTorch, with 1.50 MiB allocated in private pools (e.g., CUDA Graphs), and 3.00 GiB is "
     "reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation "
     "for Memory Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html)",
     OOM_SOURCE_ALLOCATOR, "CUDA", 4, 25 * GIB + 512 * MIB, 79 * GIB, 23 * GIB, 60 * GIB, 45 * GIB,
     MIB + 512 * KIB, 3 * GIB, NONE, 52 * GIB, 2},
    /* ROCm, XPU, Ascend */
    {"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total "
     "capacity of 64.00 GiB of which 1.00 GiB is free. Of the allocated memory 60.00 GiB is "
     "allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated.",
     OOM_SOURCE_ALLOCATOR, "HIP", 1, 2 * GIB, 64 * GIB, GIB, NONE, 60 * GIB, NONE, GIB, NONE, NONE,
     0},
    {"torch.OutOfMemoryError: XPU out of memory. Tried to allocate 192.00 MiB. GPU 3 has a total "
     "capacity of 31.50 GiB of which 13.00 GiB is free. Of the allocated memory 18.00 GiB is "
     "allocated by PyTorch, and 16.00 MiB is reserved by PyTorch but unallocated. Please use "
     "`empty_cache` to release all unoccupied cached memory.",
     OOM_SOURCE_ALLOCATOR, "XPU", 3, 192 * MIB, 31 * GIB + 512 * MIB, 13 * GIB, NONE, 18 * GIB,
     NONE, 16 * MIB, NONE, NONE, 0},
    {"RuntimeError: NPU out of memory. Tried to allocate 20.00 MiB (NPU 0; 60.00 GiB total "
     "capacity; 59.50 GiB already allocated; 59.50 GiB current active; 2.00 MiB free; 59.75 GiB "
     "reserved in total by PyTorch) If reserved memory is >> allocated memory",
     OOM_SOURCE_ALLOCATOR, "NPU", 0, 20 * MIB, 60 * GIB, 2 * MIB, NONE, 59 * GIB + 512 * MIB, NONE,
     NONE, 59 * GIB + 768 * MIB, NONE, 0},
    {"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total "
     "capacity of 256.00 GiB of which 244.50 GiB is free. 1.50 GiB allowed; Of the allocated "
     "memory "
     "1017.00 MiB is allocated by PyTorch, with 17.00 MiB allocated in private pools (e.g., HIP "
     "Graphs), and 55.00 MiB is reserved by PyTorch but unallocated.",
     OOM_SOURCE_ALLOCATOR, "HIP", 0, 2 * MIB, 256 * GIB, 244 * GIB + 512 * MIB, GIB + 512 * MIB,
     1017 * MIB, 17 * MIB, 55 * MIB, NONE, NONE, 0},
    {"RuntimeError: XPU out of memory. Tried to allocate 2.00 GiB (GPU 0; 16.00 GiB total "
     "capacity; "
     "176.00 MiB already allocated; 180.00 MiB reserved in total by PyTorch)",
     OOM_SOURCE_ALLOCATOR, "XPU", 0, 2 * GIB, 16 * GIB, NONE, NONE, 176 * MIB, NONE, NONE,
     180 * MIB, NONE, 0},
    {"torch.OutOfMemoryError: XPU out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total "
     "capacity of 16.00 GiB. Of the allocated memory 5.00 GiB is allocated by PyTorch, and 3.00 "
     "MiB is reserved by PyTorch but unallocated.",
     OOM_SOURCE_ALLOCATOR, "XPU", 0, 4 * GIB, 16 * GIB, NONE, NONE, 5 * GIB, NONE, 3 * MIB, NONE,
     NONE, 0},
    {"RuntimeError: Current platform can NOT allocate memory block with size larger than 4GB! "
     "Tried "
     "to allocate 6.50 GiB (GPU  0; 16.00 GiB total capacity; 0 bytes already allocated; 0 bytes "
     "reserved in total by PyTorch)",
     OOM_SOURCE_ALLOCATOR, "XPU", 0, 6 * GIB + 512 * MIB, 16 * GIB, NONE, NONE, 0, NONE, NONE, 0,
     NONE, 0},
    {"RuntimeError: MPS backend out of memory (MPS allocated: 9.50 GiB, other allocations: 17.00 "
     "GiB, max allowed: 27.00 GiB). Tried to allocate 292.50 MiB on private pool. Use "
     "PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations",
     OOM_SOURCE_ALLOCATOR, "MPS", -1, 292 * MIB + 512 * KIB, NONE, NONE, 27 * GIB,
     9 * GIB + 512 * MIB, NONE, NONE, NONE, NONE, 0},
    {"MPS backend out of memory (MPS allocated: 16.00 GB, other allocations: 3.50 MB, max allowed: "
     "18.00 GB). Tried to allocate 256 bytes on shared pool.",
     OOM_SOURCE_ALLOCATOR, "MPS", -1, 256, NONE, NONE, 18 * GIB, 16 * GIB, NONE, NONE, NONE, NONE,
     0},
    /* broken by a terminal of 80 columns, within words and numbers */
    {"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB tot\nal "
     "capacity; 5.50 GiB already allocated; 343.50 MiB free; 5.7\n5 GiB reserved in total by "
     "PyTorch) If reserved memory is >> allocated memory try\n setting max_split_size_mb",
     OOM_SOURCE_ALLOCATOR, "CUDA", 0, 2 * GIB, 8 * GIB, 343 * MIB + 512 * KIB, NONE,
     5 * GIB + 512 * MIB, NONE, NONE, 5 * GIB + 768 * MIB, NONE, 0},
    /* without sizes */
    {"torch.OutOfMemoryError: Allocation on device \nGot an OOM, unloading all loaded models.",
     OOM_SOURCE_ASYNC, "CUDA", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"torch.cuda.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of "
     "memory)",
     OOM_SOURCE_ASYNC, "CUDA", 0, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"RuntimeError: cuFFT error: CUFFT_ALLOC_FAILED", OOM_SOURCE_LIBRARY, "CUFFT", -1, NONE, NONE,
     NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"RuntimeError: Triton Error [CUDA]: out of memory", OOM_SOURCE_DRIVER, "CUDA", -1, NONE, NONE,
     NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"node01:12345:12400 [0] include/alloc.h:205 NCCL WARN Cuda failure 2 'out of memory'",
     OOM_SOURCE_LIBRARY, "NCCL", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nFailed to CUDA calloc "
     "async 4 bytes",
     OOM_SOURCE_LIBRARY, "NCCL", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate more than 1EB memory.",
     OOM_SOURCE_HUGE, "CUDA", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\nin another library",
     OOM_SOURCE_ALLOCATOR, "CUDA", -1, 2 * GIB, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"torch.OutOfMemoryError: CUDA out of memory. Allocation was preemptively rejected because it "
     "would exceed per_process_memory_fraction limit. Requested size: 300.00 MiB",
     OOM_SOURCE_FRACTION, "CUDA", -1, 300 * MIB, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"torch.AcceleratorError: CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation'",
     OOM_SOURCE_DRIVER, "CUDA", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"RuntimeError: CUDA driver error: out of memory", OOM_SOURCE_DRIVER, "CUDA", -1, NONE, NONE,
     NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
     OOM_SOURCE_LIBRARY, "CUBLAS", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't "
     "allocate memory: you tried to allocate 67108864 bytes. Error code 12 (Cannot allocate "
     "memory)",
     OOM_SOURCE_HOST, "", -1, 67108864, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"RuntimeError: [enforce fail at alloc_cpu.cpp:80] data. DefaultCPUAllocator: not enough "
     "memory: you tried to allocate 512 bytes.",
     OOM_SOURCE_HOST, "", -1, 512, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    /* before 1.0 */
    {"RuntimeError: cuda runtime error (2) : out of memory at "
     "/pytorch/aten/src/THC/generic/THCStorage.cu:58",
     OOM_SOURCE_OLD, "CUDA", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"RuntimeError:cuda runtime error(2):out of memory", OOM_SOURCE_OLD, "CUDA", -1, NONE, NONE,
     NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"RuntimeError: CUDA error:out of memory", OOM_SOURCE_DRIVER, "CUDA", -1, NONE, NONE, NONE,
     NONE, NONE, NONE, NONE, NONE, NONE, 0},
    /* MPS */
    {"RuntimeError: Invalid buffer size: 12.50 GB", OOM_SOURCE_BUFFER, "MPS", -1,
     12 * GIB + 512 * MIB, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"RuntimeError: Invalid buffer size: 9.00 GiB", OOM_SOURCE_BUFFER, "MPS", -1, 9 * GIB, NONE,
     NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    /* other programs and libraries */
    {"tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor "
     "with shape[8,512] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by "
     "allocator GPU_0_bfc",
     OOM_SOURCE_FRAMEWORK, "TensorFlow", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
     0},
    {"OOM when allocating tensor with shape[8,512] and type float on "
     "/job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu",
     OOM_SOURCE_HOST, "", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 "
     "bytes.",
     OOM_SOURCE_FRAMEWORK, "JAX", -1, 8 * GIB, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,024 bytes (allocated so far: "
     "512 bytes).",
     OOM_SOURCE_FRAMEWORK, "CuPy", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"Error out of memory at line 380 in file /home/u/bitsandbytes/csrc/pythonInterface.c",
     OOM_SOURCE_LIBRARY, "bitsandbytes", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
     0},
    {"ValueError: No available memory for the cache blocks. Try increasing "
     "`gpu_memory_utilization` when initializing the engine.",
     OOM_SOURCE_CACHE, "vLLM", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    /* not the device's memory */
    {"triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, "
     "Hardware limit: 101376. Reducing block sizes or `num_stages` may help.",
     OOM_SOURCE_ON_CHIP, "Triton", -1, 128 * KIB, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
     0},
    {"RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed. ", OOM_SOURCE_WORKER,
     "", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 1},
    {"RuntimeError: DataLoader worker (pid 22) is killed by signal: Bus error. It is possible that "
     "dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
     OOM_SOURCE_SHM, "", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 1},
    {"ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient "
     "shared memory (shm).",
     OOM_SOURCE_SHM, "", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"RuntimeError: DataLoader worker (pid(s) 22, 23) exited unexpectedly", OOM_SOURCE_EXIT, "", -1,
     NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 2},
    {"terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc",
     OOM_SOURCE_HOST, "", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"MemoryError: std::bad_alloc", OOM_SOURCE_HOST, "", -1, NONE, NONE, NONE, NONE, NONE, NONE,
     NONE, NONE, NONE, 0},
    {"RuntimeError: std::bad_alloc: cudaErrorMemoryAllocation: out of memory", OOM_SOURCE_DRIVER,
     "CUDA", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"MemoryError: std::bad_alloc: out_of_memory: CUDA error at: "
     "/rmm/mr/device/cuda_memory_resource.hpp:70: cudaErrorMemoryAllocation out of memory",
     OOM_SOURCE_DRIVER, "CUDA", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"THCudaCheck FAIL file=/pytorch/aten/src/THC/generic/THCStorage.cu line=58 error=2 : out of "
     "memory",
     OOM_SOURCE_OLD, "CUDA", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"slurmstepd: error: Detected 1 oom-kill event(s) in StepId=123.batch cgroup.",
     OOM_SOURCE_WORKER, "", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0},
    {"Memory cgroup out of memory: Killed process 1234 (python) total-vm:123kB", OOM_SOURCE_WORKER,
     "", -1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 1},
    {"numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.50 GiB for an array with "
     "shape (1000000, 1000) and data type float64",
     OOM_SOURCE_HOST, "", -1, 7 * GIB + 512 * MIB, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
     0},
    /* cudaMallocAsync, without a limit and with one */
    {"torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\n"
     "Currently allocated     : 14.00 GiB\nRequested               : 300.00 MiB\n"
     "Device limit            : 14.50 GiB\nFree (according to CUDA): 5.50 MiB\n"
     "PyTorch limit (set by user-supplied memory fraction)\n"
     "                        : 17179869184.00 GiB\n",
     OOM_SOURCE_ASYNC, "CUDA", 0, 300 * MIB, 14 * GIB + 512 * MIB, 5 * MIB + 512 * KIB, NONE,
     14 * GIB, NONE, NONE, NONE, NONE, 0},
    {"torch.OutOfMemoryError: Allocation on device 2 would exceed allowed memory. (out of memory)\n"
     "Currently allocated     : 3.50 GiB\nRequested               : 300.00 MiB\n"
     "Device limit            : 14.50 GiB\nFree (according to CUDA): 10.50 GiB\n"
     "PyTorch limit (set by user-supplied memory fraction)\n                        : 3.75 GiB\n",
     OOM_SOURCE_ASYNC, "CUDA", 2, 300 * MIB, 14 * GIB + 512 * MIB, 10 * GIB + 512 * MIB,
     3 * GIB + 768 * MIB, 3 * GIB + 512 * MIB, NONE, NONE, NONE, NONE, 0},
};

static void expect_size(size_t sample, const char *name, struct stated_size size, uint64_t expected)
{
    ck_assert_msg(size.is_stated == (expected != NONE), "sample %zu: %s", sample, name);
    ck_assert_msg(!size.is_stated || size.bytes == expected, "sample %zu: %s is %llu, not %llu",
                  sample, name, (unsigned long long)size.bytes, (unsigned long long)expected);
}

START_TEST(every_version_is_understood)
{
    const struct sample *sample = &samples[_i];
    size_t i = (size_t)_i;
    struct oom_log *log = log_load_text(sample->text);
    ck_assert_msg(log->count == 1, "sample %zu", i);
    const struct oom_message *message = &log->items[0].message;
    ck_assert_int_eq(message->source, sample->source);
    ck_assert_str_eq(message->backend, sample->backend);
    ck_assert_int_eq(message->device, sample->device);
    expect_size(i, "requested", message->requested, sample->requested);
    expect_size(i, "total", message->total, sample->total);
    expect_size(i, "free", message->free, sample->free);
    expect_size(i, "allowed", message->allowed, sample->allowed);
    expect_size(i, "allocated", message->allocated, sample->allocated);
    expect_size(i, "private_pools", message->private_pools, sample->private_pools);
    expect_size(i, "unallocated", message->unallocated, sample->unallocated);
    expect_size(i, "reserved", message->reserved, sample->reserved);
    expect_size(i, "own_process", message->own_process, sample->own);
    ck_assert_uint_eq(message->process_count, sample->processes);
    oom_log_destroy(log);
}
END_TEST

START_TEST(rounding_is_known)
{
    struct oom_log *log = log_load_text(samples[0].text);
    const struct oom_message *message = &log->items[0].message;
    ck_assert_uint_eq(message->total.slack, (GIB + 199) / 200); /* half of 0.01 GiB */
    ck_assert_uint_eq(message->requested.slack, (MIB + 199) / 200);
    oom_log_destroy(log);
    log = log_load_text(samples[1].text);
    ck_assert_uint_eq(log->items[0].message.free.slack, 0); /* "0 bytes" */
    oom_log_destroy(log);
}
END_TEST

START_TEST(remarks_are_understood)
{
    struct oom_log *log = log_load_text(OOM_TEXT " expandable_segments is enabled. If instead");
    ck_assert(log->items[0].message.is_expandable);
    ck_assert(!log->items[0].message.is_custom_pool);
    oom_log_destroy(log);
    log = log_load_text(OOM_TEXT " This allocation exceeds the expandable-segment reserve of "
                                 "512.00 MiB for this stream, and a single allocation");
    ck_assert_uint_eq(log->items[0].message.reserve.bytes, 512 * MIB);
    oom_log_destroy(log);
    log = log_load_text(OOM_TEXT " The custom allocator backing this MemPool returned nullptr.");
    ck_assert(log->items[0].message.is_custom_pool);
    oom_log_destroy(log);
}
END_TEST

START_TEST(limits_of_other_devices_are_understood)
{
    struct oom_log *log = log_load_text(
        "MPS backend out of memory (MPS allocated: 9.50 GiB, other allocations: 17.00 GiB, max "
        "allowed: 27.00 GiB). Tried to allocate 1.00 GB on private pool.");
    ck_assert_uint_eq(log->items[0].message.other.bytes, 17 * GIB);
    oom_log_destroy(log);
    log = log_load_text("Current platform can NOT allocate memory block with size larger than 4GB! "
                        "Tried to allocate 6.50 GiB (GPU  0; 16.00 GiB total capacity)");
    ck_assert_uint_eq(log->items[0].message.block_limit.bytes, 4 * GIB);
    oom_log_destroy(log);
}
END_TEST

START_TEST(other_texts_are_left_alone)
{
    static const char *const texts[] = {
        "",
        "CUDA out of memory",
        "out of memory. Tried to allocate 2.00 GiB",
        "CUDA out of memory. Tried to allocate some",
        "CUDA out of memory. Tried to allocate 99999999999999999999999999999 GiB",
        "cuda out of memory. Tried to allocate 2.00 GiB",
        "fatal error: out of memory",
        "Allocation on device 0 is fine",
        "Allocation on device 0",
        "NCCL WARN Cuda failure 'peer access is not supported between these two devices'",
        "MPS backend out of memory (MPS allocated: 9.50 GiB)",
        "DefaultCPUAllocator: ready",
        "cuda runtime error (59) : device-side assert triggered",
        "Invalid buffer size",
        "DataLoader worker (pid 7) is killed by signal: Segmentation fault.",
        "DataLoader worker (pid 7) exited unexpectedly with exit code 1.",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "catch (const std::bad_alloc &)",
        "THCudaCheck FAIL file=THCGeneral.cpp line=663 error=11 : invalid argument",
        ("Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.59GiB. The caller indicates "
         "that this is not a failure"),
        "Unable to allocate a port for an array",
        "bytes allocated: out of resource: registers",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct oom_log *log = log_load_text(texts[i]);
        ck_assert_msg(log->count == 0, "\"%s\"", texts[i]);
        oom_log_destroy(log);
    }
}
END_TEST

TCase *log_texts_tests(void)
{
    TCase *tests = tcase_create("texts");
    tcase_add_loop_test(tests, every_version_is_understood, 0,
                        (int)(sizeof(samples) / sizeof(samples[0])));
    tcase_add_test(tests, rounding_is_known);
    tcase_add_test(tests, remarks_are_understood);
    tcase_add_test(tests, limits_of_other_devices_are_understood);
    tcase_add_test(tests, other_texts_are_left_alone);
    return tests;
}
