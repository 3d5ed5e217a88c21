#include "base/text.h"

#include <string.h>

#include "unit/base/base.h"

static struct text text(const char *bytes)
{
    return (struct text){bytes, strlen(bytes)};
}

START_TEST(texts_are_ordered_by_bytes_then_by_size)
{
    ck_assert_int_eq(text_compare(text(""), text("")), 0);
    ck_assert_int_eq(text_compare(text("model"), text("model")), 0);
    ck_assert_int_eq(text_compare((struct text){NULL, 0}, text("")), 0);
    ck_assert_int_lt(text_compare(text("model"), text("models")), 0);
    ck_assert_int_gt(text_compare(text("b"), text("apple")), 0);
    ck_assert_int_gt(text_compare(text("\xff"), text("a")), 0);
    ck_assert_int_lt(text_compare((struct text){"a\0b", 3}, (struct text){"a\0c", 3}), 0);
}
END_TEST

static void first_is(const char *whole, size_t most, const char *wanted)
{
    struct text part = text_first(text(whole), most);
    ck_assert_ptr_eq(part.bytes, whole);
    ck_assert_uint_eq(part.size, strlen(wanted));
}

static void last_is(const char *whole, size_t most, const char *wanted)
{
    struct text all = text(whole), part = text_last(all, most);
    ck_assert_ptr_eq(part.bytes + part.size, all.bytes + all.size);
    ck_assert_str_eq(part.bytes, wanted);
}

START_TEST(the_first_bytes_cut_no_character)
{
    first_is("abc", 3, "abc");
    first_is("abcd", 3, "abc");
    first_is("ab\xc3\xa9", 3, "ab");
    first_is("ab\xc3\xa9", 4, "ab\xc3\xa9");
    first_is("\xf0\x9f\x98\x80", 3, "");
    first_is("\x80\x80\x80\x80\x80\x80", 5, "\x80\x80"); /* no UTF-8 */
    first_is("a", 0, "");
}
END_TEST

START_TEST(the_last_bytes_cut_no_character)
{
    last_is("abc", 3, "abc");
    last_is("abcd", 3, "bcd");
    last_is("\xc3\xa9z", 2, "z");
    last_is("\xc3\xa9z", 3, "\xc3\xa9z");
    last_is("\xf0\x9f\x98\x80", 3, "");
    last_is("\x80\x80\x80\x80\x80\x80", 5, "\x80\x80"); /* no UTF-8 */
    last_is("a", 0, "");
}
END_TEST

TCase *text_tests(void)
{
    TCase *tests = tcase_create("text");
    tcase_add_test(tests, texts_are_ordered_by_bytes_then_by_size);
    tcase_add_test(tests, the_first_bytes_cut_no_character);
    tcase_add_test(tests, the_last_bytes_cut_no_character);
    return tests;
}
