#include "unit/decode/json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A snapshot with tokens of every kind. */
static const char sample[] =
    "{\"segments\": [{\"device\": 0, \"address\": 140000000000000, \"total_size\": 20, \"blocks\": "
    "[{\"size\": 20, \"state\": \"inactive\", \"frames\": []}]}], \"device_traces\": "
    "[[{\"action\": "
    "\"alloc\", \"addr\": 140000000000000, \"size\": 12345, \"time_us\": 1700000000000000, "
    "\"compile_context\": \"N/A \\ud83d\\ude00 \xc3\xa9\", \"x\": [true, null, -1.5e-3, {\"a\": "
    "NaN}], \"frames\": [{\"name\": \"f\", \"filename\": \"f.py\", \"line\": 1}, {\"name\": \"g\", "
    "\"filename\": \"f.py\", \"line\": 2}]}, {\"action\": \"alloc\", \"addr\": 1, \"size\": 2, "
    "\"frames\": [{\"name\": \"f\", \"filename\": \"f.py\", \"line\": 1}, {\"name\": \"g\", "
    "\"filename\": \"f.py\", \"line\": 2}]}]], \"allocator_settings\": {\"a\": {\"b\": 1.5}, "
    "\"c\": -Infinity}}";

static const char sample_rows[] =
    "segment 0 140000000000000 20 0 0 0 s0 p0,0\nblock 140000000000000 20 20 2\ntrace 0\n"
    "unknown event x\nevent 0 0 alloc 140000000000000 12345 t1700000000000000 "
    "context=N/A \xf0\x9f\x98\x80 \xc3\xa9 f@f.py:1 g@f.py:2\n"
    "event 0 0 alloc 1 2 f@f.py:1 g@f.py:2\nsetting a.b=1.5\nsetting c=-inf\n";

/* Tests each size of the buffer, since its end may fall on any byte. */
START_TEST(tokens_across_the_buffer)
{
    size_t size = sizeof(sample) - 1, most = SOURCE_WINDOW + 64;
    char *bytes = malloc(most + size);
    ck_assert_ptr_nonnull(bytes);
    memset(bytes, ' ', most);
    memcpy(bytes + most, sample, size);
    for (size_t space = most - size - 128; space <= most; space++) {
        struct rows_outcome outcome = json_rows(bytes + most - space, space + size, JSON_PLENTY);
        ck_assert_msg(outcome.ok, "%zu: %s", space, outcome.err.text);
        ck_assert_str_eq(outcome.rows.bytes, sample_rows);
        buffer_release(&outcome.rows);
    }
    free(bytes);
}
END_TEST

START_TEST(every_truncation_is_refused)
{
    for (size_t size = 0; size < sizeof(sample) - 1; size++) {
        struct rows_outcome outcome = json_rows(sample, size, JSON_PLENTY);
        ck_assert_msg(!outcome.ok, "taken: %zu bytes", size);
        ck_assert_int_eq(outcome.err.status, STATUS_BAD_INPUT);
        ck_assert(outcome.err.has_offset);
        ck_assert_uint_le(outcome.err.offset, size);
        buffer_release(&outcome.rows);
    }
}
END_TEST

/* Adds a string of `size` bytes. */
static void add_long_string(struct buffer *json, size_t size)
{
    buffer_putc(json, '"');
    for (size_t i = 0; i < size; i++)
        buffer_putc(json, (char)('a' + i % 26));
    buffer_putc(json, '"');
}

START_TEST(what_is_skipped_takes_no_memory)
{
    struct buffer json = BUFFER_INIT;
    buffer_puts(&json, "{\"x\":[");
    add_long_string(&json, (size_t)8 << 20);
    buffer_puts(&json, ",{");
    add_long_string(&json, (size_t)2 << 20);
    buffer_puts(&json, ":1}],\"segments\":[]}");
    struct rows_outcome outcome = json_rows(json.bytes, json.size, (size_t)512 << 10);
    ck_assert_msg(outcome.ok, "%s", outcome.err.text);
    buffer_release(&outcome.rows);
    buffer_release(&json);
}
END_TEST

START_TEST(what_is_kept_is_counted)
{
    struct buffer json = BUFFER_INIT;
    buffer_puts(&json, "{\"segments\":[],\"external_annotations\":[{\"name\":");
    add_long_string(&json, (size_t)2 << 20);
    buffer_puts(&json, ",\"stage\":\"START\"}]}");
    struct rows_outcome outcome = json_rows(json.bytes, json.size, (size_t)1 << 20);
    ck_assert(!outcome.ok);
    ck_assert_int_eq(outcome.err.status, STATUS_LIMIT);
    buffer_release(&outcome.rows);
    outcome = json_rows(json.bytes, json.size, JSON_PLENTY);
    ck_assert_msg(outcome.ok, "%s", outcome.err.text);
    ck_assert_uint_gt(outcome.rows.size, (size_t)2 << 20);
    buffer_release(&outcome.rows);
    buffer_release(&json);
}
END_TEST

/* More different frames than the decoder remembers must not change the rows. */
START_TEST(frame_memory_is_bounded)
{
    struct buffer json = BUFFER_INIT;
    buffer_puts(&json, "{\"device_traces\":[[");
    for (int i = 0; i < 150000; i++)
        buffer_printf(&json,
                      "%s{\"action\":\"alloc\",\"addr\":1,\"size\":1,\"frames\":[{\"name\":\"f\","
                      "\"filename\":\"a\",\"line\":%d}, {\"name\":\"g\",\"filename\":\"b\","
                      "\"line\":1}]}",
                      i > 0 ? "," : "", i);
    buffer_puts(&json, "]]}");
    struct rows_outcome outcome = json_rows(json.bytes, json.size, JSON_PLENTY);
    ck_assert_msg(outcome.ok, "%s", outcome.err.text);
    const char *row = strchr(outcome.rows.bytes, '\n') + 1;
    for (int i = 0; i < 150000; i++) {
        char expected[64];
        int size = snprintf(expected, sizeof(expected), "event 0 0 alloc 1 1 f@a:%d g@b:1\n", i);
        ck_assert_mem_eq(row, expected, (size_t)size);
        row += size;
    }
    buffer_release(&outcome.rows);
    buffer_release(&json);
}
END_TEST

TCase *json_stream_tests(void)
{
    TCase *tests = tcase_create("stream");
    tcase_add_test(tests, tokens_across_the_buffer);
    tcase_add_test(tests, every_truncation_is_refused);
    tcase_add_test(tests, what_is_skipped_takes_no_memory);
    tcase_add_test(tests, what_is_kept_is_counted);
    tcase_add_test(tests, frame_memory_is_bounded);
    return tests;
}
