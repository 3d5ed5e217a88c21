#define _GNU_SOURCE /* dlvsym */
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dryrun/core/stub_library.h"
#include "unit/dryrun/dryrun.h"

#ifdef __aarch64__
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_X86_64
#endif

typedef int stub_function(const char *first);

static const struct stub stubs[] = {{"cudaFirst", "libcudart.so.12"},
                                    {"cudaSecond", "libcudart.so.12"},
                                    {"cudaThird", "OTHER_1"},
                                    {"ncclSend", NULL}};
static const char *const versions[] = {"libcudart.so.12", "OTHER_1"};

/* The handler strcmp() compares the stub's argument with its name. */
static struct stub_library made = {
    OWN_MACHINE, "libmade.so.1", "libc.so.6", "strcmp", stubs, 4, versions, 2};

static void *load(const struct stub_library *library)
{
    char path[] = "/tmp/memsnap-unit-XXXXXX";
    struct buffer bytes = BUFFER_INIT;
    ck_assert(stub_library_write(library, &bytes));
    ck_assert(!bytes.failed);
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes.bytes, bytes.size), (ssize_t)bytes.size);
    close(fd);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *message = handle ? "" : dlerror();
    unlink(path);
    buffer_release(&bytes);
    ck_assert_msg(handle != NULL, "%s", message);
    return handle;
}

static stub_function *find(void *handle, const char *name, const char *version)
{
    void *found = version ? dlvsym(handle, name, version) : dlsym(handle, name);
    stub_function *function = NULL;
    memcpy(&function, &found, sizeof(found));
    return function;
}

START_TEST(test_call)
{
    void *handle = load(&made);
    for (size_t i = 0; i < 4; i++) {
        stub_function *stub = find(handle, stubs[i].name, NULL);
        ck_assert_msg(stub != NULL, "%s", stubs[i].name);
        ck_assert_int_eq(stub(stubs[i].name), 0);
        ck_assert_int_ne(stub("another"), 0);
    }
    ck_assert_ptr_null(dlsym(handle, "cudaFourth"));
    dlclose(handle);
}
END_TEST

START_TEST(test_versions)
{
    void *handle = load(&made);
    ck_assert_ptr_nonnull(find(handle, "cudaFirst", "libcudart.so.12"));
    ck_assert_ptr_nonnull(find(handle, "cudaThird", "OTHER_1"));
    ck_assert_ptr_null(find(handle, "cudaFirst", "OTHER_1"));
    dlclose(handle);
}
END_TEST

/* A library that is needed only by name. */
START_TEST(test_empty)
{
    struct stub_library empty = made;
    empty.stub_count = empty.version_count = 0;
    empty.soname = "libempty.so.1";
    dlclose(load(&empty));
}
END_TEST

START_TEST(test_many)
{
    enum { MANY = 3000 };
    static char texts[MANY][24];
    static struct stub many[MANY];
    struct stub_library library = made;
    for (int i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof(texts[i]), "cudaNumber%d", i);
        many[i] = (struct stub){texts[i], versions[0]};
    }
    library.soname = "libmany.so.1";
    library.stubs = many;
    library.stub_count = MANY;
    void *handle = load(&library);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(find(handle, texts[i], versions[0])(texts[i]), 0);
    dlclose(handle);
}
END_TEST

START_TEST(test_other_machine)
{
    struct stub_library library = made;
    struct buffer bytes = BUFFER_INIT;
    library.machine = EM_RISCV;
    ck_assert(!stub_library_write(&library, &bytes));
    ck_assert_uint_eq(bytes.size, 0);
}
END_TEST

static uint32_t word_at(const struct buffer *bytes, size_t at)
{
    uint32_t word;
    memcpy(&word, bytes->bytes + at, sizeof(word));
    return word;
}

/* The page that an adrp instruction at `at` computes. */
static uint64_t adrp_target(uint32_t word, uint64_t at)
{
    uint64_t pages = (word >> 29 & 3) | (word >> 5 & 0x7ffff) << 2;
    return (at & ~(uint64_t)0xfff) + (pages << 12);
}

/* Finds the first stub by its trap words and follows its instructions on any machine. */
START_TEST(test_aarch64)
{
    struct stub_library library = made;
    struct buffer bytes = BUFFER_INIT;
    library.machine = EM_AARCH64;
    ck_assert(stub_library_write(&library, &bytes));
    size_t at = 0;
    while (at + 32 <= bytes.size && !(word_at(&bytes, at + 16) == 0xd61f0200 && /* br x16 */
                                      word_at(&bytes, at + 20) == 0xd4200000))
        at += 32;
    ck_assert_uint_le(at + 32, bytes.size);
    ck_assert_uint_eq(word_at(&bytes, at) & 0x9f00001f, 0x90000001);      /* adrp x1 */
    ck_assert_uint_eq(word_at(&bytes, at + 4) & 0xffc003ff, 0x91000021);  /* add x1, x1 */
    ck_assert_uint_eq(word_at(&bytes, at + 8) & 0x9f00001f, 0x90000010);  /* adrp x16 */
    ck_assert_uint_eq(word_at(&bytes, at + 12) & 0xffc003ff, 0xf9400210); /* ldr x16, [x16] */
    uint64_t name = adrp_target(word_at(&bytes, at), at) + (word_at(&bytes, at + 4) >> 10 & 0xfff);
    ck_assert_uint_lt(name, bytes.size);
    ck_assert_str_eq(bytes.bytes + name, "cudaFirst");
    uint64_t slot =
        adrp_target(word_at(&bytes, at + 8), at + 8) + (word_at(&bytes, at + 12) >> 10 & 0xfff) * 8;
    ck_assert_uint_eq(slot + 8, bytes.size);
    buffer_release(&bytes);
}
END_TEST

TCase *stub_library_tests(void)
{
    TCase *tests = tcase_create("stub_library");
    tcase_add_test(tests, test_call);
    tcase_add_test(tests, test_versions);
    tcase_add_test(tests, test_empty);
    tcase_add_test(tests, test_many);
    tcase_add_test(tests, test_other_machine);
    tcase_add_test(tests, test_aarch64);
    return tests;
}
