/* Memory on which torch.compile and Triton time kernels. */
#include "analysis/findings/findings.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define CACHE 5000 /* the buffer that is cleared between runs of a kernel */
#define KERNEL                                                                                     \
    PY("call", "/tmp/torchinductor_u/a.py", 3)                                                     \
    "," PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT

static const char *const benchmarks[] = {
    PY("benchmark_gpu", TORCH "_inductor/runtime/benchmarking.py",
       743) "," PY("bench", TORCH "_inductor/runtime/triton_heuristics.py", 1593) "," KERNEL,
    PY("clone_args", TORCH "_inductor/runtime/triton_heuristics.py",
       9) "," PY("bench", TORCH "_inductor/runtime/triton_heuristics.py", 1593) "," KERNEL,
    PY("do_bench", "/usr/lib/python3/site-packages/triton/testing.py", 150) "," PY(
        "_bench", "/usr/lib/python3/site-packages/triton/runtime/autotuner.py", 160) "," KERNEL,
};

/* A step, in whose forward pass a kernel is timed or only runs. */
static void train(const char *benchmark)
{
    uint64_t saved = capture_alloc(&capture, 1000, STACK_FORWARD);
    if (benchmark) {
        uint64_t cache = capture_alloc(&capture, CACHE, benchmark);
        capture_free(&capture, cache, CACHE, benchmark);
    }
    uint64_t gradient = capture_alloc(&capture, 100, STACK_BACKWARD);
    capture_free(&capture, saved, 1000, STACK_BACKWARD);
    uint64_t state = capture_alloc(&capture, 5, STACK_STEP);
    capture_free(&capture, state, 5, STACK_STEP);
    capture_free(&capture, gradient, 100, STACK_STEP);
}

START_TEST(kernels_are_timed_at_the_peak)
{
    train(benchmarks[_i]);
    train(NULL);
    ck_assert_int_eq(capture_saving(&capture, FINDING_BENCHMARK), CACHE - 100);
}
END_TEST

START_TEST(kernels_are_timed_before_the_peak)
{
    train(benchmarks[0]);
    capture_alloc(&capture, CACHE + 2000, STACK_FORWARD);
    ck_assert_int_eq(capture_saving(&capture, FINDING_BENCHMARK), -1);
}
END_TEST

START_TEST(kernels_only_run)
{
    train(KERNEL);
    train(NULL);
    ck_assert_int_eq(capture_saving(&capture, FINDING_BENCHMARK), -1);
}
END_TEST

TCase *findings_benchmark_tests(void)
{
    TCase *tests = tcase_create("findings_benchmark");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, kernels_are_timed_at_the_peak, 0, 3);
    tcase_add_test(tests, kernels_are_timed_before_the_peak);
    tcase_add_test(tests, kernels_only_run);
    return tests;
}
