/* Snapshots in every shape in which picklers write them must give the same rows. */
#include <string.h>

#include "unit/decode/pickle/pickle.h"

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
#define ROWS "trace 0\nevent 0 0 alloc 4096 7\nevent 0 2 free_completed 4096 7\n"

START_TEST(as_cpython_writes_it)
{
    pickle_check(BYTES("\x80\x04}(" SEGMENTS "]" TRACES "](](" ALLOC FREE "e]eu."),
                 ROWS "trace 1\n");
}
END_TEST

START_TEST(one_by_one_as_protocol_0_does)
{
    pickle_check(BYTES("(d" SEGMENTS "(ls" TRACES "(l(l" ALLOC "a" FREE "aas."), ROWS);
}
END_TEST

START_TEST(from_finished_parts)
{
    pickle_check(BYTES("(" SEGMENTS "(l" TRACES "((" ALLOC FREE "lld."), ROWS);
    pickle_check(BYTES("(" SEGMENTS ")" TRACES ALLOC FREE "\x86\x85"
                       "d."),
                 ROWS);
}
END_TEST

START_TEST(in_several_batches)
{
    pickle_check(BYTES("}(" TRACES "](](" ALLOC "e(" FREE "eeu."), ROWS);
}
END_TEST

START_TEST(a_single_event)
{
    pickle_check(BYTES("}(" TRACES "]]" ALLOC "aau."), "trace 0\nevent 0 0 alloc 4096 7\n");
}
END_TEST

/* An event object that occurs in the trace again is a reference to the first. */
START_TEST(the_same_event_twice)
{
    pickle_check(BYTES("}(" TRACES "](](}\x94(" KEY_ALLOC S4 "addrK\x01" S4 "sizeK\x07uh\0eeu."),
                 "trace 0\nevent 0 0 alloc 1 7\nagain 0 0\n");
}
END_TEST

START_TEST(one_empty_list_for_all_devices)
{
    pickle_check(BYTES("}(" TRACES "](]\x94h\0h\0eu."), "trace 0\ntrace 1\ntrace 2\n");
}
END_TEST

START_TEST(every_field_of_an_event)
{
    pickle_check(
        BYTES("}(" TRACES "](](}(" KEY_ALLOC S4 "addr\x8a\x09\0\0\0\0\0\0\xff\xff\0" S4
              "sizeK\x07\x8c\x06stream\x8a\x01\x03\x8c\x07time_us\x8a\x02\0\x10\x8c\x07pool_"
              "idK\x02K\x03"
              "\x86\x8c\x0f"
              "compile_context\x8c\x03N/A\x8c\x06"
              "frames](}(\x8c\x04name\x8c\x01"
              "f"
              "\x8c\x08"
              "filename\x8c\x04"
              "a.py\x8c\x04lineK\x09ueueeu."),
        "trace 0\nevent 0 0 alloc 18446462598732840960 7 t4096 s3 p2,3 context=N/A f@a.py:9\n");
}
END_TEST

START_TEST(frames_by_reference_and_again)
{
    /* The frame is memoized as 0; three lists name it by bytes alone, one by APPEND. */
    pickle_check(
        BYTES("}(" TRACES "](](}(" KEY_ALLOC S4 "addrK\x01" S4 "sizeK\x07\x8c\x06"
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
        "trace 0\nevent 0 0 alloc 1 7 f@a.py:9\nevent 0 0 alloc 2 7 f@a.py:9 f@a.py:9\n"
        "event 0 0 alloc 3 7 f@a.py:9 f@a.py:9\nevent 0 0 alloc 4 7 f@a.py:9 f@a.py:9 f@a.py:9\n"
        "event 0 0 alloc 5 7 f@a.py:9\n");
}
END_TEST

/* A FRAME may occur between any two opcodes. */
START_TEST(frames_in_frames)
{
#define FRAME "\x95\0\0\0\0\0\0\0\0"
    pickle_check(
        BYTES("}(" TRACES "](](}(" KEY_ALLOC S4 "addrK\x01" S4 "sizeK\x07\x8c\x06"
              "frames]" FRAME "\x94" FRAME "(" FRAME "}" FRAME "\x94" FRAME "(" FRAME
              "\x8c\x04name" FRAME "\x8c\x01"
              "f" FRAME "\x8c\x08"
              "filename" FRAME "\x8c\x04"
              "a.py" FRAME "\x8c\x04line" FRAME "K\x09" FRAME "u" FRAME "e" FRAME "(" FRAME
              "h\x01" FRAME "e" FRAME "u" FRAME "}(" KEY_ALLOC S4 "addrK\x02" S4 "sizeK\x07\x8c\x06"
              "frames](h\x01h\x01"
              "e" FRAME "u" FRAME "}(" KEY_ALLOC S4 "addrK\x03" S4 "sizeK\x07\x8c\x06"
              "frames](h\x01h\x01"
              "e" FRAME "(h\x01"
              "eu" FRAME "eeu."),
        "trace 0\nevent 0 0 alloc 1 7 f@a.py:9 f@a.py:9\nevent 0 0 alloc 2 7 f@a.py:9 f@a.py:9\n"
        "event 0 0 alloc 3 7 f@a.py:9 f@a.py:9 f@a.py:9\n");
#undef FRAME
}
END_TEST

#define METADATA(value)    "}(" KEY_ALLOC S4 "addrK\x01" S4 "sizeK\x07\x8c\x0duser_metadata" value "u"
#define METADATA_ROW(text) "event 0 0 alloc 1 7 metadata=" text "\n"

/* Programs put values of any kind there. */
START_TEST(metadata_that_is_no_text)
{
    pickle_check(BYTES("}(" TRACES "](](" METADATA("K\x05") METADATA("\x89")
                           METADATA("G?\xf8\0\0\0\0\0\0") METADATA("C\x03r'\xff")
                               METADATA("](K\x01Ne") METADATA("}(\x8c\x01kK\x01\x8c\x01m\x8c\x01vu")
                                   METADATA("K\x01K\x02\x86") METADATA("N") "eeu."),
                 "trace 0\n" METADATA_ROW("5") METADATA_ROW("False") METADATA_ROW("1.5")
                     METADATA_ROW("b\"r'\\xff\"") METADATA_ROW("[1, None]")
                         METADATA_ROW("{'k': 1, 'm': 'v'}")
                             METADATA_ROW("[1, 2]") "event 0 0 alloc 1 7\n");
}
END_TEST

START_TEST(metadata_that_contains_itself)
{
    pickle_check(BYTES("}(" TRACES "](](" METADATA("]\x94h\0a") "eeu."),
                 "trace 0\n" METADATA_ROW("[[[[[[[[[[[[[[[[[...]]]]]]]]]]]]]]]]]"));
}
END_TEST

/* A list that goes on growing after an event has it. */
START_TEST(metadata_that_changes)
{
#define SAME METADATA("h\0")
    pickle_check(
        BYTES("}(" TRACES "](](" METADATA("]\x94") SAME SAME METADATA("h\0K\1a") SAME "eeu."),
        "trace 0\n" METADATA_ROW("[]") METADATA_ROW("[]") METADATA_ROW("[]") METADATA_ROW("[1]")
            METADATA_ROW("[1]"));
#undef SAME
}
END_TEST

/* The text is cut between two characters. */
START_TEST(metadata_that_is_long)
{
    struct buffer pickle = BUFFER_INIT, rows = BUFFER_INIT;
    buffer_add(&pickle, BYTES("}(" TRACES "](](}(" KEY_ALLOC S4 "addrK\x01" S4
                              "sizeK\x07\x8c\x0duser_metadata](K\x01X\xd0\x07\0\0"));
    buffer_puts(&rows, "trace 0\nevent 0 0 alloc 1 7 metadata=[1, '");
    for (int i = 0; i < 1000; i++) {
        buffer_puts(&pickle, "\xc3\xa9");
        if (i < (1024 - 5) / 2)
            buffer_puts(&rows, "\xc3\xa9");
    }
    buffer_puts(&pickle, "eueeu.");
    buffer_puts(&rows, "...\n");
    pickle_check(pickle.bytes, pickle.size, rows.bytes);
    buffer_release(&pickle);
    buffer_release(&rows);
}
END_TEST

/* The meaning of a list's bytes changes when a memo entry is overwritten. */
START_TEST(frames_after_a_memo_entry_changed)
{
    pickle_check(
        BYTES("}(" TRACES "](](}(" KEY_ALLOC S4 "addrK\x01" S4 "sizeK\x07\x8c\x06"
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
        "trace 0\nevent 0 0 alloc 1 7 f@:0\nevent 0 0 alloc 2 7 f@:0\nevent 0 0 alloc 3 7 g@:0\n"
        "event 0 0 alloc 4 7 g@:0\n");
}
END_TEST

START_TEST(legacy_blocks)
{
    pickle_check(
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
        "segment 0 4096 2048 0 0 0 s0 p0,0\nblock 4096 1024 1000 0 f@:0\nblock 5120 1024 1024 1\n");
}
END_TEST

START_TEST(a_bare_list_is_list_only)
{
    struct decoded decoded;
    struct error err = pickle_end(BYTES("]."), PLENTY, &decoded);
    ck_assert_int_eq(err.status, STATUS_OK);
    ck_assert(decoded.list_only);
    ck_assert_int_eq(decoded.protocol, 1);
}
END_TEST

START_TEST(unknown_keys_are_told_once)
{
    pickle_check(BYTES("}(" SEGMENTS "]\x8c\x0eother_segments]" TRACES "](](}(" KEY_ALLOC S4
                       "addrK\x01" S4 "sizeK\x07\x8c\x03newK\x01u}(" KEY_ALLOC S4 "addrK\x01" S4
                       "sizeK\x07\x8c\x03newK\x01u"
                       "}(" KEY_ALLOC S4 "addrK\x01" S4 "sizeK\x07\x8c\x03new}ueeu."),
                 "trace 0\nunknown event new\nevent 0 0 alloc 1 7\nevent 0 0 alloc 1 7\nevent 0 0 "
                 "alloc 1 7\n"
                 "unknown snapshot other_segments\n");
}
END_TEST

START_TEST(oom_has_device_free)
{
    pickle_check(BYTES("}(" TRACES "](](}(\x8c\x06"
                       "action\x8c\x03oom\x8c\x0b"
                       "device_freeM\0\x10" S4 "sizeK\x07u}(\x8c\x06"
                       "action\x8c\x08snapshot\x8c\x05otherNu"
                       "}(\x8c\x06"
                       "action\x8c\x06"
                       "dancedu"
                       "eeu."),
                 "trace 0\nevent 0 7 oom 4096 7\nunknown event other\nevent 0 8 snapshot 0 0\n"
                 "event 0 10 danced 0 0\n");
}
END_TEST

START_TEST(signed_addresses_and_single_pool_ids)
{
    pickle_check(BYTES("}(" TRACES "](](}(" KEY_ALLOC S4 "addr\x8a\x02\0\xf0" S4
                       "sizeK\x07\x8c\x07pool_idK\x05u}(" KEY_ALLOC S4 "addrJ\0\xf0\xff\xff" S4
                       "sizeK\x07\x8c\x07pool_idK\x05K\x06\x86ueeu."),
                 "trace 0\nevent 0 0 alloc 18446744073709547520 7 p5,0\n"
                 "event 0 0 alloc 18446744073709547520 7 p5,6\n");
}
END_TEST

#define HOST_TRACES                                                                                \
    "\x8c\x0b"                                                                                     \
    "host_traces"
#define HOST_SEGMENTS                                                                              \
    "\x8c\x0d"                                                                                     \
    "host_segments"

START_TEST(host_memory_is_a_device)
{
    static const char rows[] = "trace 4294967295\nevent 4294967295 0 alloc 4096 7\n"
                               "event 4294967295 2 free_completed 4096 7\n",
                      both[] = "trace 0\nevent 0 0 alloc 4096 7\ntrace 4294967295\n"
                               "event 4294967295 2 free_completed 4096 7\n";
    pickle_check(BYTES("}(" HOST_SEGMENTS "]" HOST_TRACES "](" ALLOC FREE "eu."), rows);
    pickle_check(BYTES("(" HOST_TRACES "(" ALLOC FREE "ld."), rows);
    pickle_check(BYTES("}" HOST_TRACES "](" ALLOC "e(" FREE "es."), rows);
    pickle_check(BYTES("}(" TRACES "]](" ALLOC "ea" HOST_TRACES "]" FREE "a" HOST_SEGMENTS "Nu."),
                 both);
}
END_TEST

#define FORWARD                                                                                    \
    "\x8c\x0e"                                                                                     \
    "forward_frames"
#define OUTER "X\x1f\0\0\0  File \"t.py\", line 9, in run\n "
#define INNER "\x8c\x1c  File \"m.py\", line 3, in f\n"

/* In each pickle, the first bytes of the list could also be the next key of the event. */
START_TEST(forward_frames_as_python_formats_them)
{
    static const char both[] = "trace 0\nevent 0 0 alloc 1 7 forward f@m.py:3 run@t.py:9\n",
                      one[] = "trace 0\nevent 0 0 alloc 1 7 forward f@m.py:3\n";
    pickle_check(BYTES("}(" TRACES "](](}(" KEY_ALLOC S4 "addrK\x01" S4 "sizeK\x07" FORWARD
                       "](" OUTER INNER "eueeu."),
                 both);
    pickle_check(BYTES("}(" TRACES "](](}(" KEY_ALLOC S4 "addrK\x01" S4 "sizeK\x07" FORWARD
                       "]" OUTER "a" INNER "aueeu."),
                 both);
    pickle_check(BYTES("}(" TRACES "](](}\x94(" KEY_ALLOC S4 "addrK\x01" S4 "sizeK\x07" FORWARD
                       "]\x94" INNER "\x94"
                       "aueeu."),
                 one);
    pickle_check(
        BYTES("}(" TRACES "](](}(" KEY_ALLOC FORWARD "]" S4 "addrK\x01" S4 "sizeK\x07ueeu."),
        "trace 0\nevent 0 0 alloc 1 7\n");
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
    tcase_add_test(tests, signed_addresses_and_single_pool_ids);
    tcase_add_test(tests, host_memory_is_a_device);
    tcase_add_test(tests, forward_frames_as_python_formats_them);
    tcase_add_test(tests, frames_by_reference_and_again);
    tcase_add_test(tests, frames_in_frames);
    tcase_add_test(tests, metadata_that_is_no_text);
    tcase_add_test(tests, metadata_that_contains_itself);
    tcase_add_test(tests, metadata_that_changes);
    tcase_add_test(tests, metadata_that_is_long);
    tcase_add_test(tests, frames_after_a_memo_entry_changed);
    tcase_add_test(tests, legacy_blocks);
    tcase_add_test(tests, a_bare_list_is_list_only);
    tcase_add_test(tests, unknown_keys_are_told_once);
    tcase_add_test(tests, oom_has_device_free);
    return tests;
}
