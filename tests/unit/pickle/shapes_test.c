/* Snapshots in every shape a pickler gives them: one answer. */
#include <string.h>

#include "unit/pickle/pickle.h"

static void expect(const void *bytes, size_t size, const char *rows)
{
    struct outcome outcome = decode_rows(bytes, size, 0);
    ck_assert_msg(outcome.ok, "%s", outcome.err.text);
    ck_assert_str_eq(outcome.rows, rows);
}

/* Opcodes of the parts; no memo, every string written out. */
#define S4 "\x8c\x04"
#define KEY_ALLOC                                                                                  \
    "\x8c\x06"                                                                                     \
    "action\x8c\x05"                                                                               \
    "alloc"
#define KEY_FREE                                                                                   \
    "\x8c\x06"                                                                                     \
    "action\x8c\x0e"                                                                               \
    "free_completed"
#define ALLOC "}(" KEY_ALLOC S4 "addrM\0\x10" S4 "sizeK\x07u"
#define FREE  "}(" KEY_FREE S4 "addrM\0\x10" S4 "sizeK\x07u"
#define TRACES                                                                                     \
    "\x8c\x0d"                                                                                     \
    "device_traces"
#define SEGMENTS                                                                                   \
    "\x8c\x08"                                                                                     \
    "segments"
#define ROWS "trace 0\nevent 0 alloc 4096 7\nevent 0 free_completed 4096 7\n"

START_TEST(as_cpython_writes_it)
{
    expect(BYTES("\x80\x04}(" SEGMENTS "]" TRACES "](](" ALLOC FREE "e]eu."), ROWS "trace 1\n");
}
END_TEST

START_TEST(one_by_one_as_protocol_0_does)
{
    expect(BYTES("(d" SEGMENTS "(ls" TRACES "(l(l" ALLOC "a" FREE "aas."), ROWS);
}
END_TEST

START_TEST(from_finished_parts)
{
    expect(BYTES("(" SEGMENTS "(l" TRACES "((" ALLOC FREE "lld."), ROWS);
    expect(BYTES("(" SEGMENTS ")" TRACES ALLOC FREE "\x86\x85"
                 "d."),
           ROWS);
}
END_TEST

START_TEST(in_several_batches)
{
    expect(BYTES("}(" TRACES "](](" ALLOC "e(" FREE "eeu."), ROWS);
}
END_TEST

START_TEST(a_single_event)
{
    expect(BYTES("}(" TRACES "]]" ALLOC "aau."), "trace 0\nevent 0 alloc 4096 7\n");
}
END_TEST

/* An event object that stands in the trace again is a reference to the first. */
START_TEST(the_same_event_twice)
{
    expect(BYTES("}(" TRACES "](](}\x94(" KEY_ALLOC S4 "addrK\x01" S4 "sizeK\x07uh\0eeu."),
           "trace 0\nevent 0 alloc 1 7\nagain 0 0\n");
}
END_TEST

START_TEST(one_empty_list_for_all_devices)
{
    expect(BYTES("}(" TRACES "](]\x94h\0h\0eu."), "trace 0\ntrace 1\ntrace 2\n");
}
END_TEST

START_TEST(every_field_of_an_event)
{
    expect(BYTES("}(" TRACES "](](}(" KEY_ALLOC S4 "addr\x8a\x09\0\0\0\0\0\0\xff\xff\0" S4
                 "sizeK\x07\x8c\x06stream\x8a\x01\x03\x8c\x07time_us\x8a\x02\0\x10\x8c\x07pool_"
                 "idK\x02K\x03"
                 "\x86\x8c\x0f"
                 "compile_context\x8c\x03N/A\x8c\x06"
                 "frames](}(\x8c\x04name\x8c\x01"
                 "f"
                 "\x8c\x08"
                 "filename\x8c\x04"
                 "a.py\x8c\x04lineK\x09ueueeu."),
           "trace 0\nevent 0 alloc 18446462598732840960 7 t4096 s3 p2,3 c'N/A' f@a.py:9\n");
}
END_TEST

START_TEST(frames_by_reference_and_again)
{
    /* The frame is memoized as 0; three lists name it by bytes alone, one by APPEND. */
    expect(BYTES("}(" TRACES "](](}(" KEY_ALLOC S4 "addrK\x01" S4 "sizeK\x07\x8c\x06"
                 "frames"
                 "](}\x94(\x8c\x04name\x8c\x01"
                 "f\x8c\x08"
                 "filename\x8c\x04"
                 "a.py\x8c\x04lineK\x09ueu"
                 "}(" KEY_ALLOC S4 "addrK\x02" S4 "sizeK\x07\x8c\x06"
                 "frames](h\0h\0eu"
                 "}(" KEY_ALLOC S4 "addrK\x03" S4 "sizeK\x07\x8c\x06"
                 "frames](h\0h\0eu"
                 "}(" KEY_ALLOC S4 "addrK\x04" S4 "sizeK\x07\x8c\x06"
                 "frames](h\0h\0e(h\0eu"
                 "}(" KEY_ALLOC S4 "addrK\x05" S4 "sizeK\x07\x8c\x06"
                 "frames]h\0au"
                 "eeu."),
           "trace 0\nevent 0 alloc 1 7 f@a.py:9\nevent 0 alloc 2 7 f@a.py:9 f@a.py:9\n"
           "event 0 alloc 3 7 f@a.py:9 f@a.py:9\nevent 0 alloc 4 7 f@a.py:9 f@a.py:9 f@a.py:9\n"
           "event 0 alloc 5 7 f@a.py:9\n");
}
END_TEST

/* What a list's bytes mean changes when a memo entry is overwritten. */
START_TEST(frames_after_a_memo_entry_changed)
{
    expect(BYTES("}(" TRACES "](](}(" KEY_ALLOC S4 "addrK\x01" S4 "sizeK\x07\x8c\x06"
                 "frames"
                 "](}(\x8c\x04name\x8c\x01"
                 "fuq\0eu"
                 "}(" KEY_ALLOC S4 "addrK\x02" S4 "sizeK\x07\x8c\x06"
                 "frames](h\0eu"
                 "}(" KEY_ALLOC S4 "addrK\x03" S4 "sizeK\x07\x8c\x06"
                 "frames](}(\x8c\x04name\x8c\x01"
                 "guq\0eu"
                 "}(" KEY_ALLOC S4 "addrK\x04" S4 "sizeK\x07\x8c\x06"
                 "frames](h\0eueeu."),
           "trace 0\nevent 0 alloc 1 7 f@:0\nevent 0 alloc 2 7 f@:0\nevent 0 alloc 3 7 g@:0\n"
           "event 0 alloc 4 7 g@:0\n");
}
END_TEST

START_TEST(legacy_blocks)
{
    expect(
        BYTES("](}(\x8c\x06"
              "deviceK\0\x8c\x07"
              "addressM\0\x10\x8c\x0atotal_sizeM\0\x08\x8c\x06"
              "blocks]("
              "}(" S4 "sizeM\0\x04\x8c\x05state\x8c\x10"
              "active_allocated\x8c\x07history](}(" S4
              "addrM\0\x10\x8c\x09real_sizeM\xe8\x03\x8c\x06"
              "frames](}(\x8c\x04name\x8c\x01"
              "fueueu"
              "}(" S4 "sizeM\0\x04\x8c\x05state\x8c\x14"
              "active_awaiting_freeu"
              "eue."),
        "segment 0 4096 2048\nblock 4096 1024 1000 allocated f@:0\nblock 5120 1024 1024 pending\n");
}
END_TEST

START_TEST(a_bare_list_is_list_only)
{
    struct outcome outcome = decode_rows(BYTES("]."), 0);
    ck_assert(outcome.ok);
    ck_assert(outcome.decoded.list_only);
    ck_assert_int_eq(outcome.decoded.protocol, 1);
}
END_TEST

START_TEST(unknown_keys_are_told_once)
{
    expect(BYTES("}(" SEGMENTS "]\x8c\x0dhost_segments]" TRACES "](](}(" KEY_ALLOC S4 "addrK\x01" S4
                 "sizeK\x07\x8c\x03newK\x01u}(" KEY_ALLOC S4 "addrK\x01" S4
                 "sizeK\x07\x8c\x03newK\x01u"
                 "}(" KEY_ALLOC S4 "addrK\x01" S4 "sizeK\x07\x8c\x03new}ueeu."),
           "trace 0\nunknown event new\nevent 0 alloc 1 7\nevent 0 alloc 1 7\nevent 0 alloc 1 7\n"
           "unknown snapshot host_segments\n");
}
END_TEST

START_TEST(oom_has_device_free)
{
    expect(BYTES("}(" TRACES "](](}(\x8c\x06"
                 "action\x8c\x03oom\x8c\x0b"
                 "device_freeM\0\x10" S4 "sizeK\x07u}(\x8c\x06"
                 "action\x8c\x08snapshot\x8c\x05otherNu"
                 "}(\x8c\x06"
                 "action\x8c\x06"
                 "dancedu"
                 "eeu."),
           "trace 0\nevent 0 oom 4096 7\nunknown event other\nevent 0 snapshot 0 0\n"
           "event 0 danced 0 0\n");
}
END_TEST

TCase *shapes_tests(void)
{
    TCase *tests = tcase_create("shapes");
    tcase_add_test(tests, as_cpython_writes_it);
    tcase_add_test(tests, one_by_one_as_protocol_0_does);
    tcase_add_test(tests, from_finished_parts);
    tcase_add_test(tests, in_several_batches);
    tcase_add_test(tests, a_single_event);
    tcase_add_test(tests, the_same_event_twice);
    tcase_add_test(tests, one_empty_list_for_all_devices);
    tcase_add_test(tests, every_field_of_an_event);
    tcase_add_test(tests, frames_by_reference_and_again);
    tcase_add_test(tests, frames_after_a_memo_entry_changed);
    tcase_add_test(tests, legacy_blocks);
    tcase_add_test(tests, a_bare_list_is_list_only);
    tcase_add_test(tests, unknown_keys_are_told_once);
    tcase_add_test(tests, oom_has_device_free);
    return tests;
}
