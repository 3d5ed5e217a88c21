#include "unit/decode/json/json.h"

#include <stdlib.h>
#include <string.h>

#define BAD(json, offset, text) json_check_refused(json, STATUS_BAD_INPUT, offset, text)

START_TEST(structure)
{
    BAD("", 0, "expected an object or an array, found the end of the file");
    BAD("{}", 0, "no key 'segments' or 'device_traces'");
    BAD("{\"segments\":[]} x", 16, "expected the end of the file, found 'x'");
    BAD("{\"segments\":[],}", 15, "expected a key in double quotes, found '}'");
    BAD("{\"segments\":[{},]}", 13, "a segment without 'device'");
    BAD("{\"segments\" []}", 12, "expected ':', found an array");
    BAD("{\"segments\":[] \"a\":1}", 15, "expected ',' or '}', found a string");
    BAD("{\"segments\":{}}", 12, "expected segments (an array), found an object");
    BAD("{\"segments\":[],\"segments\":[]}", 15, "a second 'segments'");
    BAD("{\"segments\":[],\"a\":[1,]}", 22, "expected a value, found ']'");
    BAD("{\"segments\":[],\"a\":nul}", 19, "expected a value, found null");
    BAD("{\"segments\":[],\"a\":01}", 20, "expected ',' or '}', found a number");
    BAD("{\"segments\":[],\"a\":-}", 19, "expected a number");
    BAD("{\"segments\":[],\"a\":1.}", 20, "expected ',' or '}', found '.'");
    BAD("[1]", 1, "expected a segment (an object), found a number");
    BAD("[[0], [0]]", 1, "expected a segment (an object), found an array");
}
END_TEST

START_TEST(events)
{
#define EVENT(members) "{\"device_traces\":[[{" members "}]]}" /* the event is at 19 */
    BAD("{\"device_traces\":[{}]}", 18, "expected a list of events, found an object");
    BAD(EVENT("\"addr\":1,\"size\":1"), 19, "an event without 'action'");
    BAD(EVENT("\"action\":\"alloc\",\"addr\":1"), 19, "an event without 'size'");
    BAD(EVENT("\"action\":\"alloc\",\"size\":1"), 19, "an event without 'addr'");
    BAD(EVENT("\"action\":1"), 29, "expected a string for action, found a number");
    BAD(EVENT("\"action\":null"), 19, "an event without 'action'");
    BAD(EVENT("\"size\":-1"), 27, "expected an integer from 0 for size, found a negative number");
    BAD(EVENT("\"size\":\"1\""), 27, "found a string");
    BAD(EVENT("\"size\":1.0"), 27, "found a number that is not whole");
    BAD(EVENT("\"addr\":18446744073709551616"), 27, "found a number beyond 64 bits");
    BAD(EVENT("\"time_us\":9223372036854775808"), 30, "found a number beyond 63 bits");
    BAD(EVENT("\"time_us\":-9223372036854775809"), 30, "found a number beyond 63 bits");
    BAD(EVENT("\"pool_id\":[1]"), 30, "an array of another length");
    BAD(EVENT("\"pool_id\":[1,2,3]"), 30, "an array of another length");
    BAD(EVENT("\"frames\":{}"), 29, "expected frames (an array), found an object");
    BAD(EVENT("\"frames\":[1]"), 30, "expected a frame (an object), found a number");
}
END_TEST

START_TEST(segments)
{
#define BLOCK(members)                                                                             \
    "[{\"device\":0,\"address\":18446744073709551615,\"total_size\":1,\"blocks\":[{" members "}]}" \
    "]"
    BAD("[{\"address\":1,\"total_size\":1,\"blocks\":[]}]", 1, "a segment without 'device'");
    BAD("[{\"device\":0,\"address\":1,\"total_size\":1}]", 1, "a segment without 'blocks'");
    BAD("[{\"device\":2147483648}]", 11, "found a number beyond 31 bits");
    BAD(BLOCK("\"state\":\"inactive\""), 69, "a block without 'size'");
    BAD(BLOCK("\"size\":1"), 69, "a block without 'state'");
    BAD(BLOCK("\"state\":\"idle\""), 78, "unknown block state 'idle'");
    BAD(BLOCK("\"size\":1,\"state\":\"inactive\""), 1, "blocks beyond the last address");
}
END_TEST

START_TEST(strings)
{
#define KEY(text) "{\"" text "\":1,\"segments\":[]}"
    BAD(KEY("a\xff"), 3, "invalid UTF-8");
    BAD(KEY("\xc0\x80"), 2, "invalid UTF-8");
    BAD(KEY("\xed\xa0\x80"), 2, "invalid UTF-8");
    BAD(KEY("\xf4\x90\x80\x80"), 2, "invalid UTF-8");
    BAD(KEY("a\nb"), 3, "control character 0x0a");
    BAD(KEY("a\\x"), 3, "bad escape");
    BAD(KEY("\\u12g4"), 2, "bad escape");
    BAD("{\"a", 3, "the file ends inside the string that begins at byte 1");
}
END_TEST

/* Nests `depth` arrays as the value of an unknown key, or of a setting. */
static void check_depth(const char *begin, size_t depth, bool taken)
{
    struct buffer json = BUFFER_INIT;
    buffer_puts(&json, begin);
    uint64_t offset = json.size + 1000;
    for (size_t i = 0; i < depth; i++)
        buffer_putc(&json, '[');
    if (taken) {
        buffer_putc(&json, '0');
        for (size_t i = 0; i < depth; i++)
            buffer_putc(&json, ']');
        buffer_puts(&json, begin[2] == 'x' ? "}" : "}}");
        struct rows_outcome outcome = json_rows(json.bytes, json.size, JSON_PLENTY);
        ck_assert_msg(outcome.ok, "%s", outcome.err.text);
        buffer_release(&outcome.rows);
    } else {
        json_check_refused(json.bytes, STATUS_LIMIT, offset, "nested more than 1000 levels deep");
    }
    buffer_release(&json);
}

START_TEST(depth_is_limited)
{
    check_depth("{\"segments\":[],\"x\":", 100000, false);
    check_depth("{\"segments\":[],\"allocator_settings\":{\"a\":", 100000, false);
    check_depth("{\"x\":1,\"segments\":[],\"y\":", 1000, true);
    check_depth("{\"segments\":[],\"allocator_settings\":{\"a\":", 1000, true);
}
END_TEST

START_TEST(lengths_are_limited)
{
    struct buffer json = BUFFER_INIT;
    buffer_puts(&json, "{\"segments\":[],\"allocator_settings\":{\"a\":");
    uint64_t offset = json.size;
    for (int i = 0; i < 1025; i++)
        buffer_putc(&json, '1');
    json_check_refused(json.bytes, STATUS_LIMIT, offset, "more than 1024 characters");
    json.size = offset;
    buffer_putc(&json, '"');
    for (int i = 0; i < 1100000; i++)
        buffer_putc(&json, 'a');
    buffer_putc(&json, '"');
    json_check_refused(json.bytes, STATUS_LIMIT, offset, "a value of more than 1048576 bytes");
    buffer_release(&json);
}
END_TEST

TCase *json_refusal_tests(void)
{
    TCase *tests = tcase_create("refusals");
    tcase_add_test(tests, structure);
    tcase_add_test(tests, events);
    tcase_add_test(tests, segments);
    tcase_add_test(tests, strings);
    tcase_add_test(tests, depth_is_limited);
    tcase_add_test(tests, lengths_are_limited);
    return tests;
}
