#include <stdlib.h>
#include <string.h>

#include "render/core/records.h"
#include "unit/render/render.h"

struct thing {
    const char *text;
    int64_t number;
};

static const struct row_type table = ROW_TYPE(
    "things", struct thing, FIELD(struct thing, LABEL, text), FIELD(struct thing, NUMBER, number));

struct result {
    char *bytes;
    size_t size;
};

/* One row of a text and a number. */
static struct result row_of(enum record_format format, const char *text, size_t size,
                            int64_t number)
{
    struct result result = {0};
    struct record_writer records;
    struct error err;
    FILE *out = open_memstream(&result.bytes, &result.size);
    ck_assert_ptr_nonnull(out);
    ck_assert(records_begin(&records, out, format, &table, &err));
    record_text(&records, text, size);
    record_integer(&records, number);
    ck_assert(record_end(&records, &err));
    ck_assert(records_end(&records, &err));
    fclose(out);
    return result;
}

static void expect(enum record_format format, const char *text, int64_t number, const char *wanted)
{
    struct result got = row_of(format, text, strlen(text), number);
    ck_assert_str_eq(got.bytes, wanted);
    free(got.bytes);
}

START_TEST(csv_quotes_what_needs_it)
{
    expect(RECORDS_CSV, "plain", 1, "text,number\r\nplain,1\r\n");
    expect(RECORDS_CSV, "a,b", 0, "text,number\r\n\"a,b\",0\r\n");
    expect(RECORDS_CSV, "say \"x\"", 0, "text,number\r\n\"say \"\"x\"\"\",0\r\n");
    expect(RECORDS_CSV, "two\r\nlines", 0, "text,number\r\ntwo\\r\\nlines,0\r\n");
    expect(RECORDS_CSV, "", INT64_MIN, "text,number\r\n,-9223372036854775808\r\n");
}
END_TEST

START_TEST(csv_makes_no_formulas)
{
    expect(RECORDS_CSV, "=1+1", 0, "text,number\r\n'=1+1,0\r\n");
    expect(RECORDS_CSV, "+a", 0, "text,number\r\n'+a,0\r\n");
    expect(RECORDS_CSV, "-a", 0, "text,number\r\n'-a,0\r\n");
    expect(RECORDS_CSV, "@SUM(1,2)", 0, "text,number\r\n\"'@SUM(1,2)\",0\r\n");
    expect(RECORDS_CSV, "\t=1", 0, "text,number\r\n\\t=1,0\r\n");
    expect(RECORDS_CSV, "'quoted'", 0, "text,number\r\n''quoted',0\r\n");
    expect(RECORDS_CSV, "a=1", -1, "text,number\r\na=1,-1\r\n");
}
END_TEST

START_TEST(json_lines_are_objects)
{
    expect(RECORDS_JSONL, "a\"\\\x1b", 7, "{\"text\":\"a\\\"\\\\\\\\x1b\",\"number\":7}\n");
    expect(RECORDS_JSONL, "", -7, "{\"text\":null,\"number\":-7}\n");
    expect(RECORDS_JSONL, "\xff", 0, "{\"text\":\"\\\\xff\",\"number\":0}\n");
}
END_TEST

START_TEST(msgpack_tells_its_columns)
{
    static const char wanted[] = "\x83\xa6schema\xb0memsnap.export/1\xa5table\xa6things"
                                 "\xa7"
                                 "columns\x92\xa4text\xa6number"
                                 "\x92\xa2hi\xd0\x80";
    struct result got = row_of(RECORDS_MSGPACK, "hi", 2, -128);
    ck_assert_uint_eq(got.size, sizeof(wanted) - 1);
    ck_assert_mem_eq(got.bytes, wanted, got.size);
    free(got.bytes);
}
END_TEST

START_TEST(long_texts_are_cut_between_characters)
{
    /* two bytes a character, after one of one byte: the limit is in the middle of one */
    size_t size = 3 * RECORD_TEXT_MOST + 1;
    char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    text[0] = 'a';
    for (size_t i = 1; i < size; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    struct result got = row_of(RECORDS_JSONL, text, size, 1);
    const char *end = strstr(got.bytes, "...\",\"number\"");
    ck_assert_ptr_nonnull(end);
    ck_assert_uint_eq((size_t)(end - got.bytes), strlen("{\"text\":\"") + RECORD_TEXT_MOST - 1);
    ck_assert_mem_eq(end - 2, "\xc3\xa9", 2);
    free(got.bytes);
    free(text);
}
END_TEST

START_TEST(a_full_device_is_told)
{
    struct record_writer records;
    struct error err;
    FILE *out = fopen("/dev/full", "w");
    bool ok = true;
    if (!out)
        return;
    ck_assert(records_begin(&records, out, RECORDS_CSV, &table, &err));
    for (int i = 0; ok && i < 1000000; i++) {
        record_word(&records, "word");
        record_none(&records);
        ok = record_end(&records, &err);
    }
    ck_assert(!ok);
    ck_assert_int_eq(err.status, STATUS_IO);
    ck_assert(!records_end(&records, &err));
    fclose(out);
}
END_TEST

TCase *records_tests(void)
{
    TCase *tests = tcase_create("records");
    tcase_add_test(tests, csv_quotes_what_needs_it);
    tcase_add_test(tests, csv_makes_no_formulas);
    tcase_add_test(tests, json_lines_are_objects);
    tcase_add_test(tests, msgpack_tells_its_columns);
    tcase_add_test(tests, long_texts_are_cut_between_characters);
    tcase_add_test(tests, a_full_device_is_told);
    return tests;
}
