#include "unit/decode/layers/layers.h"

#define BYTES(literal) literal, sizeof(literal) - 1
#define BAD(literal, offset, text)                                                                 \
    layers_refused(literal, sizeof(literal) - 1, STATUS_BAD_INPUT, offset, text)

/* FairScale's classes, and a row of each kind, as protocol 0 and 2 write them. */
#define CLASS(name)     "cfairscale.experimental.tooling.layer_memory_tracker\n" name "\n"
#define FORWARD_MEMBERS "X\1\0\0\0aK\1K\2K\3\x88K\4K\5"
#define FORWARD_EVENT   CLASS("TraceForwardEvent") "J\xfa\xff\xff\xffK\7\x86\x81"
#define BACKWARD_EVENT  CLASS("TraceBackwardEvent") "K\x08\x85\x81"
#define FORWARD_TUPLE   CLASS("LayerMemoryTrace") "(" FORWARD_MEMBERS FORWARD_EVENT "t\x81"
#define BACKWARD_TUPLE                                                                             \
    CLASS("LayerMemoryTrace") "(X\1\0\0\0aK\1K\2K\3\x89K\4K\5" BACKWARD_EVENT "t\x81"

static void check_two_rows(const void *bytes, size_t size, enum encoding encoding, int protocol)
{
    struct layer_trace *trace = layers_load(bytes, size);
    ck_assert_int_eq(trace->encoding, encoding);
    ck_assert_int_eq(trace->protocol, protocol);
    ck_assert_uint_eq(trace->count, 2);
    ck_assert_uint_eq(trace->unknown_key_count, 0);
    for (size_t i = 0; i < 2; i++) {
        const struct layer_row *row = &trace->rows[i];
        ck_assert_str_eq(layer_name(trace, row).bytes, "a");
        ck_assert_int_eq(row->module_params, 1);
        ck_assert_int_eq(row->allocated, 2);
        ck_assert_int_eq(row->reserved, 3);
        ck_assert_int_eq(row->is_forward, i == 0);
        ck_assert_int_eq(row->all_gathered, 4);
        ck_assert_int_eq(row->cumul_all_gathered, 5);
        ck_assert_int_eq(row->memory_diff, i == 0 ? -6 : 0);
        ck_assert_int_eq(row->memory_activations, i == 0 ? 7 : 8);
        ck_assert_int_eq(layer_has(row, LAYER_MEMORY_DIFF), i == 0);
    }
    layer_trace_destroy(trace);
}

START_TEST(named_tuples_are_read)
{
    static const char newobj[] = "\x80\2](" FORWARD_TUPLE BACKWARD_TUPLE "e.";
    check_two_rows(BYTES(newobj), ENCODING_PICKLE, 2);
    static const char in_dict[] = "\x80\3}X\6\0\0\0traces](" FORWARD_TUPLE BACKWARD_TUPLE "es.";
    check_two_rows(BYTES(in_dict), ENCODING_PICKLE, 3);
#define REBUILT(class, items)                                                                      \
    "ccopy_reg\n_reconstructor\n(" CLASS(class) "c__builtin__\ntuple\n(" items "ttR"
    static const char zero[] = "(l" REBUILT(
        "LayerMemoryTrace",
        "Va\nI1\nI2\nI3\nI01\nI4\nI5\n" REBUILT(
            "TraceForwardEvent", "I-6\nI7\n")) "a" REBUILT("LayerMemoryTrace",
                                                           "Va\nI1\nI2\nL3L\nI00\nI4\nI5\n" REBUILT(
                                                               "TraceBackwardEvent", "I8\n")) "a.";
    check_two_rows(BYTES(zero), ENCODING_PICKLE, 0);
    /* by other ways of making an instance: a call, with keywords, copyreg's functions */
#define KEYWORDS                                                                                   \
    "(X\x0d\0\0\0module_paramsK\1X\x09\0\0\0allocatedK\2X\x08\0\0\0reservedK\3X\x0a\0\0\0is_"      \
    "forward"                                                                                      \
    "\x88X\x0c\0\0\0all_gatheredK\4X\x12\0\0\0cumul_all_gatheredK\5X\5\0\0\0event" FORWARD_EVENT   \
    "d"
    static const char others[] =
        "\x80\4](" CLASS("LayerMemoryTrace") "X\1\0\0\0a\x85" KEYWORDS "\x92"
                                             "ccopyreg\n__newobj__\n(" CLASS(
                                                 "LayerMemoryTrace") "X\1\0\0\0aK\1K\2K\3\x89K\4K"
                                                                     "\5" CLASS("TraceBackwardEven"
                                                                                "t") "K\x08\x85RtRe"
                                                                                     ".";
    check_two_rows(BYTES(others), ENCODING_PICKLE, 4);
}
END_TEST

START_TEST(strangers_are_refused)
{
    BAD("\x80\2](" CLASS("LayerMemoryTrace") "(" FORWARD_MEMBERS "cos\nsystem\nX\1\0\0\0a\x85RtRe.",
        112, "expected an event, found an instance of a class");
    BAD("\x80\2](" CLASS("LayerMemoryTrace") "X\1\0\0\0a\x85\x81"
                                             "e.",
        81, "a trace without 'module_params'");
    BAD("\x80\2](" CLASS("LayerMemoryTrace") "(" FORWARD_MEMBERS FORWARD_EVENT "K\1t\x81"
                                             "e.",
        175, "expected 8 members of LayerMemoryTrace, found 9");
    BAD("\x80\2](cos\nsystem\nX\x10\0\0\0LayerMemoryTrace\x85R"
        "e.",
        37, "expected a trace (a LayerMemoryTrace or a dict), found an instance");
    BAD("\x80\2](" FORWARD_TUPLE "K\1e.", 2,
        "expected a trace (a LayerMemoryTrace or a dict), found an int");
    BAD("\x80\2}X\6\0\0\0tracesK\1s.", 2, "expected traces (a list), found an int");
    BAD("\x80\2}(X\6\0\0\0traces]X\6\0\0\0traces]u.", 2, "a second 'traces'");
}
END_TEST

START_TEST(shared_keys_cost_little)
{
    /* a dict of many keys, referred to by many rows: refused at the first */
    struct buffer text = BUFFER_INIT;
    buffer_add(&text, BYTES("\x80\2](}q\1(X\x12\0\0\0memory_activationsK\1"));
    for (int i = 0; i < 70; i++)
        buffer_add(&text, BYTES("X\x0b\0\0\0module_nameX\1\0\0\0a"));
    buffer_puts(&text, "u");
    for (int i = 0; i < 1000; i++)
        buffer_add(&text, BYTES("h\1"));
    buffer_puts(&text, "e.");
    layers_refused(text.bytes, text.size, STATUS_LIMIT, 4, "a trace with more than 64 keys");
    buffer_release(&text);
}
END_TEST

#define TABLE                                                                                      \
    "\x83\xa7memsnap\xa8layers/1\xa7"                                                              \
    "columns\x99\xabmodule_name\xadmodule_params\xa9"                                              \
    "allocated"                                                                                    \
    "\xa8reserved\xaais_forward\xac"                                                               \
    "all_gathered\xb2"                                                                             \
    "cumul_all_gathered\xab"                                                                       \
    "memory_diff"                                                                                  \
    "\xb2memory_activations\xa4rows"

START_TEST(msgpack_is_read)
{
    check_two_rows(BYTES(TABLE "\x92\x99\xa1"
                               "a\1\2\3\xc3\4\5\xfa\7\x99\xa1"
                               "a\1\2\3\xc2\4\5\xc0\x08"),
                   ENCODING_MSGPACK, -1);
    /* in the widest forms that there are */
    check_two_rows(
        BYTES(TABLE
              "\xdd\0\0\0\2\xdc\0\x09\xdb\0\0\0\1a\xcf\0\0\0\0\0\0\0\1\xce\0\0\0\2\xcd\0\3\xc3"
              "\xcc\4\xd3\0\0\0\0\0\0\0\5\xd1\xff\xfa\xd2\0\0\0\7"
              "\x99\xd9\1a\1\2\3\xc2\4\5\xc0\x08"),
        ENCODING_MSGPACK, -1);
    check_two_rows(BYTES("\x92\x88\xabmodule_name\xa1"
                         "a\xadmodule_params\1\xa9"
                         "allocated\2\xa8reserved\3"
                         "\xaais_forward\xc3\xac"
                         "all_gathered\4\xb2"
                         "cumul_all_gathered\5\xa5"
                         "event\x82"
                         "\xabmemory_diff\xfa\xb2memory_activations\7"
                         "\x88\xabmodule_name\xa1"
                         "a\xadmodule_params\1\xa9"
                         "allocated\2\xa8reserved\3"
                         "\xaais_forward\xc2\xac"
                         "all_gathered\4\xb2"
                         "cumul_all_gathered\5\xa5"
                         "event\x81"
                         "\xb2memory_activations\x08"),
                   ENCODING_MSGPACK, -1);
}
END_TEST

START_TEST(msgpack_is_checked)
{
    BAD(TABLE "\x91\x98\xa1"
              "a\1\2\3\xc3\4\5\6",
        152, "expected a row of 9 values, one for each column, found 8");
    BAD(TABLE "\x91\x99\xa1"
              "a\1\2\3\xc3\4\5\xc0\7",
        152, "a trace without 'memory_diff'");
    BAD(TABLE "\x91\x99\xa1"
              "a\1\xff\3\xc3\4\5\6\7",
        152, "found a negative number");
    BAD(TABLE "\x91\x99\xa1"
              "a\1\xcb?\xf0\0\0\0\0\0\0\3\xc3\4\5\6\7",
        152, "found a float");
    BAD(TABLE "\x91\x99\xc4\1a\1\2\3\xc3\4\5\6\7", 152, "found bytes");
    BAD(TABLE "\x91\x99\xa1\x80\1\2\3\xc3\4\5\6\7", 153, "a string that is not UTF-8");
    BAD(TABLE "\x91\xc7\1\1a", 152, "an extension type of msgpack");
    BAD(TABLE "\x91\xc1", 152, "expected a msgpack value, found a byte that cannot begin one");
    BAD(TABLE "\xdd\xff\xff\xff\xff", 156, "the file ends within a msgpack value");
    BAD(TABLE "\x90\x90", 152, "expected the end of the file");
    BAD("\x81\xa7memsnap\xa8layers/2", 0, "the only layout that is known");
    BAD("\x81\xa7memsnap\xa8layers/1", 0, "no key 'traces'");
    static const char deep[] =
        "\x81\xa6traces"
        "\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91"
        "\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91";
    layers_refused(BYTES(deep), STATUS_LIMIT, 39, "nested more than 32 levels deep");
}
END_TEST

START_TEST(damage_is_survived)
{
    static const char tuples[] = "\x80\2](" FORWARD_TUPLE BACKWARD_TUPLE "e.";
    layers_survive(BYTES(tuples));
    static const char table[] = TABLE "\x92\x99\xa1"
                                      "a\1\2\3\xc3\4\5\xfa\7\x99\xa1"
                                      "a\1\2\3\xc2\4\5\xc0\x08";
    layers_survive(BYTES(table));
}
END_TEST

TCase *layers_tree_tests(void)
{
    TCase *tests = tcase_create("tree");
    tcase_add_test(tests, named_tuples_are_read);
    tcase_add_test(tests, strangers_are_refused);
    tcase_add_test(tests, shared_keys_cost_little);
    tcase_add_test(tests, msgpack_is_read);
    tcase_add_test(tests, msgpack_is_checked);
    tcase_add_test(tests, damage_is_survived);
    return tests;
}
