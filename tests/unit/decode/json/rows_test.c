#include "unit/decode/json/json.h"

#include <string.h>

#define EVENTS(events)     "{\"device_traces\":[[" events "]]}"
#define SETTINGS(settings) "{\"segments\":[],\"allocator_settings\":" settings "}"

START_TEST(event_with_everything)
{
    json_check(EVENTS("{\"action\":\"alloc\",\"addr\":18446744073709551615,\"size\":512,"
                      "\"stream\":-3,\"time_us\":1700000000000000,\"compile_context\":\"N/A\","
                      "\"user_metadata\":\"m\",\"internal_metadata\":\"i\",\"category\":\"c\","
                      "\"pool_id\":[1, 2],"
                      "\"frames\":[{\"name\":\"f\",\"filename\":\"a.py\",\"line\":7}],"
                      "\"forward_frames\":[\"g\",\"h\"]}"),
               "trace 0\nevent 0 0 alloc 18446744073709551615 512 t1700000000000000 s-3 p1,2"
               " context=N/A metadata=m internal=i category=c f@a.py:7 forward g@:0 h@:0\n");
}
END_TEST

#define METADATA(value)    "{\"action\":\"alloc\",\"addr\":1,\"size\":7,\"user_metadata\":" value "}"
#define METADATA_ROW(text) "event 0 0 alloc 1 7 metadata=" text "\n"

/* The same texts as from a pickle. */
START_TEST(metadata_that_is_no_text)
{
    json_check(EVENTS(METADATA("5") "," METADATA("false") "," METADATA("1.5") "," METADATA(
                   "[1,null]") "," METADATA("{\"k\":1,\"m\":\"v\"}") "," METADATA("null")),
               "trace 0\n" METADATA_ROW("5") METADATA_ROW("False") METADATA_ROW("1.5")
                   METADATA_ROW("[1, None]")
                       METADATA_ROW("{'k': 1, 'm': 'v'}") "event 0 0 alloc 1 7\n");
}
END_TEST

START_TEST(metadata_that_is_deep)
{
    json_check(EVENTS(METADATA("[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]")),
               "trace 0\n" METADATA_ROW("[[[[[[[[[[[[[[[[[...]]]]]]]]]]]]]]]]]"));
}
END_TEST

/* The text is cut between two characters, and nothing follows but dots. */
START_TEST(metadata_that_is_long)
{
    struct buffer json = BUFFER_INIT, rows = BUFFER_INIT;
    buffer_puts(&json, "{\"device_traces\":[[{\"action\":\"alloc\",\"addr\":1,\"size\":7,"
                       "\"user_metadata\":[1,\"");
    buffer_puts(&rows, "trace 0\nevent 0 0 alloc 1 7 metadata=[1, '");
    for (int i = 0; i < 1000; i++) {
        buffer_puts(&json, "\xc3\xa9");
        if (i < (1024 - 5) / 2)
            buffer_puts(&rows, "\xc3\xa9");
    }
    buffer_puts(&json, "\",{\"a\":[2]},[],3]}]]}");
    buffer_puts(&rows, "...\n");
    json_check(json.bytes, rows.bytes);
    buffer_release(&json);
    buffer_release(&rows);
}
END_TEST

START_TEST(event_keys_in_any_order)
{
    json_check(EVENTS("{\"frames\":null,\"size\":1,\"time_us\":null,\"addr\":2,"
                      "\"action\":\"free_completed\",\"forward_frames\":\"line\"}"),
               "trace 0\nevent 0 2 free_completed 2 1 forward line@:0\n");
}
END_TEST

/* The C++ pickler casts addresses to signed integers; some vendors have one number for a pool. */
START_TEST(signed_addresses_and_single_pool_ids)
{
    json_check("{\"device_traces\":[[{\"action\":\"alloc\",\"addr\":-4096,\"size\":1,"
               "\"stream\":-2,\"pool_id\":7}]],\"segments\":[{\"device\":0,\"address\":-4096,"
               "\"total_size\":9,\"segment_pool_id\":3,\"blocks\":["
               "{\"address\":-4096,\"size\":9,\"state\":\"inactive\"}]}]}",
               "trace 0\nevent 0 0 alloc 18446744073709547520 1 s-2 p7,0\n"
               "segment 0 18446744073709547520 9 0 0 0 s0 p3,0\n"
               "block 18446744073709547520 9 9 2\n");
}
END_TEST

/* torch writes the outermost line of forward_frames first. In all other stacks the innermost comes
 * first. */
START_TEST(forward_frames_as_python_formats_them)
{
    json_check(EVENTS("{\"action\":\"alloc\",\"addr\":1,\"size\":1,\"forward_frames\":["
                      "\"  File \\\"t.py\\\", line 9, in <module>\\n    loss = m(x)\\n\","
                      "\"  File \\\"m.py\\\", line 3, in f\\n\"]}"),
               "trace 0\nevent 0 0 alloc 1 1 forward f@m.py:3 <module>@t.py:9\n");
}
END_TEST

START_TEST(last_of_equal_keys_counts)
{
    json_check(EVENTS("{\"action\":\"alloc\",\"addr\":1,\"size\":1,\"size\":2,\"addr\":3,"
                      "\"time_us\":4,\"time_us\":null,\"frames\":[\"a\"],\"frames\":[]}"),
               "trace 0\nevent 0 0 alloc 3 2\n");
}
END_TEST

START_TEST(events_without_address)
{
    json_check(EVENTS("{\"action\":\"oom\",\"device_free\":77,\"size\":1},"
                      "{\"action\":\"snapshot\"},"
                      "{\"action\":\"new_kind\",\"size\":5}"),
               "trace 0\nevent 0 7 oom 77 1\nevent 0 8 snapshot 0 0\nevent 0 10 new_kind 0 5\n");
}
END_TEST

START_TEST(traces_are_announced_even_if_empty)
{
    json_check("{\"device_traces\":[[],[{\"action\":\"alloc\",\"addr\":1,\"size\":1}],[]]}",
               "trace 0\ntrace 1\nevent 1 0 alloc 1 1\ntrace 2\n");
    json_check("{\"segments\":[],\"device_traces\":null}", "");
}
END_TEST

START_TEST(segment_of_today)
{
    json_check("{\"segments\":[{\"device\":1,\"address\":100,\"total_size\":30,"
               "\"allocated_size\":10,\"active_size\":20,\"requested_size\":9,\"stream\":4,"
               "\"segment_type\":\"small\",\"segment_pool_id\":[0,1],\"is_expandable\":true,"
               "\"frames\":[\"f\"],\"blocks\":["
               "{\"address\":100,\"size\":10,\"requested_size\":9,\"state\":\"active_allocated\","
               "\"frames\":[\"g\"]},"
               "{\"address\":110,\"size\":10,\"requested_size\":8,\"state\":"
               "\"active_awaiting_free\"},"
               "{\"address\":120,\"size\":10,\"requested_size\":0,\"state\":\"inactive\"}]}]}",
               "segment 1 100 30 10 20 9 s4 p0,1 expandable small f@:0\n"
               "block 100 10 9 0 g@:0\nblock 110 10 8 1\nblock 120 10 0 2\n");
}
END_TEST

START_TEST(host_memory_is_a_device)
{
    json_check("{\"host_traces\":[{\"action\":\"alloc\",\"addr\":1,\"size\":1}],"
               "\"host_segments\":[{\"device\":-1,\"address\":1,\"total_size\":1,"
               "\"blocks\":[{\"size\":1,\"state\":\"inactive\"}]}]}",
               "trace 4294967295\nevent 4294967295 0 alloc 1 1\n"
               "segment 4294967295 1 1 0 0 0 s0 p0,0\nblock 1 1 1 2\n");
    json_check("{\"segments\":[],\"host_traces\":[],\"host_segments\":null}", "trace 4294967295\n");
}
END_TEST

/* torch 2.0 writes blocks before the segment's address. Its blocks have no address and no
 * requested_size. */
START_TEST(segment_of_torch_2_0)
{
    json_check("[{\"blocks\":[{\"size\":10,\"state\":\"active_allocated\",\"history\":"
               "[{\"addr\":1,\"real_size\":7,\"frames\":[\"f\"]},{\"real_size\":1}]},"
               "{\"size\":20,\"state\":\"active_pending_free\",\"history\":[]},"
               "{\"size\":5,\"state\":\"inactive\"}],"
               "\"device\":0,\"address\":1000,\"total_size\":35}]",
               "segment 0 1000 35 0 0 0 s0 p0,0\n"
               "block 1000 10 7 0 f@:0\nblock 1010 20 20 1\nblock 1030 5 5 2\n");
}
END_TEST

START_TEST(bare_list_is_list_only)
{
    static const char list[] = " [ ] ", object[] = "\xef\xbb\xbf{\"segments\":[]}";
    struct rows_outcome outcome = json_rows(list, strlen(list), JSON_PLENTY);
    ck_assert(outcome.ok && outcome.decoded.list_only);
    ck_assert_int_eq(outcome.decoded.encoding, ENCODING_JSON);
    ck_assert_int_eq(outcome.decoded.protocol, -1);
    buffer_release(&outcome.rows);
    outcome = json_rows(object, strlen(object), JSON_PLENTY);
    ck_assert(outcome.ok && !outcome.decoded.list_only);
    buffer_release(&outcome.rows);
}
END_TEST

START_TEST(annotations)
{
    json_check("{\"segments\":[],\"external_annotations\":["
               "{\"stage\":\"START\",\"name\":\"a\",\"device\":0,\"time_us\":5},"
               "{\"name\":\"a\",\"device\":1,\"stage\":\"END\"}]}",
               "annotation 0 a 0 t5\nannotation 1 a 1\n");
}
END_TEST

START_TEST(settings_are_flat_and_pythonic)
{
    json_check(SETTINGS("{\"a\":true,\"b\":{\"1\":0.0,\"c\":{\"d\":-1,\"e\":{}},\"f\":null},"
                        "\"g\":1e-5,\"h\":\"text\",\"i\":[1,\"x'\",[2.5,{}],{\"k\":false}],"
                        "\"j\":1e400,\"l\":-0,\"m\":NaN,\"n\":-Infinity,\"o\":\"\"}"),
               "setting a=True\nsetting b.1=0.0\nsetting b.c.d=-1\nsetting b.f=None\n"
               "setting g=1e-05\nsetting h=text\nsetting i=[1, \"x'\", [2.5, {}], {'k': False}]\n"
               "setting j=inf\nsetting l=0\nsetting m=nan\nsetting n=-inf\nsetting o=\n");
    json_check(SETTINGS("{\"a\":1,\"b\":2,\"a\":3}"), "setting a=3\nsetting b=2\n");
    json_check(SETTINGS("{}"), "");
}
END_TEST

START_TEST(unknown_keys_are_told_once)
{
    json_check("{\"other_segments\":[[{}],\"\\\"]\",{\"a\":-1.5e3}],\"segments\":[],"
               "\"device_traces\":[["
               "{\"action\":\"alloc\",\"addr\":1,\"size\":1,\"x\":[]},"
               "{\"action\":\"alloc\",\"addr\":2,\"size\":1,\"x\":NaN,\"\\u0078\":0}]],"
               "\"x\":1,\"x\":2}",
               "unknown snapshot other_segments\ntrace 0\nunknown event x\n"
               "event 0 0 alloc 1 1\nevent 0 0 alloc 2 1\nunknown snapshot x\n");
}
END_TEST

START_TEST(strings_with_escapes)
{
    static const char json[] =
        SETTINGS("{\"a\":\"\\u00e9\\ud83d\\ude00\\n\\/\",\"b\":\"x\\ud800y\\udc00\\ud800\\ud83d"
                 "\\ude00\",\"c\":\"1\\u00002\",\"\\u0064\":\"\\\\\"}");
    static const char rows[] = "setting a=\xc3\xa9\xf0\x9f\x98\x80\n/\n"
                               "setting b=x\xed\xa0\x80y\xed\xb0\x80\xed\xa0\x80\xf0\x9f\x98\x80\n"
                               "setting c=1\0002\nsetting d=\\\n";
    struct rows_outcome outcome = json_rows(json, strlen(json), JSON_PLENTY);
    ck_assert_msg(outcome.ok, "%s", outcome.err.text);
    ck_assert_uint_eq(outcome.rows.size, sizeof(rows) - 1);
    ck_assert_mem_eq(outcome.rows.bytes, rows, sizeof(rows) - 1);
    buffer_release(&outcome.rows);
}
END_TEST

/* Frames that look alike to a quick scan must still be distinguished. */
START_TEST(frames_are_told_apart)
{
#define EVENT(frames)     "{\"action\":\"alloc\",\"addr\":1,\"size\":1,\"frames\":[" frames "]}"
#define FRAME(name, line) "{\"name\":\"" name "\",\"filename\":\"f\",\"line\":" line "}"
    json_check(
        EVENTS(EVENT(FRAME("a}", "1") "," FRAME("b", "2")) "," EVENT(FRAME("a}", "1") ",\n" FRAME("b", "3")) "," EVENT(
            FRAME(
                "a\\\"{",
                "1")) "," EVENT(FRAME("\\\\",
                                      "1") ", " FRAME("b",
                                                      "2")) "," EVENT(FRAME("\\\\",
                                                                            "1") ", " FRAME("b",
                                                                                            "2")) "," EVENT("{\"line\":-1,\"name\":null,\"more\":{\"name\":[\"z\"]}},\"s\"")),
        "trace 0\nevent 0 0 alloc 1 1 a}@f:1 b@f:2\nevent 0 0 alloc 1 1 a}@f:1 b@f:3\n"
        "event 0 0 alloc 1 1 a\"{@f:1\nevent 0 0 alloc 1 1 \\@f:1 b@f:2\n"
        "event 0 0 alloc 1 1 \\@f:1 b@f:2\nevent 0 0 alloc 1 1 @:0 s@:0\n");
}
END_TEST

TCase *json_rows_tests(void)
{
    TCase *tests = tcase_create("rows");
    tcase_add_test(tests, event_with_everything);
    tcase_add_test(tests, metadata_that_is_no_text);
    tcase_add_test(tests, metadata_that_is_deep);
    tcase_add_test(tests, metadata_that_is_long);
    tcase_add_test(tests, event_keys_in_any_order);
    tcase_add_test(tests, signed_addresses_and_single_pool_ids);
    tcase_add_test(tests, forward_frames_as_python_formats_them);
    tcase_add_test(tests, last_of_equal_keys_counts);
    tcase_add_test(tests, events_without_address);
    tcase_add_test(tests, traces_are_announced_even_if_empty);
    tcase_add_test(tests, segment_of_today);
    tcase_add_test(tests, host_memory_is_a_device);
    tcase_add_test(tests, segment_of_torch_2_0);
    tcase_add_test(tests, bare_list_is_list_only);
    tcase_add_test(tests, annotations);
    tcase_add_test(tests, settings_are_flat_and_pythonic);
    tcase_add_test(tests, unknown_keys_are_told_once);
    tcase_add_test(tests, strings_with_escapes);
    tcase_add_test(tests, frames_are_told_apart);
    return tests;
}
