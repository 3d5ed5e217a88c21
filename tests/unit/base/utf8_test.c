#include "base/utf8.h"

#include "unit/base/base.h"

/* A byte string of a literal, NUL bytes included. */
#define BYTES(literal) (literal), sizeof(literal) - 1

static size_t valid(const char *bytes, size_t size)
{
    return utf8_valid_prefix(bytes, size, UTF8_REFUSE_SURROGATES);
}

START_TEST(whole_characters_are_valid)
{
    ck_assert_uint_eq(valid(BYTES("")), 0);
    ck_assert_uint_eq(valid(BYTES("plain ASCII text")), 16);
    ck_assert_uint_eq(valid(BYTES("a\0b")), 3);
    ck_assert_uint_eq(valid(BYTES("\xc2\x80\xdf\xbf")), 4);
    ck_assert_uint_eq(valid(BYTES("\xe0\xa0\x80\xef\xbf\xbf")), 6);
    ck_assert_uint_eq(valid(BYTES("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf")), 8);
}
END_TEST

START_TEST(the_first_wrong_byte_is_found)
{
    ck_assert_uint_eq(valid(BYTES("12345678\xff")), 8);
    ck_assert_uint_eq(valid(BYTES("1234567\x80"
                                  "9")),
                      7);
    ck_assert_uint_eq(valid(BYTES("ab\xc3")), 2);       /* cut off */
    ck_assert_uint_eq(valid(BYTES("\xc0\x80")), 0);     /* overlong */
    ck_assert_uint_eq(valid(BYTES("\xe0\x9f\xbf")), 0); /* overlong */
    ck_assert_uint_eq(valid(BYTES("\xf0\x8f\xbf\xbf")), 0);
    ck_assert_uint_eq(valid(BYTES("\xf4\x90\x80\x80")), 0); /* above U+10FFFF */
    ck_assert_uint_eq(valid(BYTES("\xed\xa0\x80")), 0);     /* surrogate */
}
END_TEST

START_TEST(surrogates_pass_where_asked)
{
    ck_assert_uint_eq(utf8_valid_prefix("x\xed\xa0\x80y", 5, UTF8_ALLOW_SURROGATES), 5);
}
END_TEST

START_TEST(characters_are_written_and_read_back)
{
    static const uint32_t codes[] = {0,      0x7f,   0x80,    0x7ff,   0x800,
                                     0xd800, 0xffff, 0x10000, 0x10ffff};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char bytes[UTF8_LENGTH_MAX];
        uint32_t code;
        size_t length = utf8_put(bytes, codes[i]);
        ck_assert_uint_eq(utf8_decode(bytes, length, UTF8_ALLOW_SURROGATES, &code), length);
        ck_assert_uint_eq(code, codes[i]);
        ck_assert_uint_eq(utf8_decode(bytes, length - 1, UTF8_ALLOW_SURROGATES, &code), 0);
    }
}
END_TEST

START_TEST(a_clip_cuts_no_character_in_two)
{
    ck_assert_int_eq(utf8_clip("", 3), 0);
    ck_assert_int_eq(utf8_clip("abc", 3), 3);
    ck_assert_int_eq(utf8_clip("abcd", 3), 3);
    ck_assert_int_eq(utf8_clip("ab\xc3\xa9", 3), 2);
    ck_assert_int_eq(utf8_clip("ab\xc3\xa9", 4), 4);
    ck_assert_int_eq(utf8_clip("\xf0\x9f\x98\x80", 3), 0);
    ck_assert_int_eq(utf8_clip("\x80\x80\x80\x80\x80\x80", 5), 5); /* no UTF-8: nothing whole */
}
END_TEST

TCase *utf8_tests(void)
{
    TCase *tests = tcase_create("utf8");
    tcase_add_test(tests, whole_characters_are_valid);
    tcase_add_test(tests, the_first_wrong_byte_is_found);
    tcase_add_test(tests, surrogates_pass_where_asked);
    tcase_add_test(tests, characters_are_written_and_read_back);
    tcase_add_test(tests, a_clip_cuts_no_character_in_two);
    return tests;
}
