#include <elf.h>
#include <string.h>

#include "dryrun/core/needs.h"
#include "unit/dryrun/dryrun.h"

static bool is_send(const char *function)
{
    return strcmp(function, "ncclSend") == 0;
}

static bool is_nothing(const char *function)
{
    (void)function;
    return false;
}

static void add_made(struct needs *needs)
{
    unsigned char bytes[MADE_MOST];
    struct elf elf;
    struct error err;
    ck_assert(elf_open(&elf, bytes, elf_make(bytes), &err));
    ck_assert(needs_add(needs, &elf, &err));
    elf_close(&elf);
}

START_TEST(test_names)
{
    static const char *const libraries[] = {"libcudart.so.12", "libnccl.so.2", "libcuda.so.1",
                                            "libnvidia-ml.so.1", "libcupti.so.13"};
    static const char *const others[] = {"libc.so.6", "libcurl.so.4", "libtorch_cuda.so",
                                         "libcu/../../x", "libnvpl_blas_lp64_gomp.so.0"};
    for (size_t i = 0; i < 5; i++)
        ck_assert_msg(needs_is_library(libraries[i]), "%s", libraries[i]);
    for (size_t i = 0; i < 5; i++)
        ck_assert_msg(!needs_is_library(others[i]), "%s", others[i]);
    ck_assert(needs_is_function("cuInit"));
    ck_assert(needs_is_function("__cudaRegisterFatBinary"));
    ck_assert(!needs_is_function("curl_easy_init"));
    ck_assert(!needs_is_function("custom"));
}
END_TEST

/* Two objects that want the same are like one. */
START_TEST(test_collection)
{
    struct needs needs = {0};
    add_made(&needs);
    add_made(&needs);
    needs_finish(&needs, is_nothing);
    ck_assert_uint_eq(needs.count, 2);
    ck_assert_int_eq(needs.machine, EM_X86_64);
    const struct needed_library *cudart = &needs.libraries[0], *rest = &needs.libraries[1];
    ck_assert_str_eq(cudart->soname, "libcudart.so.12");
    ck_assert_uint_eq(cudart->version_count, 1);
    ck_assert_uint_eq(cudart->stub_count, 1);
    ck_assert_str_eq(cudart->stubs[0].name, "cudaMalloc");
    ck_assert_str_eq(cudart->stubs[0].version, "libcudart.so.12");
    ck_assert_str_eq(rest->soname, NEEDS_REST);
    ck_assert_uint_eq(rest->stub_count, 1); /* neither printf nor the weak cudaMaybe */
    ck_assert_str_eq(rest->stubs[0].name, "ncclSend");
    needs_release(&needs);
}
END_TEST

START_TEST(test_implemented)
{
    struct needs needs = {0};
    add_made(&needs);
    needs_finish(&needs, is_send);
    ck_assert_uint_eq(needs.libraries[0].stub_count, 1);
    ck_assert_uint_eq(needs.libraries[1].stub_count, 0);
    needs_release(&needs);
}
END_TEST

/* Only texts as a whole, only the driver's names, and only beside the name of its library. */
START_TEST(test_named)
{
    static const char bytes[] = "x\0cuMemCreate\0cuStreamWriteValue32\0custom\0cuMemMap()\0"
                                "cuMemCreate\0xcuInit\0libcuda.so.1\0cuUnended";
    struct needs needs = {0};
    struct error err;
    ck_assert(needs_add_named(&needs, "libcuda.so.2", bytes, sizeof(bytes) - 1, &err));
    ck_assert_uint_eq(needs.count, 0);
    ck_assert(needs_add_named(&needs, "libcuda.so.1", bytes, sizeof(bytes) - 1, &err));
    needs_finish(&needs, is_nothing);
    ck_assert_uint_eq(needs.count, 1);
    ck_assert_str_eq(needs.libraries[0].soname, "libcuda.so.1");
    ck_assert_uint_eq(needs.libraries[0].stub_count, 2);
    ck_assert_str_eq(needs.libraries[0].stubs[0].name, "cuMemCreate");
    ck_assert_str_eq(needs.libraries[0].stubs[1].name, "cuStreamWriteValue32");
    needs_release(&needs);
}
END_TEST

TCase *needs_tests(void)
{
    TCase *tests = tcase_create("needs");
    tcase_add_test(tests, test_names);
    tcase_add_test(tests, test_collection);
    tcase_add_test(tests, test_implemented);
    tcase_add_test(tests, test_named);
    return tests;
}
