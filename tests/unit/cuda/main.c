#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/sandbox/device_process.h"
#include "solve/backend/device.h"
#include "solve/cuda/cuda.h"
#include "unit/devices/devices.h"
#include "unit/solve/problems.h"

/* Once a library is loaded, dlopen() of its name returns the loaded one. */
static void *driver;

static bool solve(size_t count, int32_t slots, struct error *err)
{
    static struct random_problem random;
    struct chance chance = {21};
    struct cost_table tables[4] = {0};
    struct budget budget = {.limit = 1 << 28};
    struct backend_options options = {.budget = &budget};
    random_problem_fill(&random, &chance, DEVICE_TILE, slots, 5, 5);
    const struct cost_problem problems[] = {random.problem, random.problem, random.problem,
                                            random.problem};
    bool ok = backend_cuda.solve(problems, tables, count, &options, err);
    for (size_t k = 0; ok && k < count; k++)
        cost_table_release(&tables[k], &budget);
    ck_assert_uint_eq(budget.used, 0);
    return ok;
}

static const struct {
    const char *function;
    enum status status;
    const char *says;
} failures[] = {
    {"cuDevicePrimaryCtxRetain", STATUS_IO, "cuDevicePrimaryCtxRetain: something failed"},
    {"cuCtxSetCurrent", STATUS_IO, "cuCtxSetCurrent: something failed"},
    {"cuModuleLoadData", STATUS_IO, "its driver is older than the CUDA of this build"},
    {"cuModuleGetFunction", STATUS_IO, "cuModuleGetFunction: something failed"},
    {"cuMemGetInfo_v2", STATUS_IO, "cuMemGetInfo: something failed"},
    {"cuMemAlloc_v2", STATUS_LIMIT, "cuMemAlloc: out of memory (error 2)"},
    {"cuMemcpyHtoD_v2", STATUS_IO, "cuMemcpyHtoD: something failed"},
    {"cuLaunchKernel", STATUS_IO, "cuLaunchKernel: something failed"},
    {"cuCtxSynchronize", STATUS_IO, "the cost kernel: something failed (error 719)"},
    {"cuMemcpyDtoH_v2", STATUS_IO, "cuMemcpyDtoH: something failed"},
};

START_TEST(a_failing_call_is_named_and_leaves_nothing)
{
    const int *live = dlsym(driver, "fake_cuda_live");
    struct error err = {0};
    setenv("FAKE_CUDA_FAILS", failures[_i].function, 1);
    ck_assert(!solve(1, 10, &err));
    ck_assert_int_eq(err.status, failures[_i].status);
    ck_assert_ptr_nonnull(strstr(err.text, failures[_i].says));
    ck_assert_int_eq(*live, 0);
}
END_TEST

START_TEST(a_driver_that_crashes_takes_its_process_only)
{
    struct backend_place place;
    struct error err = {0};
    setenv("FAKE_CUDA_CRASHES", _i ? "cuDeviceGetCount" : "cuLaunchKernel", 1);
    device_process_start();
    ck_assert_int_eq(backend_cuda.available(&place), _i == 0);
    ck_assert(!solve(1, 10, &err));
    ck_assert_int_eq(err.status, STATUS_IO);
    ck_assert_str_eq(err.text, "its process has ended: the driver crashed, or was killed");
    ck_assert(!backend_cuda.available(&place));
    ck_assert_str_eq(place.what, err.text);
    ck_assert(!device_process_stop());
    unsetenv("FAKE_CUDA_CRASHES");
    device_process_start();
    ck_assert_msg(solve(2, 1000, &err), "%s", err.text);
    ck_assert(device_process_stop());
}
END_TEST

START_TEST(tables_too_large_for_the_caller_are_not_asked_for)
{
    static struct random_problem random;
    struct chance chance = {22};
    struct cost_table table = {0};
    struct error err = {0};
    random_problem_fill(&random, &chance, DEVICE_TILE, 4000, 5, 5);
    size_t bytes = cost_table_bytes(&random.problem, COST_ROWS);
    struct budget budget = {.limit = 2 * bytes};
    struct backend_options options = {.budget = &budget};
    device_process_start();
    ck_assert(!backend_cuda.solve(&random.problem, &table, 1, &options, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_uint_eq(budget.used, 0);
    budget.limit = 3 * bytes;
    ck_assert_msg(backend_cuda.solve(&random.problem, &table, 1, &options, &err), "%s", err.text);
    cost_table_release(&table, &budget);
    ck_assert_uint_eq(budget.used, 0);
    ck_assert(device_process_stop());
}
END_TEST

START_TEST(no_device_is_a_reason)
{
    struct backend_place place;
    setenv("FAKE_CUDA_FAILS", "cuInit", 1);
    ck_assert(!backend_cuda.available(&place));
    ck_assert_str_eq(place.what, "no CUDA device");
}
END_TEST

START_TEST(what_does_not_fit_at_once_is_done_in_turn)
{
    const int *live = dlsym(driver, "fake_cuda_live");
    struct error err = {0};
    setenv("FAKE_CUDA_MIB", "68", 1); /* two tables of 2 MiB, beside what is spared */
    ck_assert_msg(solve(3, 3700, &err), "%s", err.text);
    ck_assert_int_eq(*live, 0);
    setenv("FAKE_CUDA_MIB", "65", 1);
    ck_assert(!solve(1, 3700, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_str_eq(err.text, "a table of 1.93 MiB does not fit the 1.00 MiB that are free there");
}
END_TEST

static bool failures_pass(void)
{
    Suite *suite = suite_create("cuda failures");
    TCase *cases = tcase_create("failures");
    tcase_set_timeout(cases, 300);
    tcase_add_loop_test(cases, a_failing_call_is_named_and_leaves_nothing, 0,
                        sizeof(failures) / sizeof(failures[0]));
    tcase_add_loop_test(cases, a_driver_that_crashes_takes_its_process_only, 0, 2);
    tcase_add_test(cases, tables_too_large_for_the_caller_are_not_asked_for);
    tcase_add_test(cases, no_device_is_a_reason);
    tcase_add_test(cases, what_does_not_fit_at_once_is_done_in_turn);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_FORK); /* what is found is remembered */
    srunner_run_all(runner, CK_NORMAL);
    bool passed = srunner_ntests_failed(runner) == 0;
    srunner_free(runner);
    return passed;
}

/* MEMSNAP_CUDA_DRIVER=libcuda.so.1 compares the tables of a real device with the reference; its
 * driver cannot be made to fail, so those cases are left out. */
int main(void)
{
    const char *real = getenv("MEMSNAP_CUDA_DRIVER");
    driver = dlopen(real ? real : FAKE_DRIVER, RTLD_NOW);
    if (!driver) {
        printf("%s\n", dlerror());
        return EXIT_FAILURE;
    }
    bool passed = real || cuda_image_size == 0 || failures_pass();
    int status = device_run(&backend_cuda, real ? 100 : 10, 5);
    return passed ? status : EXIT_FAILURE;
}
