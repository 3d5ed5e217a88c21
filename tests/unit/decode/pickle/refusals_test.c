/* Input that is not a snapshot is rejected with the right status and position. */
#include <string.h>

#include "unit/decode/pickle/pickle.h"

static void refused(const void *bytes, size_t size, enum status status, int64_t offset,
                    const char *text)
{
    struct decoded decoded;
    struct error err = pickle_end(bytes, size, PLENTY, &decoded);
    ck_assert_int_eq(err.status, status);
    ck_assert_msg(strstr(err.text, text) != NULL, "'%s' is not in '%s'", text, err.text);
    ck_assert(err.has_offset);
    ck_assert_int_eq((int64_t)err.offset, offset);
}

#define BAD(bytes, offset, text) refused(BYTES(bytes), STATUS_BAD_INPUT, offset, text)
#define KEY_ALLOC                                                                                  \
    "\x8c\x06"                                                                                     \
    "action\x8c\x05"                                                                               \
    "alloc"
#define TRACES                                                                                     \
    "}(\x8c\x0d"                                                                                   \
    "device_traces](]("

START_TEST(truncated)
{
    BAD("", 0, "truncated");
    BAD("\x80\x04", 2, "truncated");
    BAD("\x80\x04}(\x8c\x08segm", 10, "truncated");
    BAD("}(\x8a\x09\x01", 5, "truncated");
    BAD("}I12", 4, "truncated");
    BAD("}X\xff\xff\xff\x7f"
        "abc",
        9, "truncated");
}
END_TEST

START_TEST(machine_errors)
{
    BAD("\x80\x06}.", 0, "protocol 6");
    BAD("}\x7f.", 1, "unknown pickle opcode 0x7f");
    BAD("}h\x01.", 1, "memo entry 1");
    BAD("q\0.", 0, "memo");
    BAD("}e.", 1, "no MARK");
    BAD("(e.", 1, "no container");
    BAD("}(N(Ne.", 5, "None");
    BAD("}a.", 1, "underflow");
    BAD("0.", 0, "underflow");
    BAD("}(Nu.", 3, "without a value");
    BAD("(.", 1, "nothing on its stack");
    BAD("K\x01K\x02"
        "a.",
        4, "added to an int");
    BAD("}K\x01"
        "a.",
        3, "added to a dict");
    BAD("}\x8c\x01\xff.", 1, "UTF-8");
    BAD("}Ix\n.", 1, "decimal");
    BAD("}p9999999999\n.", 1, "memo index");
    BAD("}r\xff\xff\xff\x7f.", 1, "memo index");
    BAD("}Fxyz\n.", 1, "float");
    BAD("}S'x\n.", 1, "quoted");
    BAD("}\x8b\xff\xff\xff\xff.", 1, "negative length");
}
END_TEST

START_TEST(not_a_snapshot)
{
    BAD("N.", 1, "None");
    BAD("}.", 1, "no key 'segments'");
    BAD("](K\x01"
        "e.",
        4, "expected a segment (a dict), found an int");
    BAD("}\x8c\x08segmentsK\x01s.", 13, "expected a list for segments, found an int");
    BAD("}(\x8c\x08segments]\x8c\x08segments]u.", 23, "a second 'segments'");
    BAD("}K\x01Ns.", 4, "expected a string as key of a snapshot");
}
END_TEST

START_TEST(bad_events)
{
    BAD(TRACES "K\x01"
               "eeu.",
        23, "expected an event (a dict), found an int");
    BAD(TRACES "}(" KEY_ALLOC "\x8c\x04sizeK\x07ueeu.", 21, "without 'addr'");
    BAD(TRACES "}(\x8c\x04sizeK\x07ueeu.", 21, "without 'action'");
    BAD(TRACES "}(" KEY_ALLOC "\x8c\x04"
               "addrK\x01\x8c\x04sizeJ\xff\xff\xff\xffueeu.",
        21, "expected an integer from 0 for size, found a negative number");
    BAD(TRACES "}(" KEY_ALLOC "\x8c\x04"
               "addrNueeu.",
        21, "without 'addr'");
    BAD(TRACES "}(" KEY_ALLOC "\x8c\x04"
               "addr\x8c\x01xueeu.",
        21, "expected an integer from 0 for addr, found a string");
    BAD(TRACES "}(" KEY_ALLOC "\x8c\x06"
               "frames}ueeu.",
        21, "expected a list of frames for frames, found a dict");
    BAD(TRACES "}(K\x01K\x02ueeu.", 21, "expected a string as key of an event, found an int");
}
END_TEST

START_TEST(bad_segments)
{
#define SEGMENT                                                                                    \
    "}(\x8c\x08segments](}(\x8c\x06"                                                               \
    "deviceK\0"
    BAD(SEGMENT "ueu.", 14, "without 'address'");
    BAD(SEGMENT "\x8c\x07"
                "addressK\x01\x8c\x0atotal_sizeJ\xff\xff\xff\xffueu.",
        14, "expected an integer from 0 for total_size, found a negative number");
    BAD(SEGMENT "\x8c\x07"
                "addressK\x01\x8c\x0atotal_sizeK\x01\x8c\x06"
                "blocks](}ueu.",
        62, "dict key");
}
END_TEST

/* A small file that claims large sizes must not take memory. */
START_TEST(claims_cost_nothing)
{
    struct decoded decoded;
    struct error err =
        pickle_end(BYTES("\x80\x04}(\x8d\xff\xff\xff\xff\0\0\0\0x"), 1 << 20, &decoded);
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    err = pickle_end(BYTES("\x80\x04\x96\xff\xff\xff\xff\xff\xff\xff\x7f"), 1 << 20, &decoded);
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
}
END_TEST

START_TEST(the_memory_limit_is_a_limit)
{
    static uint8_t nested[1 << 20];
    memset(nested, '(', sizeof nested);
    struct decoded decoded;
    struct error err = pickle_end(nested, sizeof nested, 1 << 20, &decoded);
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    memset(nested, ']', sizeof nested);
    err = pickle_end(nested, sizeof nested, 1 << 20, &decoded);
    ck_assert_int_eq(err.status, STATUS_LIMIT);
}
END_TEST

/* Python can make a list that contains itself, but no snapshot has one. */
START_TEST(recursion_is_harmless)
{
    BAD("}\x94(\x8c\x08segments](h\0eu.", 17,
        "expected a segment (a dict), found a dict that contains it");
    struct decoded decoded;
    struct error err = pickle_end(BYTES("}(\x8c\x08segments]\x8c\x12"
                                        "allocator_settings}\x8c\x01k]\x94h\0asu."),
                                  PLENTY, &decoded);
    ck_assert_int_eq(err.status, STATUS_OK);
    err = pickle_end(BYTES("}(\x8c\x08segments]\x8c\x12"
                           "allocator_settings}\x94\x8c\x01kh\0su."),
                     PLENTY, &decoded);
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
}
END_TEST

TCase *refusals_tests(void)
{
    TCase *tests = tcase_create("refusals");
    tcase_add_test(tests, truncated);
    tcase_add_test(tests, machine_errors);
    tcase_add_test(tests, not_a_snapshot);
    tcase_add_test(tests, bad_events);
    tcase_add_test(tests, bad_segments);
    tcase_add_test(tests, claims_cost_nothing);
    tcase_add_test(tests, the_memory_limit_is_a_limit);
    tcase_add_test(tests, recursion_is_harmless);
    return tests;
}
