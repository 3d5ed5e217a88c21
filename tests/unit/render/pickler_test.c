#include <stdlib.h>
#include <string.h>

#include "base/traceback.h"
#include "render/export/pickler.h"
#include "unit/render/render.h"

/* A pickle being written to memory. */
struct fixture {
    struct budget budget;
    struct symbols *symbols;
    struct pickler pickle;
    FILE *out;
    char *bytes;
    size_t size;
};

static void begin(struct fixture *fixture)
{
    struct error err;
    *fixture = (struct fixture){.budget = {.limit = 1 << 20}};
    fixture->symbols = symbols_create(&fixture->budget, &err);
    fixture->out = open_memstream(&fixture->bytes, &fixture->size);
    ck_assert(fixture->symbols && fixture->out);
    ck_assert(
        pickler_begin(&fixture->pickle, fixture->out, fixture->symbols, &fixture->budget, &err));
}

static void finish(struct fixture *fixture)
{
    struct error err;
    ck_assert(pickler_end(&fixture->pickle, &err));
    pickler_release(&fixture->pickle);
    fclose(fixture->out);
}

static void release(struct fixture *fixture)
{
    symbols_destroy(fixture->symbols);
    free(fixture->bytes);
    ck_assert_uint_eq(fixture->budget.used, 0);
}

/* `wanted`: the contents of the only frame, without the STOP. */
static void expect(struct fixture *fixture, const char *wanted, size_t size)
{
    char header[11] = "\x80\x04\x95";
    header[3] = (char)(size + 1);
    finish(fixture);
    ck_assert_uint_eq(fixture->size, sizeof(header) + size + 1);
    ck_assert_mem_eq(fixture->bytes, header, sizeof(header));
    ck_assert_mem_eq(fixture->bytes + sizeof(header), wanted, size);
    ck_assert_int_eq(fixture->bytes[fixture->size - 1], '.');
    release(fixture);
}

#define EXPECT(fixture, literal) expect(fixture, literal, sizeof(literal) - 1)

START_TEST(numbers_take_what_they_need)
{
    struct fixture fixture;
    begin(&fixture);
    pickler_count(&fixture.pickle, 255);
    pickler_count(&fixture.pickle, 256);
    pickler_count(&fixture.pickle, INT32_MAX);
    pickler_count(&fixture.pickle, (uint64_t)INT32_MAX + 1);
    pickler_count(&fixture.pickle, UINT64_MAX);
    pickler_integer(&fixture.pickle, -1);
    pickler_integer(&fixture.pickle, INT32_MIN);
    pickler_integer(&fixture.pickle, (int64_t)INT32_MIN - 1);
    pickler_integer(&fixture.pickle, INT64_MIN);
    EXPECT(&fixture, "K\xff"
                     "M\x00\x01"
                     "J\xff\xff\xff\x7f"
                     "\x8a\x05\x00\x00\x00\x80\x00"
                     "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00"
                     "J\xff\xff\xff\xff"
                     "J\x00\x00\x00\x80"
                     "\x8a\x05\xff\xff\xff\x7f\xff"
                     "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80");
}
END_TEST

START_TEST(what_comes_again_is_a_reference)
{
    struct fixture fixture;
    struct error err;
    string_id name;
    frame_id frame;
    stack_id stack;
    begin(&fixture);
    ck_assert(symbols_string(fixture.symbols, "f", 1, &name, &err));
    ck_assert(symbols_frame(fixture.symbols, (struct frame){.name = name, .file = name, .line = 7},
                            &frame, &err));
    ck_assert(symbols_stack(fixture.symbols, (frame_id[]){frame, frame}, 2, &stack, &err));
    pickler_dict_begin(&fixture.pickle);
    pickler_word(&fixture.pickle, WORD_SIZE);
    ck_assert(pickler_stack(&fixture.pickle, stack, &err));
    pickler_word(&fixture.pickle, WORD_SIZE);
    ck_assert(pickler_stack(&fixture.pickle, stack, &err));
    pickler_dict_end(&fixture.pickle);
    EXPECT(&fixture, "}(\x8c\x04size\x94]\x94(}\x94(\x8c\x04name\x94\x8c\x01"
                     "f\x94\x8c\x08"
                     "filename\x94h\x04\x8c\x04line\x94K\x07uh\x02"
                     "eh\x00h\x01u");
}
END_TEST

/* As in the file: strings, the outermost first. */
START_TEST(formatted_frames_are_written_as_strings)
{
    static const char outer[] = "File \"a\", line 1, in f", inner[] = "File \"b\", line 2, in g";
    struct fixture fixture;
    struct error err;
    string_id texts[2];
    frame_id frames[2];
    stack_id stack;
    begin(&fixture);
    struct traceback_frames lines = {.symbols = fixture.symbols, .budget = &fixture.budget};
    ck_assert(symbols_string(fixture.symbols, outer, sizeof(outer) - 1, &texts[0], &err));
    ck_assert(symbols_string(fixture.symbols, inner, sizeof(inner) - 1, &texts[1], &err));
    for (size_t i = 0; i < 2; i++)
        ck_assert(traceback_frame(&lines, texts[i], &frames[i], &err));
    traceback_order(fixture.symbols, frames, 2);
    ck_assert(symbols_stack(fixture.symbols, frames, 2, &stack, &err));
    ck_assert(pickler_stack(&fixture.pickle, stack, &err));
    traceback_frames_release(&lines);
    EXPECT(&fixture, "]\x94(\x8c\x16"
                     "File \"a\", line 1, in f\x94\x8c\x16"
                     "File \"b\", line 2, in g\x94"
                     "e");
}
END_TEST

START_TEST(text_that_is_none_is_replaced)
{
    struct fixture fixture;
    begin(&fixture);
    pickler_text(&fixture.pickle, (struct text){"a\xff\xed\xa0\x80\xc3", 6});
    EXPECT(&fixture, "\x8c\x0a"
                     "a\xef\xbf\xbd\xed\xa0\x80\xef\xbf\xbd");
}
END_TEST

START_TEST(long_lists_come_in_batches)
{
    struct fixture fixture;
    struct pickler_list list;
    begin(&fixture);
    pickler_list_begin(&fixture.pickle, &list);
    for (int i = 0; i < 1001; i++) {
        pickler_item(&fixture.pickle, &list);
        pickler_none(&fixture.pickle);
    }
    pickler_list_end(&fixture.pickle, &list);
    finish(&fixture);
    ck_assert_mem_eq(fixture.bytes + 11, "](NN", 4);
    ck_assert_mem_eq(fixture.bytes + fixture.size - 7, "NNe(Ne.", 7);
    release(&fixture);
}
END_TEST

/* Frames end between values, and a text longer than a frame is written between two frames. */
START_TEST(frames_are_of_bounded_size)
{
    static char text[200000];
    struct fixture fixture;
    size_t at = 2, frames = 0, longest = 0;
    memset(text, 'x', sizeof(text));
    begin(&fixture);
    for (size_t size = 1; size < sizeof(text); size += size / 2 + 1)
        pickler_text(&fixture.pickle, (struct text){text, size});
    finish(&fixture);
    while (at < fixture.size) {
        uint32_t size;
        bool is_frame = (uint8_t)fixture.bytes[at] == 0x95;
        memcpy(&size, fixture.bytes + at + 1, sizeof(size));
        ck_assert(is_frame || (fixture.bytes[at] == 'X' && size > 65536));
        frames += is_frame;
        longest = is_frame && size > longest ? size : longest;
        at += size + (is_frame ? 9 : 5);
    }
    ck_assert_uint_eq(at, fixture.size);
    ck_assert_uint_gt(frames, 1);
    ck_assert_uint_lt(longest, 2 * 65536);
    release(&fixture);
}
END_TEST

TCase *pickler_tests(void)
{
    TCase *tests = tcase_create("pickler");
    tcase_add_test(tests, numbers_take_what_they_need);
    tcase_add_test(tests, what_comes_again_is_a_reference);
    tcase_add_test(tests, formatted_frames_are_written_as_strings);
    tcase_add_test(tests, text_that_is_none_is_replaced);
    tcase_add_test(tests, long_lists_come_in_batches);
    tcase_add_test(tests, frames_are_of_bounded_size);
    return tests;
}
