#include "decode/core/value.h"

#include <string.h>

#include "unit/decode/pickle/pickle.h"

static struct budget budget;
static struct values values;
static struct error err;

static void setup(void)
{
    budget = (struct budget){.limit = (size_t)1 << 26};
    values_init(&values, NULL, &budget);
}

static void teardown(void)
{
    values_release(&values);
    ck_assert_uint_eq(budget.used, 0);
}

static value long_of(const char *bytes, size_t size)
{
    value v;
    ck_assert(value_new_long(&values, (const uint8_t *)bytes, size, 0, &v, &err));
    return v;
}

START_TEST(integers_keep_their_value)
{
    static const int64_t cases[] = {
        0, 1, VALUE_PAYLOAD_MAX, (int64_t)VALUE_PAYLOAD_MAX + 1, -1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        value v;
        int64_t back;
        ck_assert(value_new_int(&values, cases[i], 0, &v, &err));
        ck_assert(value_to_i64(&values, v, &back));
        ck_assert_int_eq(back, cases[i]);
    }
}
END_TEST

START_TEST(longs_of_every_length)
{
    int64_t integer;
    uint64_t natural;
    ck_assert(value_to_i64(&values, long_of(BYTES("")), &integer));
    ck_assert_int_eq(integer, 0);
    ck_assert(value_to_i64(&values, long_of(BYTES("\x80")), &integer));
    ck_assert_int_eq(integer, -128);
    ck_assert(value_to_i64(&values, long_of(BYTES("\x80\0\0\0\0\0\0\0\0\0\0")), &integer));
    ck_assert_int_eq(integer, 128);
    ck_assert(
        value_to_u64(&values, long_of(BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\0")), &natural));
    ck_assert_uint_eq(natural, UINT64_MAX);
    ck_assert(
        !value_to_i64(&values, long_of(BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\0")), &integer));
    value big = long_of(BYTES("\0\0\0\0\0\0\0\0\x01"));
    ck_assert(value_is_node(&values, big, NODE_BIGINT));
    ck_assert(!value_to_u64(&values, big, &natural));
}
END_TEST

START_TEST(negative_is_not_natural)
{
    uint64_t natural;
    ck_assert(!value_to_u64(&values, long_of(BYTES("\xff")), &natural));
    ck_assert(value_to_u64(&values, VALUE_TRUE, &natural));
    ck_assert_uint_eq(natural, 1);
    ck_assert(!value_to_u64(&values, VALUE_NONE, &natural));
}
END_TEST

START_TEST(lists_grow_and_keep_their_items)
{
    value list;
    ck_assert(value_new_node(&values, NODE_LIST, 0, &list, &err));
    for (uint32_t i = 0; i < 5000; i++) {
        value v = value_make(TAG_INT, i);
        ck_assert(value_add_items(&values, list, &v, 1, &err));
    }
    const value *items;
    size_t count;
    ck_assert(value_sequence(&values, list, &items, &count));
    ck_assert_uint_eq(count, 5000);
    for (uint32_t i = 0; i < 5000; i++)
        ck_assert_uint_eq(items[i], value_make(TAG_INT, i));
}
END_TEST

START_TEST(a_list_handed_on_as_rows_has_no_items)
{
    value list;
    const value *items;
    size_t count;
    ck_assert(value_new_node(&values, NODE_LIST, 0, &list, &err));
    value_node(&values, list)->role = ROLE_TRACE;
    ck_assert(!value_sequence(&values, list, &items, &count));
}
END_TEST

START_TEST(the_budget_holds)
{
    static const uint8_t zeros[100000];
    value v;
    budget.limit = budget.used + 1000;
    ck_assert(!value_new_bytes(&values, NODE_BYTES, zeros, sizeof zeros, 0, &v, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
}
END_TEST

TCase *value_tests(void)
{
    TCase *tests = tcase_create("value");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, integers_keep_their_value);
    tcase_add_test(tests, longs_of_every_length);
    tcase_add_test(tests, negative_is_not_natural);
    tcase_add_test(tests, lists_grow_and_keep_their_items);
    tcase_add_test(tests, a_list_handed_on_as_rows_has_no_items);
    tcase_add_test(tests, the_budget_holds);
    return tests;
}
