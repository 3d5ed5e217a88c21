#include "base/traceback.h"

#include <string.h>

#include "unit/base/base.h"

static struct budget budget;
static struct symbols *symbols;
static struct traceback_frames frames;

static void setup(void)
{
    struct error err;
    budget = (struct budget){.limit = 64 << 20};
    symbols = symbols_create(&budget, &err);
    frames = (struct traceback_frames){.symbols = symbols, .budget = &budget};
}

static void teardown(void)
{
    traceback_frames_release(&frames);
    symbols_destroy(symbols);
    ck_assert_uint_eq(budget.used, 0);
}

static frame_id frame_of(const char *bytes, size_t size)
{
    struct error err;
    string_id string;
    frame_id id, again;
    ck_assert(symbols_string(symbols, bytes, size, &string, &err));
    ck_assert(traceback_frame(&frames, string, &id, &err));
    ck_assert(traceback_frame(&frames, string, &again, &err));
    ck_assert_uint_eq(id, again);
    struct frame frame = symbols_frame_at(symbols, id);
    ck_assert_uint_eq(symbols_detail_at(symbols, frame.detail).text, string);
    return id;
}

static void check(const char *text, const char *name, const char *file, uint32_t line)
{
    struct frame frame = symbols_frame_at(symbols, frame_of(text, strlen(text)));
    ck_assert_str_eq(symbols_text(symbols, frame.name).bytes, name);
    ck_assert_str_eq(symbols_text(symbols, frame.file).bytes, file);
    ck_assert_uint_eq(frame.line, line);
}

START_TEST(a_line_of_code_becomes_a_frame)
{
    check("  File \"/a/model.py\", line 77, in attention\n    x = self.q(x)\n", "attention",
          "/a/model.py", 77);
    check("  File \"/a/model.py\", line 78, in attention\n", "attention", "/a/model.py", 78);
    check("File \"<string>\", line 1, in <module>", "<module>", "<string>", 1);
    check("\tFile \"C:\\u\\m.py\", line 4294967295, in f", "f", "C:\\u\\m.py", UINT32_MAX);
    check("  File \"m.py\", line 4", "", "m.py", 4); /* a SyntaxError has no function */
}
END_TEST

START_TEST(odd_names_are_kept)
{
    check("  File \"a\"b\", line 1, in f\", line 2, in g\n", "f\", line 2, in g", "a\"b", 1);
    check("  File \"\", line 1, in \n  x\n", "", "", 1);
    check("  File \"m.py\", line 4294967296, in f\n", "f", "m.py", 0);
    check("Traceback:\n  File \"m.py\", line 3, in f\n", "f", "m.py", 3);
}
END_TEST

START_TEST(other_strings_become_names)
{
    static const char *const others[] = {
        "  [Previous line repeated 3 more times]\n",
        "  File \"m.py\", line , in f\n",
        "  File \"m.py\", line -1, in f\n",
        "  File \"m.py\", line 3x, in f\n",
        "  File \"m.py\n\", line 3, in f\n",
        "  File \"m.py",
        "File",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        check(others[i], others[i], "", 0);
}
END_TEST

/* Quadratic time would take minutes. */
START_TEST(hostile_strings_take_linear_time)
{
    enum { SIZE = 4 << 20 };
    static const char *const units[] = {"\"", "\", line 1",           "File \"", "File \"\n", "\n",
                                        " ",  "  File \"m\", line 1x"};
    char *text = malloc(SIZE + 64);
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        size_t size = 8, unit = strlen(units[i]);
        memcpy(text, "  File \"", 8);
        for (; size < SIZE; size += unit)
            memcpy(text + size, units[i], unit);
        text[size++] = 'x';
        struct text rest = {text, size};
        struct traceback_line line;
        ck_assert(!traceback_next(&rest, &line));
        ck_assert_uint_eq(rest.size, 0);
    }
    free(text);
}
END_TEST

START_TEST(the_innermost_line_comes_first)
{
    static const char outer[] = "  File \"a.py\", line 1, in a\n",
                      inner[] = "  File \"b.py\", line 2, in b\n", repeated[] = "  [Previous line]";
    frame_id list[3] = {frame_of(outer, sizeof(outer) - 1), frame_of(inner, sizeof(inner) - 1),
                        frame_of(repeated, sizeof(repeated) - 1)};
    const frame_id wanted[3] = {list[2], list[1], list[0]};
    ck_assert(traceback_is_ordered(symbols, list, 3));
    traceback_order(symbols, list, 3);
    ck_assert_mem_eq(list, wanted, sizeof(list));
    traceback_order(symbols, list + 2, 1);
    ck_assert_uint_eq(list[2], wanted[2]);
}
END_TEST

START_TEST(other_lists_keep_their_order)
{
    struct error err;
    frame_id plain, list[2] = {frame_of("a", 1), frame_of("b", 1)}, mixed[2];
    const frame_id wanted[2] = {list[0], list[1]};
    traceback_order(symbols, list, 2);
    ck_assert_mem_eq(list, wanted, sizeof(list));
    ck_assert(symbols_frame(symbols, (struct frame){.line = 5}, &plain, &err));
    mixed[0] = frame_of("  File \"a.py\", line 1, in a\n", 28);
    mixed[1] = plain;
    traceback_order(symbols, mixed, 2);
    ck_assert_uint_eq(mixed[1], plain);
    ck_assert(!traceback_is_ordered(symbols, mixed, 0));
}
END_TEST

TCase *traceback_tests(void)
{
    TCase *tests = tcase_create("traceback");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_line_of_code_becomes_a_frame);
    tcase_add_test(tests, odd_names_are_kept);
    tcase_add_test(tests, other_strings_become_names);
    tcase_add_test(tests, hostile_strings_take_linear_time);
    tcase_add_test(tests, the_innermost_line_comes_first);
    tcase_add_test(tests, other_lists_keep_their_order);
    return tests;
}
