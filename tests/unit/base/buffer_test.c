#include "base/buffer.h"

#include <stdint.h>
#include <string.h>

#include "unit/base/base.h"

START_TEST(adds_in_order)
{
    struct buffer buffer = BUFFER_INIT;
    buffer_puts(&buffer, "one ");
    buffer_add(&buffer, "two\0three", 9);
    buffer_putc(&buffer, '!');
    buffer_printf(&buffer, " %d%%", 42);
    ck_assert(!buffer.failed);
    ck_assert_uint_eq(buffer.size, 18);
    ck_assert_mem_eq(buffer.bytes, "one two\0three! 42%", 19);
    buffer_release(&buffer);
    ck_assert_ptr_null(buffer.bytes);
}
END_TEST

/* Every length around the growth steps, where a formatted text may or may not fit. */
START_TEST(printf_grows)
{
    char text[1200];
    memset(text, 'x', sizeof(text));
    for (int length = 0; length < (int)sizeof(text); length++) {
        struct buffer buffer = BUFFER_INIT;
        buffer_printf(&buffer, "<%.*s>", length, text);
        ck_assert(!buffer.failed);
        ck_assert_uint_eq(buffer.size, (size_t)length + 2);
        ck_assert_uint_eq(strlen(buffer.bytes), buffer.size);
        ck_assert_int_eq(buffer.bytes[buffer.size - 1], '>');
        buffer_release(&buffer);
    }
}
END_TEST

START_TEST(clear_keeps_the_capacity)
{
    struct buffer buffer = BUFFER_INIT;
    for (int i = 0; i < 1000; i++)
        buffer_putc(&buffer, 'a');
    size_t capacity = buffer.capacity;
    buffer_clear(&buffer);
    ck_assert_uint_eq(buffer.size, 0);
    ck_assert_uint_eq(buffer.capacity, capacity);
    ck_assert_str_eq(buffer.bytes, "");
    buffer_release(&buffer);
}
END_TEST

START_TEST(too_large_fails_and_stays_failed)
{
    struct buffer buffer = BUFFER_INIT;
    buffer_puts(&buffer, "kept");
    buffer_add(&buffer, "", SIZE_MAX);
    ck_assert(buffer.failed);
    buffer_puts(&buffer, " dropped");
    buffer_printf(&buffer, "%d", 1);
    ck_assert_str_eq(buffer.bytes, "kept");
    buffer_clear(&buffer);
    ck_assert(buffer.failed);
    buffer_release(&buffer);
    ck_assert(!buffer.failed);
}
END_TEST

TCase *buffer_tests(void)
{
    TCase *tests = tcase_create("buffer");
    tcase_add_test(tests, adds_in_order);
    tcase_add_test(tests, printf_grows);
    tcase_add_test(tests, clear_keeps_the_capacity);
    tcase_add_test(tests, too_large_fails_and_stays_failed);
    return tests;
}
