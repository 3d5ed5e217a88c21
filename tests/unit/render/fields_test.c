#include <stdlib.h>
#include <string.h>

#include "render/core/rows.h"
#include "unit/render/render.h"

/* A row with a member of every kind that needs no other context. */
struct sample {
    int64_t bytes, change;
    uint64_t count;
    uint8_t small;
    int32_t number;
    int64_t duration_us, time_us, item;
    double real;
    bool flag;
    unsigned colour;
    enum category category;
    const char *word, *label;
    char chars[8];
    struct text text;
    uint64_t pair[2];
};

static const char *colour_name(unsigned colour)
{
    return colour == 1 ? "red" : "blue";
}

static bool flag_is_set(const void *row, const struct field_context *context)
{
    (void)context;
    return ((const struct sample *)row)->flag;
}

static struct value twice(const void *row, const struct field_context *context)
{
    (void)context;
    return value_count(2 * ((const struct sample *)row)->count);
}

static struct value composed(const void *row, const struct field_context *context)
{
    buffer_printf(context->scratch, "#%u", ((const struct sample *)row)->colour);
    return value_scratch(context);
}

#define ROW struct sample
static const struct row_type json_type =
    ROW_TYPE("samples", ROW, FIELD(ROW, BYTES, bytes), FIELD(ROW, CHANGE, change),
             FIELD(ROW, COUNT, count), FIELD(ROW, NUMBER, small), FIELD(ROW, NUMBER, number),
             FIELD(ROW, DURATION, duration_us), FIELD(ROW, TIME, time_us),
             FIELD_AS(ROW, EVENT, "event", item), FIELD(ROW, REAL, real), FIELD(ROW, FLAG, flag),
             FIELD(ROW, NAME, colour, .name = colour_name), FIELD(ROW, CATEGORY, category),
             FIELD(ROW, WORD, word), FIELD(ROW, LABEL, label), FIELD(ROW, CHARS, chars),
             FIELD(ROW, TEXT, text), FIELD(ROW, PAIR, pair), FIELD_CALL(COUNT, "twice", twice));

static const struct row_type optional_type = ROW_TYPE(
    "samples", ROW, FIELD(ROW, BYTES, bytes, .flags = FIELD_SKIP_ZERO),
    FIELD(ROW, NUMBER, number, .flags = FIELD_SKIP_NEGATIVE),
    FIELD(ROW, COUNT, count, .present = flag_is_set), FIELD(ROW, LABEL, label, .flags = FIELD_NULL),
    FIELD(ROW, FLAG, flag, .flags = FIELD_SKIP_ZERO),
    FIELD(ROW, DURATION, duration_us, UNLESS(ROW, label)), FIELD(ROW, PAIR, pair, IF(ROW, real)));

static const struct row_type record_type = ROW_TYPE(
    "samples", ROW, FIELD(ROW, LABEL, label, .cell = 1), FIELD(ROW, BYTES, bytes),
    FIELD(ROW, FLAG, flag, .cell = 1), FIELD(ROW, WORD, word, .cell = 1),
    FIELD(ROW, COUNT, count, .flags = FIELD_NOT_RECORD),
    FIELD(ROW, NUMBER, number, .cell = 1, IF(ROW, flag)), FIELD(ROW, TIME, time_us, .cell = 1));

static const struct row_type text_type = ROW_TYPE(
    "samples", ROW, FIELD(ROW, LABEL, label, .title = "name", .column = 2),
    FIELD(ROW, BYTES, bytes, .title = "size"), FIELD(ROW, CHANGE, change, .title = "change"),
    FIELD_AS(ROW, SHARE, NULL, bytes, .title = "share"),
    FIELD(ROW, COUNT, count, .title = "count", IF(ROW, flag), .absent = "-"),
    FIELD(ROW, FLAG, flag, .title = "set", .column = 1),
    FIELD_CALL(WORD, NULL, composed, .title = "code", .column = 1), FIELD(ROW, REAL, real));
#undef ROW

static const struct sample full = {
    .bytes = -1024,
    .change = 2048,
    .count = UINT64_MAX,
    .small = 200,
    .number = -7,
    .duration_us = 1500,
    .time_us = 12,
    .item = 3,
    .real = 0.5,
    .flag = true,
    .colour = 1,
    .category = CATEGORY_ACTIVATION,
    .word = "word",
    .label = "a \"b\"\x1b",
    .chars = "chars",
    .text = {"\xed\xa0\x80", 3}, /* a lone surrogate */
    .pair = {1, 2},
};

struct output {
    char *bytes;
    size_t size;
    FILE *out;
};

static void open_output(struct output *output)
{
    output->out = open_memstream(&output->bytes, &output->size);
    ck_assert_ptr_nonnull(output->out);
}

static void expect_output(struct output *output, const char *wanted)
{
    fclose(output->out);
    ck_assert_str_eq(output->bytes, wanted);
    free(output->bytes);
}

static void expect_json(const struct row_type *type, const struct sample *sample,
                        const char *wanted)
{
    const struct trace trace = {.first_event = 100};
    const struct field_context context = {.trace = &trace};
    struct output output;
    struct json_writer json;
    open_output(&output);
    json_writer_init(&json, output.out);
    json_put_rows(&json, type, sample, 1, &context);
    ck_assert(json_writer_finish(&json));
    expect_output(&output, wanted);
}

START_TEST(json_has_every_kind)
{
    expect_json(&json_type, &full,
                "\"samples\":[{\"bytes\":-1024,\"change\":2048,\"count\":18446744073709551615,"
                "\"small\":200,\"number\":-7,\"duration_us\":1500,\"time_us\":12,\"event\":103,"
                "\"real\":0.5,\"flag\":true,\"colour\":\"red\",\"category\":\"activation\","
                "\"word\":\"word\",\"label\":\"a \\\"b\\\"\\u001b\",\"chars\":\"chars\","
                "\"text\":\"\\ud800\",\"pair\":[1,2],\"twice\":18446744073709551614}]\n");
}
END_TEST

START_TEST(json_leaves_absent_fields_out)
{
    expect_json(&optional_type, &(struct sample){.number = -1},
                "\"samples\":[{\"label\":null,\"duration_us\":0}]\n");
    expect_json(&optional_type, &(struct sample){.bytes = 1, .flag = true, .label = "", .real = 2},
                "\"samples\":[{\"bytes\":1,\"number\":0,\"count\":0,\"label\":\"\","
                "\"flag\":true,\"pair\":[0,0]}]\n");
    struct sample sample = full;
    sample.time_us = TIME_NONE;
    sample.word = NULL;
    sample.item = -1;
    expect_json(&json_type, &sample,
                "\"samples\":[{\"bytes\":-1024,\"change\":2048,\"count\":18446744073709551615,"
                "\"small\":200,\"number\":-7,\"duration_us\":1500,\"event\":-1,"
                "\"real\":0.5,\"flag\":true,\"colour\":\"red\",\"category\":\"activation\","
                "\"label\":\"a \\\"b\\\"\\u001b\",\"chars\":\"chars\","
                "\"text\":\"\\ud800\",\"pair\":[1,2],\"twice\":18446744073709551614}]\n");
}
END_TEST

static void put_records(struct output *output, enum record_format format,
                        const struct sample *sample)
{
    struct record_writer records;
    struct error err;
    open_output(output);
    ck_assert(records_begin(&records, output->out, format, &record_type, &err));
    ck_assert(record_put_row(&records, sample, &(struct field_context){0}, &err));
    ck_assert(records_end(&records, &err));
}

START_TEST(records_are_ordered_by_cell)
{
    struct output output;
    put_records(&output, RECORDS_CSV, &full);
    expect_output(&output, "bytes,label,flag,word,number,time_us\r\n"
                           "-1024,\"a \"\"b\"\"\\x1b\",true,word,-7,12\r\n");
    put_records(&output, RECORDS_JSONL, &full);
    expect_output(&output, "{\"bytes\":-1024,\"label\":\"a \\\"b\\\"\\\\x1b\",\"flag\":true,"
                           "\"word\":\"word\",\"number\":-7,\"time_us\":12}\n");
}
END_TEST

START_TEST(absent_cells_are_empty)
{
    const struct sample sample = {.time_us = TIME_NONE, .number = 5};
    struct output output;
    put_records(&output, RECORDS_CSV, &sample);
    expect_output(&output, "bytes,label,flag,word,number,time_us\r\n0,,false,,,\r\n");
    put_records(&output, RECORDS_JSONL, &sample);
    expect_output(&output, "{\"bytes\":0,\"label\":null,\"flag\":false,\"word\":null,"
                           "\"number\":null,\"time_us\":null}\n");
    put_records(&output, RECORDS_MSGPACK, &sample);
    fclose(output.out);
    static const char row[] = "\x96\x00\xc0\xc2\xc0\xc0\xc0";
    ck_assert_uint_gt(output.size, sizeof(row) - 1);
    ck_assert_mem_eq(output.bytes + output.size - (sizeof(row) - 1), row, sizeof(row) - 1);
    free(output.bytes);
}
END_TEST

START_TEST(text_is_ordered_by_column)
{
    const struct sample samples[] = {full, {.bytes = 1024, .label = "plain", .colour = 2}};
    const struct field_context context = {.whole = 4096};
    struct output output;
    open_output(&output);
    const struct page page = {.out = output.out, .width = 80};
    ck_assert(rows_print(&page, 2, &text_type, samples, 2, &context));
    expect_output(&output,
                  "       size     change   share                       count  set  code  name\n"
                  "  -1.00 KiB  +2.00 KiB  -25.0%  18,446,744,073,709,551,615  yes  #1    "
                  "a \"b\"\\x1b\n"
                  "   1.00 KiB        0 B   25.0%                           -  no   #2    plain\n");
}
END_TEST

START_TEST(fields_keep_their_order)
{
    const struct field *fields[FIELDS_MOST];
    ck_assert_uint_eq(fields_in_order(&text_type, FIELDS_AS_COLUMNS, fields), 7);
    ck_assert_str_eq(fields[0]->title, "size");
    ck_assert_str_eq(fields[3]->title, "count");
    ck_assert_str_eq(fields[5]->title, "code");
    ck_assert_str_eq(fields[6]->title, "name");
    ck_assert_uint_eq(fields_in_order(&record_type, FIELDS_AS_CELLS, fields), 6);
    ck_assert_str_eq(fields[0]->key, "bytes");
    ck_assert_str_eq(fields[1]->key, "label");
}
END_TEST

TCase *fields_tests(void)
{
    TCase *tests = tcase_create("fields");
    tcase_add_test(tests, json_has_every_kind);
    tcase_add_test(tests, json_leaves_absent_fields_out);
    tcase_add_test(tests, records_are_ordered_by_cell);
    tcase_add_test(tests, absent_cells_are_empty);
    tcase_add_test(tests, text_is_ordered_by_column);
    tcase_add_test(tests, fields_keep_their_order);
    return tests;
}
