#include "base/error.h"

#include <string.h>

#include "unit/base/base.h"

START_TEST(set_fills_and_returns_false)
{
    struct error err = {.has_offset = true, .offset = 7};
    ck_assert(!error_set(&err, STATUS_BAD_INPUT, "opcode %d", 42));
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    ck_assert_str_eq(err.text, "opcode 42");
    ck_assert(!err.has_offset);
    ck_assert_uint_eq(err.offset, 0);
}
END_TEST

START_TEST(out_of_memory_is_a_limit)
{
    struct error err;
    ck_assert(!error_out_of_memory(&err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_str_eq(err.text, "out of memory");
}
END_TEST

START_TEST(set_at_keeps_the_offset)
{
    struct error err;
    ck_assert(!error_set_at(&err, STATUS_LIMIT, UINT64_MAX, "too %s", "long"));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert(err.has_offset);
    ck_assert_uint_eq(err.offset, UINT64_MAX);
    ck_assert_str_eq(err.text, "too long");
}
END_TEST

START_TEST(long_text_is_cut_and_says_so)
{
    char longest[sizeof(((struct error *)0)->text)];
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    struct error err;
    error_set(&err, STATUS_IO, "%s", longest);
    ck_assert_str_eq(err.text, longest);
    error_set(&err, STATUS_IO, "%sb", longest);
    ck_assert_uint_eq(strlen(err.text), sizeof(longest) - 1);
    ck_assert_str_eq(err.text + sizeof(longest) - 5, "a...");
}
END_TEST

TCase *error_tests(void)
{
    TCase *tests = tcase_create("error");
    tcase_add_test(tests, set_fills_and_returns_false);
    tcase_add_test(tests, out_of_memory_is_a_limit);
    tcase_add_test(tests, set_at_keeps_the_offset);
    tcase_add_test(tests, long_text_is_cut_and_says_so);
    return tests;
}
