#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "dryrun/core/elf.h"
#include "unit/dryrun/dryrun.h"

/* The bytes in a block of their own, so that a sanitizer sees a read beyond the end. */
static unsigned char *copy_of(const unsigned char *bytes, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, size);
    return copy;
}

/* Reads everything; true if the file is accepted. */
static bool read_all(const unsigned char *bytes, size_t size)
{
    struct elf elf;
    struct error err;
    struct elf_symbol symbol;
    size_t at = 0, letters = 0;
    if (!elf_open(&elf, bytes, size, &err)) {
        ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
        return false;
    }
    for (size_t i = 0; i <= elf.symbols.count; i++)
        if (elf_symbol(&elf, i, &symbol))
            letters += strlen(symbol.name) +
                       (symbol.version.name ? strlen(symbol.version.name) : 0) +
                       (symbol.version.file ? strlen(symbol.version.file) : 0);
    for (const char *name; (name = elf_next_needed(&elf, &at));)
        letters += strlen(name);
    ck_assert_uint_lt(letters, 100 * MADE_MOST);
    elf_close(&elf);
    return true;
}

START_TEST(test_symbols)
{
    unsigned char bytes[MADE_MOST];
    struct elf elf;
    struct error err;
    struct elf_symbol symbol;
    ck_assert(elf_open(&elf, bytes, elf_make(bytes), &err));
    ck_assert_int_eq(elf.machine, EM_X86_64);
    ck_assert_uint_eq(elf.symbols.count, 7);
    ck_assert(!elf_symbol(&elf, 0, &symbol));
    ck_assert(elf_symbol(&elf, 1, &symbol));
    ck_assert_str_eq(symbol.name, "cudaMalloc");
    ck_assert(!symbol.is_defined);
    ck_assert_str_eq(symbol.version.file, "libcudart.so.12");
    ck_assert_str_eq(symbol.version.name, "libcudart.so.12");
    ck_assert(elf_symbol(&elf, 2, &symbol));
    ck_assert_str_eq(symbol.name, "ncclSend");
    ck_assert_ptr_null(symbol.version.name);
    ck_assert(elf_symbol(&elf, 4, &symbol));
    ck_assert(symbol.is_weak);
    ck_assert(elf_symbol(&elf, 6, &symbol));
    ck_assert(symbol.is_defined);
    ck_assert_str_eq(symbol.version.name, "LIBF_1");
    ck_assert_ptr_null(symbol.version.file);
    ck_assert(!elf_symbol(&elf, 7, &symbol));
    elf_close(&elf);
}
END_TEST

START_TEST(test_needed)
{
    unsigned char bytes[MADE_MOST];
    struct elf elf;
    struct error err;
    size_t at = 0;
    ck_assert(elf_open(&elf, bytes, elf_make(bytes), &err));
    ck_assert_str_eq(elf_next_needed(&elf, &at), "libcudart.so.12");
    ck_assert_str_eq(elf_next_needed(&elf, &at), "libm.so.6");
    ck_assert_ptr_null(elf_next_needed(&elf, &at));
    ck_assert_ptr_null(elf_next_needed(&elf, &at));
    elf_close(&elf);
}
END_TEST

START_TEST(test_other_files)
{
    ck_assert(!read_all((const unsigned char *)"", 0));
    ck_assert(!read_all((const unsigned char *)"#!/bin/sh\n", 10));
    unsigned char bytes[MADE_MOST];
    size_t size = elf_make(bytes);
    bytes[EI_CLASS] = ELFCLASS32;
    ck_assert(!read_all(bytes, size));
}
END_TEST

START_TEST(test_cut_files)
{
    unsigned char bytes[MADE_MOST];
    size_t size = elf_make(bytes);
    ck_assert(read_all(bytes, size));
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *copy = copy_of(bytes, cut);
        ck_assert_msg(!read_all(copy, cut), "accepted %zu of %zu bytes", cut, size);
        free(copy);
    }
}
END_TEST

START_TEST(test_damaged_files)
{
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    unsigned char bytes[MADE_MOST];
    size_t size = elf_make(bytes), accepted = 0, tried = 0;
    for (size_t at = 0; at < size; at++)
        for (size_t i = 0; i < sizeof(values); i++) {
            unsigned char *copy = copy_of(bytes, size);
            copy[at] = values[i];
            accepted += read_all(copy, size);
            tried++;
            free(copy);
        }
    ck_assert_uint_gt(accepted, 0);
    ck_assert_uint_lt(accepted, tried);
}
END_TEST

TCase *elf_tests(void)
{
    TCase *tests = tcase_create("elf");
    tcase_add_test(tests, test_symbols);
    tcase_add_test(tests, test_needed);
    tcase_add_test(tests, test_other_files);
    tcase_add_test(tests, test_cut_files);
    tcase_add_test(tests, test_damaged_files);
    return tests;
}
