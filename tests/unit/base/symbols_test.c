#include "base/symbols.h"

#include <stdio.h>
#include <string.h>

#include "unit/base/base.h"

#define MANY 5000

static struct budget budget;
static struct error err;
static struct symbols *symbols;

static void create(void)
{
    budget = (struct budget){.limit = 64 << 20};
    symbols = symbols_create(&budget, &err);
    ck_assert_ptr_nonnull(symbols);
}

static void destroy(void)
{
    symbols_destroy(symbols);
    ck_assert_uint_eq(budget.used, 0);
}

static string_id string(const char *bytes, size_t size)
{
    string_id id;
    ck_assert(symbols_string(symbols, bytes, size, &id, &err));
    return id;
}

static stack_id stack(const frame_id *frames, size_t count)
{
    stack_id id;
    ck_assert(symbols_stack(symbols, frames, count, &id, &err));
    return id;
}

START_TEST(the_first_ids_are_empty)
{
    ck_assert_uint_eq(symbols_string_count(symbols), 1);
    ck_assert_uint_eq(symbols_frame_count(symbols), 0);
    ck_assert_uint_eq(symbols_stack_count(symbols), 1);
    ck_assert_uint_eq(symbols_text(symbols, STRING_EMPTY).size, 0);
    ck_assert_str_eq(symbols_text(symbols, STRING_EMPTY).bytes, "");
    ck_assert_uint_eq(symbols_stack_at(symbols, STACK_NONE).count, 0);
    ck_assert_uint_eq(string(NULL, 0), STRING_EMPTY);
    ck_assert_uint_eq(stack(NULL, 0), STACK_NONE);
}
END_TEST

START_TEST(strings_are_bytes)
{
    string_id plain = string("a", 1), with_nul = string("a\0b", 3), invalid = string("\xff", 1);
    ck_assert_uint_ne(plain, with_nul);
    ck_assert_uint_ne(plain, invalid);
    ck_assert_uint_eq(string("abc", 1), plain);
    ck_assert_uint_eq(string("a\0b", 3), with_nul);
    struct text text = symbols_text(symbols, with_nul);
    ck_assert_uint_eq(text.size, 3);
    ck_assert_mem_eq(text.bytes, "a\0b", 4);
}
END_TEST

START_TEST(many_strings_stay_where_they_are)
{
    static const char *bytes[MANY];
    char name[32];
    for (int i = 0; i < MANY; i++) {
        int size = snprintf(name, sizeof(name), "function_%d", i);
        string_id id = string(name, (size_t)size);
        ck_assert_uint_eq(id, (string_id)i + 1);
        bytes[i] = symbols_text(symbols, id).bytes;
    }
    for (int i = 0; i < MANY; i++) {
        int size = snprintf(name, sizeof(name), "function_%d", i);
        ck_assert_uint_eq(string(name, (size_t)size), (string_id)i + 1);
        ck_assert_ptr_eq(symbols_text(symbols, (string_id)i + 1).bytes, bytes[i]);
        ck_assert_str_eq(bytes[i], name);
    }
    ck_assert_uint_eq(symbols_string_count(symbols), MANY + 1);
}
END_TEST

START_TEST(frames_differ_in_any_part)
{
    static const struct frame frames[] = {{1, 2, 3, 0}, {2, 1, 3, 0}, {1, 2, 4, 0},
                                          {1, 3, 3, 0}, {2, 2, 3, 0}, {1, 2, 3, 1}};
    size_t count = sizeof(frames) / sizeof(frames[0]);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < count; i++) {
            frame_id id;
            ck_assert(symbols_frame(symbols, frames[i], &id, &err));
            ck_assert_uint_eq(id, i);
        }
    }
    ck_assert_uint_eq(symbols_frame_count(symbols), count);
    struct frame frame = symbols_frame_at(symbols, 1);
    ck_assert_uint_eq(frame.name, 2);
    ck_assert_uint_eq(frame.file, 1);
    ck_assert_uint_eq(frame.line, 3);
}
END_TEST

START_TEST(stacks_differ_in_order_and_length)
{
    static const frame_id frames[] = {5, 6, 5, 6};
    stack_id pair = stack(frames, 2), swapped = stack(frames + 1, 2), four = stack(frames, 4);
    ck_assert_uint_ne(pair, swapped);
    ck_assert_uint_ne(pair, four);
    ck_assert_uint_eq(stack(frames + 2, 2), pair);
    struct stack known = symbols_stack_at(symbols, four);
    ck_assert_uint_eq(known.count, 4);
    ck_assert_mem_eq(known.frames, frames, sizeof(frames));
}
END_TEST

START_TEST(many_stacks)
{
    frame_id frames[40];
    for (frame_id i = 0; i < 40; i++)
        frames[i] = i;
    for (int round = 0; round < 2; round++) {
        for (frame_id i = 0; i < MANY; i++) {
            frames[0] = i;
            ck_assert_uint_eq(stack(frames, 40), i + 1);
        }
    }
    ck_assert_uint_eq(symbols_stack_at(symbols, MANY).frames[0], MANY - 1);
}
END_TEST

/* At every limit: refused at some point, with nothing lost, and nothing kept afterwards. */
START_TEST(over_budget_is_refused_cleanly)
{
    for (size_t limit = 0; limit < 40000; limit += 997) {
        struct budget small = {.limit = limit};
        struct error refused = {0};
        struct symbols *few = symbols_create(&small, &refused);
        string_id added = 0, id = 0;
        char name[16];
        while (few) {
            int size = snprintf(name, sizeof(name), "%u", added);
            if (!symbols_string(few, name, (size_t)size, &id, &refused))
                break;
            added++;
        }
        ck_assert_int_eq(refused.status, STATUS_LIMIT);
        if (few) {
            ck_assert_uint_eq(id, added);
            ck_assert_uint_eq(symbols_string_count(few), added + 1);
        }
        symbols_destroy(few);
        ck_assert_uint_eq(small.used, 0);
    }
}
END_TEST

TCase *symbols_tests(void)
{
    TCase *tests = tcase_create("symbols");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, the_first_ids_are_empty);
    tcase_add_test(tests, strings_are_bytes);
    tcase_add_test(tests, many_strings_stay_where_they_are);
    tcase_add_test(tests, frames_differ_in_any_part);
    tcase_add_test(tests, stacks_differ_in_order_and_length);
    tcase_add_test(tests, many_stacks);
    tcase_add_test(tests, over_budget_is_refused_cleanly);
    return tests;
}
