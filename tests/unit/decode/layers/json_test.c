#include "unit/decode/layers/layers.h"

#define BAD layers_refused_text

START_TEST(rows_are_read)
{
    struct layer_trace *trace =
        layers_load_text("{\"traces\": [" FORWARD_ROW ", " BACKWARD_ROW "]}\n");
    ck_assert_uint_eq(trace->count, 2);
    ck_assert_uint_eq(trace->forward_count, 1);
    const struct layer_row *row = trace->rows;
    ck_assert_str_eq(layer_name(trace, row).bytes, "a");
    ck_assert(row->is_forward);
    ck_assert_int_eq(row->module_params, 1);
    ck_assert_int_eq(row->allocated, 2);
    ck_assert_int_eq(row->reserved, 3);
    ck_assert_int_eq(row->all_gathered, 4);
    ck_assert_int_eq(row->cumul_all_gathered, 5);
    ck_assert_int_eq(row->memory_diff, -6);
    ck_assert_int_eq(row->memory_activations, 7);
    ck_assert(!layer_has(row, LAYER_DEPTH));
    row++;
    ck_assert(!row->is_forward);
    ck_assert_uint_eq(row->module_name, trace->rows->module_name);
    ck_assert_int_eq(row->memory_diff, 0);
    ck_assert(!layer_has(row, LAYER_MEMORY_DIFF));
    ck_assert_int_eq(row->memory_activations, 8);
    ck_assert_int_eq(trace->encoding, ENCODING_JSON);
    ck_assert_int_eq(trace->protocol, -1);
    layer_trace_destroy(trace);
}
END_TEST

START_TEST(shapes_are_taken)
{
    struct layer_trace *trace = layers_load_text("{\"traces\":[]}");
    ck_assert_uint_eq(trace->count, 0);
    layer_trace_destroy(trace);
    trace = layers_load_text("\xef\xbb\xbf[" BACKWARD_ROW "]");
    ck_assert_uint_eq(trace->count, 1);
    layer_trace_destroy(trace);
    layer_trace_destroy(NULL);
    /* the last of equal keys counts, wherever it stands */
    trace = layers_load_text("[{\"memory_activations\":1,\"module_name\":\"\\u0061\\ud83d\\ude00\","
                             "\"event\":{\"memory_activations\":2,\"is_forward\":true},"
                             "\"is_forward\":false," ROW_KEYS "}]");
    ck_assert_int_eq(trace->rows->memory_activations, 2);
    ck_assert(!trace->rows->is_forward);
    ck_assert_str_eq(layer_name(trace, trace->rows).bytes, "a\xf0\x9f\x98\x80");
    layer_trace_destroy(trace);
}
END_TEST

START_TEST(further_keys_are_read)
{
    struct layer_trace *trace = layers_load_text(
        "{\"version\":[{}],\"traces\":[{\"module_name\":\"\"," ROW_KEYS ",\"is_forward\":true,"
        "\"forward_us\":12.5,\"backward_us\":9007199254740992,\"depth\":3,\"colour\":{\"a\":1},"
        "\"event\":{\"memory_diff\":-0,\"memory_activations\":7,\"saved_activations\":9,"
        "\"colour\":null}}]}");
    const struct layer_row *row = trace->rows;
    ck_assert(row->forward_us == 12.5);
    ck_assert(row->backward_us == 9007199254740992.0);
    ck_assert_int_eq(row->depth, 3);
    ck_assert_int_eq(row->saved_activations, 9);
    ck_assert(layer_has(row, LAYER_SAVED_ACTIVATIONS));
    ck_assert_uint_eq(trace->unknown_key_count, 2);
    ck_assert_str_eq(symbols_text(trace->symbols, trace->unknown_keys[1]).bytes, "colour");
    ck_assert(!trace->more_unknown_keys);
    layer_trace_destroy(trace);
}
END_TEST

START_TEST(structure_is_checked)
{
    BAD("{\"traces\":[]} x", 14, "expected the end of the file, found 'x'");
    BAD("{\"traces\":[],\"traces\":[]}", 13, "a second 'traces'");
    BAD("{\"traces\":{}}", 10, "expected traces (an array), found an object");
    BAD("{\"traces\":[1]}", 11, "expected a trace (an object), found a number");
    BAD("{\"traces\":[" FORWARD_ROW, 183, "expected ',' or ']', found the end of the file");
    BAD("{\"traces\":[{\"event\":7}]}", 20, "expected an event (an object), found a number");
    BAD("{\"traces\":[{}]}", 11, "a trace without 'module_name'");
    BAD("{\"a\":{\"traces\":[]}}", 0, "no key 'traces'");
    BAD("", -1, "an empty file");
    BAD("{\"segments\":[]}", -1, "expected a layer trace, not an allocator snapshot");
    BAD("{\"x\":[]}", -1, "expected a layer trace");
}
END_TEST

START_TEST(values_are_checked)
{
#define VALUE(member) "{\"traces\":[{" member /* the member is at 12 */
    BAD(VALUE("\"module_name\":1"), 26, "expected a string for module_name, found a number");
    BAD(VALUE("\"is_forward\":1"), 25, "expected true or false for is_forward, found a number");
    BAD(VALUE("\"is_forward\":null"), 25, "found null");
    BAD(VALUE("\"is_forward\":tru"), 25, "found a truth value");
    BAD(VALUE("\"allocated\":-1"), 24, "a size in bytes for allocated, found a negative number");
    BAD(VALUE("\"allocated\":true"), 24, "found a truth value");
    BAD(VALUE("\"allocated\":\"1\""), 24, "found a string");
    BAD(VALUE("\"reserved\":1.5"), 23, "found a number that is not whole");
    BAD(VALUE("\"reserved\":1e3"), 23, "found a number that is not whole");
    BAD(VALUE("\"reserved\":9223372036854775808"), 23, "found a number beyond 63 bits");
    BAD(VALUE("\"reserved\":18446744073709551616"), 23, "found a number beyond 64 bits");
    BAD(VALUE("\"depth\":-3"), 20, "a whole number from 0 for depth, found a negative number");
    BAD(VALUE("\"forward_us\":-0.5"), 25, "a time in microseconds for forward_us, found a negat");
    BAD(VALUE("\"forward_us\":NaN"), 25, "found 'N'");
    BAD(VALUE("\"forward_us\":1e999"), 25, "found more than 2^53");
    BAD("{\"traces\":[{\"module_name\":\"a\"," ROW_KEYS
        ",\"is_forward\":true,\"event\":{\"memory_activations\":1}}]}",
        11, "a trace without 'memory_diff'");
}
END_TEST

START_TEST(sums_do_not_overflow)
{
#define HALF(diff)                                                                                 \
    "{\"module_name\":\"a\",\"module_params\":0,\"allocated\":0,\"reserved\":0,"                   \
    "\"all_gathered\":0,\"cumul_all_gathered\":0,\"is_forward\":true,"                             \
    "\"event\":{\"memory_diff\":" diff ",\"memory_activations\":0}}"
    layer_trace_destroy(
        layers_load_text("[" HALF("-2305843009213693952") "," HALF("2305843009213693951") "]"));
    BAD("[" HALF("-2305843009213693952") "," HALF("2305843009213693952") "]", 192,
        "add up to 2^62 bytes and more");
}
END_TEST

#define RECORDED(more)                                                                             \
    "{\"module_name\":\"a\"," ROW_KEYS ",\"is_forward\":true," more                                \
    "\"event\":{\"memory_diff\":0,\"memory_activations\":0}}"

START_TEST(recordings_are_read)
{
    struct layer_trace *trace = layers_load_text(
        "{\"schema\":\"memsnap.layer-trace/1\",\"rank\":3,\"time\":\"events\",\"before_bytes\":5,"
        "\"traces\":[" RECORDED("\"is_leaf\":false,\"reads\":[],\"saves\":[0,1],") "," RECORDED(
            "\"plain\":true,\"follows\":true,\"changes\":4,\"cast_bytes\":6,"
            "\"saved_peak_bytes\":8,\"start_bytes\":3,\"old_gradient_bytes\":7,\"workspace_bytes\":"
            "6,\"tail_us\":0.5,"
            "\"limited_bytes\":5,\"limit_bytes\":9,"
            "\"dtype\":\"float32\","
            "\"tensors\":\"0:2x3\","
            "\"traits\":\"random\",\"flops\":70,\"tail_flops\":30,"
            "\"gradient_bytes\":9,"
            "\"reads\":["
            "1],"
            "\"saves\":[7,7,7],\"saves\":[2],") "],\"storages\":[[10,0],[20,0],[30,1,2],[1,1],[1,1]"
                                                ","
                                                "[1,1],[1,1],[1,1]]}");
    const struct layer_row *row = trace->rows;
    ck_assert_uint_eq(trace->unknown_key_count, 0);
    ck_assert_int_eq(trace->facts.rank, 3);
    ck_assert_int_eq(trace->facts.before_bytes, 5);
    ck_assert_str_eq(symbols_text(trace->symbols, trace->facts.time).bytes, "events");
    ck_assert_uint_eq(trace->storage_count, 8);
    ck_assert_int_eq(trace->storages[2].bytes, 30);
    ck_assert_int_eq(trace->storages[2].row, 1);
    ck_assert_int_eq(trace->storages[2].held, 2);
    ck_assert_int_eq(trace->storages[3].held, 0);
    ck_assert(!layer_is_leaf(row));
    ck_assert(layer_has(row, LAYER_READS) && row->reads.count == 0 && row->saves.count == 2);
    ck_assert_uint_eq(trace->storage_numbers[row->saves.first + 1], 1);
    row++;
    ck_assert(layer_is_leaf(row) && row->plain && row->follows);
    ck_assert_int_eq(row->changes, 4);
    ck_assert_int_eq(row->cast_bytes, 6);
    ck_assert_int_eq(row->saved_peak_bytes, 8);
    ck_assert_int_eq(row->start_bytes, 3);
    ck_assert_int_eq(row->old_gradient_bytes, 7);
    ck_assert_int_eq(row->workspace_bytes, 6);
    ck_assert_int_eq(row->limited_bytes, 5);
    ck_assert_int_eq(row->limit_bytes, 9);
    ck_assert(row->tail_us == 0.5);
    ck_assert_int_eq(row->flops, 70);
    ck_assert_int_eq(row->tail_flops, 30);
    ck_assert_str_eq(symbols_text(trace->symbols, row->traits).bytes, "random");
    ck_assert_str_eq(symbols_text(trace->symbols, row->tensors).bytes, "0:2x3");
    ck_assert_int_eq(row->gradient_bytes, 9);
    ck_assert_uint_eq(row->reads.count, 1);
    ck_assert_uint_eq(trace->storage_numbers[row->reads.first], 1);
    ck_assert_uint_eq(row->saves.count, 1); /* the last of equal keys counts */
    ck_assert_uint_eq(trace->storage_numbers[row->saves.first], 2);
    layer_trace_destroy(trace);
}
END_TEST

START_TEST(recordings_are_checked)
{
    BAD("{\"schema\":\"memsnap.layer-trace/2\",\"traces\":[]}", 10,
        "expected the schema \"memsnap.la");
    BAD("{\"rank\":-1,\"traces\":[]}", 8,
        "a whole number from 0 for rank, found a negative number");
    BAD("{\"storages\":[[1]],\"traces\":[]}", 13, "expected a storage ([bytes, row]), found less");
    BAD("{\"storages\":[[1,0,0,0]],\"traces\":[]}", 13, "([bytes, row]), found more");
    BAD("{\"storages\":[[1,0,-1]],\"traces\":[]}", 18, "found a negative number");
    BAD("{\"storages\":[[-1,0]],\"traces\":[]}", 14, "a size in bytes for a storage, found a nega");
    BAD("{\"storages\":[7],\"traces\":[]}", 13, "([bytes, row]), found a number");
    BAD("{\"storages\":[[1,0]],\"traces\":[]}", -1,
        "storage 0 is made by trace 0, which is no forw");
    BAD("{\"traces\":[" BACKWARD_ROW "],\"storages\":[[1,0]]}", -1,
        "made by trace 0, which is no forw");
    BAD("{\"traces\":[" RECORDED("\"saves\":[1],") "],\"storages\":[[1,0]]}", -1,
        "a trace refers to storage 1, and the file has 1");
    BAD("{\"traces\":[{\"reads\":[\"x\"]}]}", 21,
        "expected the number of a storage, found a string");
    BAD("{\"traces\":[{\"reads\":[-1]}]}", 21, "found a negative number");
    BAD("{\"traces\":[{\"reads\":7}]}", 20,
        "expected a list of storages for reads, found a number");
#define OPERATOR                                                                                   \
    "{\"name\":\"mm\",\"row\":0,\"us\":1,\"tail_us\":0,\"other_bytes\":5,\"keepable\":true,"       \
    "\"made\":[0]}"
    BAD("{\"operators\":[" OPERATOR "],\"traces\":[" BACKWARD_ROW "],\"storages\":[]}", -1,
        "operator 0 ran in trace 0, which is no forward trace");
    BAD("{\"operators\":[" OPERATOR "],\"traces\":[" FORWARD_ROW "],\"storages\":[[1,1]]}", -1,
        "storage 0 is made by trace 1, which is no forw");
    BAD("{\"operators\":[{\"name\":\"mm\"}],\"traces\":[]}", 14, "an operator without 'row'");
    BAD("{\"operators\":[{\"us\":-1}],\"traces\":[]}", 20, "a time in microseconds for us");
    BAD("{\"operators\":7,\"traces\":[]}", 13, "expected operators (an array), found a number");
#undef OPERATOR
    BAD("{\"storages\":[[4611686018427387903,0],[1,0]],\"traces\":[]}", 37, "add up to 2^62 bytes");
#define BIG "{\"traces\":[{\"reads\":[4294967295]}]}"
    layers_refused(BIG, sizeof(BIG) - 1, STATUS_LIMIT, 21, "a storage's number is 2^32-1 or more");
#undef BIG
}
END_TEST

START_TEST(memory_is_bounded)
{
    enum { ROWS = 20000 };
    struct buffer text = BUFFER_INIT;
    struct error err;
    buffer_puts(&text, "{\"traces\":[");
    for (int i = 0; i < ROWS; i++)
        buffer_puts(&text, i ? "," FORWARD_ROW : FORWARD_ROW);
    buffer_puts(&text, "]}");
    ck_assert(!text.failed);
    ck_assert_ptr_null(layer_trace_load_memory(text.bytes, text.size, (size_t)1 << 20, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    struct layer_trace *trace = layers_load(text.bytes, text.size);
    ck_assert_uint_eq(trace->count, ROWS);
    layer_trace_destroy(trace);
    buffer_release(&text);
}
END_TEST

START_TEST(damage_is_survived)
{
    static const char text[] =
        "{\"rank\":1,\"traces\":[" FORWARD_ROW "," BACKWARD_ROW
        "," RECORDED("\"plain\":true,\"saves\":[0],") "],\"storages\":[[9,0]]}";
    layers_survive(text, sizeof(text) - 1);
}
END_TEST

TCase *layers_json_tests(void)
{
    TCase *tests = tcase_create("json");
    tcase_add_test(tests, rows_are_read);
    tcase_add_test(tests, shapes_are_taken);
    tcase_add_test(tests, further_keys_are_read);
    tcase_add_test(tests, structure_is_checked);
    tcase_add_test(tests, values_are_checked);
    tcase_add_test(tests, sums_do_not_overflow);
    tcase_add_test(tests, recordings_are_read);
    tcase_add_test(tests, recordings_are_checked);
    tcase_add_test(tests, memory_is_bounded);
    tcase_add_test(tests, damage_is_survived);
    return tests;
}
