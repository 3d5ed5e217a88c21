/* The verdict on an error of a log, and how its sizes add up. */
#include "analysis/oom/error.h"

#include <string.h>

#include "unit/analysis/analysis.h"

#define GIB (UINT64_C(1) << 30)

static struct oom_log *input_log;
static struct oom_errors errors;

static const struct oom_error *explain(const char *text)
{
    struct input input;
    struct error err;
    ck_assert(input_from_memory(&input, text, strlen(text), 0, &err));
    input_log = oom_log_load_input(&input, &err);
    ck_assert_ptr_nonnull(input_log);
    ck_assert(oom_errors_make(input_log, UNIT_AUTO, &errors, &err));
    ck_assert_uint_eq(errors.count, 1);
    return &errors.items[0];
}

static void release(void)
{
    oom_errors_release(&errors);
    oom_log_destroy(input_log);
}

static void judge(const char *text, const char *verdict, const char *sentence, const char *next)
{
    const struct oom_error *error = explain(text);
    ck_assert_str_eq(oom_verdict_name(error->verdict), verdict);
    ck_assert_msg(strstr(error->sentence, sentence) != NULL, "\"%s\" is not in \"%s\"", sentence,
                  error->sentence);
    ck_assert_msg(strstr(error->next, next) != NULL, "\"%s\" is not in \"%s\"", next, error->next);
    release();
}

/* A request for 1 GiB on a device of 16 GiB. */
#define TEXT(free, more, allocated, pools, unallocated)                                            \
    "CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 16.00 GiB of "  \
    "which " free " is free. " more "Of the allocated memory " allocated                           \
    " is allocated by PyTorch, " pools "and " unallocated                                          \
    " is reserved by PyTorch but unallocated."
#define POOLS "with 1.00 GiB allocated in private pools (e.g., CUDA Graphs), "

START_TEST(other_devices)
{
    judge("MPS backend out of memory (MPS allocated: 9.50 GiB, other allocations: 17.00 GiB, max "
          "allowed: 27.00 GiB). Tried to allocate 1.00 GiB on private pool.",
          "process_limit", "9.50 GiB in PyTorch's allocator and 17.00 GiB in other allocations",
          "PYTORCH_MPS_HIGH_WATERMARK_RATIO");
    judge("Current platform can NOT allocate memory block with size larger than 4GB! Tried to "
          "allocate 6.50 GiB (GPU  0; 16.00 GiB total capacity)",
          "too_large", "at most 4.00 GiB in one block", "UR_L0_USE_RELAXED_ALLOCATION_LIMITS");
    judge("XPU out of memory. Tried to allocate 4.50 GiB. GPU 0 has a total capacity of 16.00 GiB. "
          "Of the allocated memory 5.00 GiB is allocated by PyTorch, and 0 bytes is reserved by "
          "PyTorch but unallocated.",
          "unknown", "PyTorch used 5.00 GiB of the device's 16.00 GiB", "smaller tensors");
    judge("NPU out of memory. Tried to allocate 1.00 GiB (NPU 0; 60.00 GiB total capacity; 10.00 "
          "GiB already allocated; 0.25 GiB free; 10.00 GiB reserved in total by PyTorch)",
          "other_process", "are held by other processes", "npu-smi");
}
END_TEST

START_TEST(verdicts)
{
    judge(TEXT("0.50 GiB", "", "15.00 GiB", "", "0.25 GiB"), "shortage",
          "PyTorch uses 15.00 GiB, and the 512.00 MiB free on the device plus 256.00 MiB unused",
          "record a snapshot");
    judge(TEXT("0.50 GiB", "", "14.00 GiB", "", "0.75 GiB"), "fragmentation",
          "512.00 MiB free on the device and 768.00 MiB reserved but unallocated",
          "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the first CUDA call. That "
          "makes at most 768.00 MiB more usable, beside 14.00 GiB in use");
    judge(TEXT("0.50 GiB", "", "14.00 GiB", "", "0.75 GiB") " expandable_segments is enabled.",
          "fragmentation", "", "expandable_segments is already on");
    judge(TEXT("0.25 GiB", "", "15.00 GiB", POOLS, "0.25 GiB"), "other_pool",
          "1.00 GiB lie unused in private pools", "share one pool");
    judge(TEXT("0.50 GiB", "Process 7 has 9.00 GiB memory in use. ", "6.00 GiB", "", "0.25 GiB"),
          "other_process", "other processes hold 9.00 GiB", "nvidia-smi");
    judge(TEXT("0.50 GiB", "Process 7 has 9.00 GiB memory in use. ", "5.00 GiB", "", "0.75 GiB"),
          "other_process", "other processes hold 9.00 GiB", "nvidia-smi");
    judge(TEXT("0.50 GiB", "", "6.00 GiB", "", "0.25 GiB"), "other_process",
          "9.25 GiB are held by other processes, or by this one outside of PyTorch's", "");
    judge(TEXT("8.00 GiB", "7.00 GiB allowed; ", "6.50 GiB", "", "0.00 GiB"), "process_limit",
          "allows PyTorch only 7.00 GiB in all", "raise the limit");
    judge(TEXT("8.00 GiB", "7.00 GiB allowed; ", "5.00 GiB", "", "1.50 GiB"), "fragmentation",
          "512.00 MiB free within the limit on this process", "");
    judge(TEXT("8.00 GiB", "7.00 GiB allowed; ", "4.00 GiB", "", "1.50 GiB"), "process_limit",
          "allows PyTorch only 7.00 GiB in all", ""); /* the limit is rounded */
    judge(TEXT("8.00 GiB", "", "6.50 GiB", "", "0.00 GiB"), "unknown",
          "the device had 8.00 GiB free, which was enough", "nvidia-smi");
    judge(
        TEXT(
            "0.50 GiB", "", "15.00 GiB", "",
            "0.25 GiB") " This allocation exceeds the expandable-segment reserve of 512.00 MiB for",
        "process_limit", "gives a segment 512.00 MiB of address space",
        "expandable_segments_reserve");
    judge("CUDA out of memory. Tried to allocate 1.00 GiB", "unknown", "does not say", "record");
    judge("HIP out of memory. Tried to allocate 17.00 GiB. GPU 0 has a total capacity of 16.00 GiB "
          "of which 1.00 GiB is free. Of the allocated memory 14.00 GiB is allocated by PyTorch,",
          "too_large", "17.00 GiB is larger than the device's whole memory", "wrong shape");
    judge("CUDA out of memory. Tried to allocate more than 1EB memory.", "too_large", "impossible",
          "");
    judge("RuntimeError: CUDA error: out of memory", "unknown", "outside of PyTorch's caching", "");
    judge("  File \"/a/pin_memory.py\", line 9, in pin_memory\nRuntimeError: CUDA error: out of "
          "memory",
          "host_memory", "being pinned", "pin_memory");
    judge("DefaultCPUAllocator: can't allocate memory: you tried to allocate 64 bytes.",
          "host_memory", "the CPU's memory", "");
    judge("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when", "unknown", "CUBLAS could not", "0.9");
}
END_TEST

#define LINE(file, name) "  File \"" file "\", line 9, in " name "\n    x = y\n"

/* The rest of an optimizer's first step needs more than the request, whatever the batch. In a later
 * part of the step, it makes temporaries. */
START_TEST(an_optimizer_that_makes_its_states)
{
    judge(LINE("/v/torch/optim/adam.py", "step")
              LINE("/v/torch/optim/adam.py", "_init_group") "torch.OutOfMemoryError: " TEXT(
                  "0.50 GiB", "", "14.00 GiB", "", "0.75 GiB"),
          "fragmentation", "512.00 MiB free", "states of 8 bits");
    judge(LINE("/v/torch/optim/adam.py", "step")
              LINE("/v/torch/optim/adam.py", "_multi_tensor_adam") "torch.OutOfMemoryError: " TEXT(
                  "0.50 GiB", "", "14.00 GiB", "", "0.75 GiB"),
          "fragmentation", "512.00 MiB free", "fused=True");
    judge(LINE("/v/optim.py", "_multi_tensor_adam") "torch.OutOfMemoryError: " TEXT(
              "0.50 GiB", "", "14.00 GiB", "", "0.75 GiB"),
          "fragmentation", "512.00 MiB free", "expandable_segments:True");
}
END_TEST

/* Only the functions of PyTorch count. */
START_TEST(a_loss_over_logits)
{
    judge(LINE("/v/model.py", "forward")
              LINE("/v/torch/nn/functional.py", "cross_entropy") "torch.OutOfMemoryError: " TEXT(
                  "0.50 GiB", "", "14.00 GiB", "", "0.75 GiB"),
          "fragmentation", "512.00 MiB free", "compute the logits and the loss for a part");
    judge(LINE("/v/model.py", "cross_entropy") "torch.OutOfMemoryError: " TEXT(
              "0.50 GiB", "", "14.00 GiB", "", "0.75 GiB"),
          "fragmentation", "512.00 MiB free", "expandable_segments:True");
}
END_TEST

START_TEST(errors_of_other_memory)
{
    judge("cuda runtime error (2) : out of memory at THCStorage.cu:58", "unknown",
          "PyTorch before 1.0", "smaller batch");
    judge("RuntimeError: Invalid buffer size: 12.50 GB", "too_large", "Metal", "smaller");
    judge("OOM when allocating tensor with shape[2] and type float on /device:GPU:0", "unknown",
          "TensorFlow ran out of memory", "set_memory_growth");
    judge("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 64 bytes.", "unknown",
          "JAX (XLA)", "PREALLOCATE");
    judge("Out of memory allocating 1,024 bytes (allocated so far: 512 bytes).", "unknown", "CuPy",
          "free_all_blocks");
    judge("No available memory for the cache blocks.", "unknown", "vLLM", "gpu_memory_utilization");
    judge("out of resource: shared memory, Required: 131072, Hardware limit: 101376.",
          "on_chip_memory", "asks for 128.00 KiB", "num_stages");
    judge("DataLoader worker (pid 7) is killed by signal: Killed.", "host_memory",
          "the system killed a process", "fewer DataLoader workers");
    judge("DataLoader worker (pid 7) is killed by signal: Bus error.", "host_memory", "/dev/shm",
          "--shm-size");
    judge("DataLoader worker (pid(s) 7) exited unexpectedly", "unknown", "leaves out why", "dmesg");
}
END_TEST

START_TEST(parts_sum_to_the_device)
{
    const struct oom_account *account =
        &explain(TEXT("0.50 GiB",
                      "Process 7 has 2.00 GiB memory in use. Including non-PyTorch memory, this "
                      "process has 13.00 GiB memory in use. ",
                      "11.00 GiB", POOLS, "1.50 GiB"))
             ->account;
    ck_assert(account->is_known && account->own_is_known);
    ck_assert_uint_eq(account->used_bytes, 10 * GIB);
    ck_assert_uint_eq(account->private_bytes, GIB);
    ck_assert_uint_eq(account->unallocated_bytes, 3 * GIB / 2);
    ck_assert_uint_eq(account->own_bytes, GIB / 2);
    ck_assert_uint_eq(account->process_bytes, 2 * GIB);
    ck_assert_uint_eq(account->unexplained_bytes, GIB / 2);
    ck_assert_uint_eq(account->excess_bytes, 0);
    ck_assert_uint_eq(account->device_used_bytes, account->total_bytes - account->free_bytes);
    ck_assert_uint_eq(account->reserved_bytes + account->outside_bytes, account->device_used_bytes);
    ck_assert_uint_eq(account->used_bytes + account->private_bytes + account->unallocated_bytes +
                          account->own_bytes + account->process_bytes + account->free_bytes +
                          account->unexplained_bytes,
                      account->total_bytes);
    release();
}
END_TEST

/* In a container PyTorch lists its own process by a number that is not its own. */
START_TEST(the_own_process_may_look_like_another)
{
    const struct oom_account *account =
        &explain(
             TEXT("0.50 GiB",
                  "Process 7 has 2.00 GiB memory in use. Process 8 has 13.50 GiB memory in use. ",
                  "13.00 GiB", "", "0.25 GiB"))
             ->account;
    ck_assert_uint_eq(account->own_pid, 8);
    ck_assert_uint_eq(account->own_bytes, GIB / 4);
    ck_assert_uint_eq(account->process_bytes, 2 * GIB);
    release();
    /* another process may well hold more, if there is room for both */
    account = &explain(TEXT("0.50 GiB", "Process 8 has 8.00 GiB memory in use. ", "7.00 GiB", "",
                            "0.25 GiB"))
                   ->account;
    ck_assert_uint_eq(account->own_pid, 0);
    ck_assert_uint_eq(account->process_bytes, 8 * GIB);
    release();
}
END_TEST

START_TEST(contradictions_are_counted)
{
    const struct oom_account *account =
        &explain(TEXT("0 bytes", "", "20.00 GiB", "", "1.00 GiB"))->account;
    ck_assert_uint_eq(account->excess_bytes, 5 * GIB);
    ck_assert_uint_eq(account->unexplained_bytes, 0);
    release();
    account = &explain(TEXT("16.00 GiB", "", "18446744073.00 GiB", "", "17179869183.99 GiB"))
                   ->account; /* no sum overflows */
    ck_assert_uint_gt(account->excess_bytes, 1000 * GIB);
    release();
}
END_TEST

START_TEST(the_call_site_is_the_users)
{
    const struct oom_error *error = explain(
        "  File \"/app/model.py\", line 39, in forward\n"
        "  File \"/usr/lib/python3/dist-packages/torch/nn/functional.py\", line 5, in gelu\n"
        "CUDA out of memory. Tried to allocate 1.00 GiB");
    ck_assert_str_eq(error->asker, "model.py:39 forward");
    release();
}
END_TEST

TCase *oom_error_tests(void)
{
    TCase *tests = tcase_create("oom_error");
    tcase_add_test(tests, verdicts);
    tcase_add_test(tests, other_devices);
    tcase_add_test(tests, an_optimizer_that_makes_its_states);
    tcase_add_test(tests, a_loss_over_logits);
    tcase_add_test(tests, errors_of_other_memory);
    tcase_add_test(tests, parts_sum_to_the_device);
    tcase_add_test(tests, the_own_process_may_look_like_another);
    tcase_add_test(tests, contradictions_are_counted);
    tcase_add_test(tests, the_call_site_is_the_users);
    return tests;
}
