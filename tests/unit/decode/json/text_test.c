#include "unit/decode/json/json.h"

#include <math.h>
#include <string.h>

#include "decode/core/pytext.h"

#define BYTES(literal) literal, sizeof(literal) - 1

static const struct {
    const char *bytes;
    size_t size;
    enum encoding encoding;
    const char *instead; /* in the error */
    enum file_kind kind;
} beginnings[] = {
    {BYTES("\x80\4\x95\x10\0\0\0\0\0\0\0}\x94(\x8c\x08segments\x94]"), ENCODING_PICKLE, NULL,
     KIND_SNAPSHOT},
    {BYTES("\x80\2}q\0(X\x0d\0\0\0device_tracesq\1]"), ENCODING_PICKLE, NULL, KIND_SNAPSHOT},
    {BYTES("}q\0(U\x08segmentsq\1]"), ENCODING_PICKLE, NULL, KIND_SNAPSHOT},
    {BYTES("(dp0\nVsegments\np1\n(l"), ENCODING_PICKLE, NULL, KIND_SNAPSHOT},
    {BYTES("(lp0\n."), ENCODING_PICKLE, NULL, KIND_UNKNOWN},
    {BYTES("]q\0."), ENCODING_PICKLE, NULL, KIND_UNKNOWN},
    {BYTES("\x80\5N."), ENCODING_PICKLE, NULL, KIND_UNKNOWN},
    {BYTES("\xef\xbb\xbf \n{\"segments\" : []}"), ENCODING_JSON, NULL, KIND_SNAPSHOT},
    {BYTES("[{\"total_size\": 1, \"blocks\": []}]"), ENCODING_JSON, NULL, KIND_SNAPSHOT},
    {BYTES("{\"traces\": [{\"segments\": 1}]}"), ENCODING_JSON, NULL, KIND_LAYER_TRACE},
    {BYTES("{\"segments\": [{\"traces\": 1}]}"), ENCODING_JSON, NULL, KIND_SNAPSHOT},
    {BYTES("{\"schema\": \"x\", \"variable\": \"B\", \"gpus\": []}"), ENCODING_JSON, NULL,
     KIND_FIT},
    {BYTES("{\"variable\": \"B\"}"), ENCODING_JSON, NULL, KIND_UNKNOWN},
    {BYTES("{\"trace\": [\"traces\", \"segments\"]}"), ENCODING_JSON, NULL, KIND_UNKNOWN},
    {BYTES(""), ENCODING_UNKNOWN, "an empty file", KIND_UNKNOWN},
    {BYTES(" \n"), ENCODING_UNKNOWN, "white space only", KIND_UNKNOWN},
    {BYTES("hello\nworld"), ENCODING_UNKNOWN, "a text file", KIND_UNKNOWN},
    {BYTES("<!DOCTYPE html><p>"), ENCODING_UNKNOWN, "an HTML page", KIND_UNKNOWN},
    {BYTES("PK\3\4abc"), ENCODING_UNKNOWN, "a zip archive (torch.save?)", KIND_UNKNOWN},
    {BYTES("\x7f"
           "ELF\2\1"),
     ENCODING_UNKNOWN, "an ELF program", KIND_UNKNOWN},
    {BYTES("\x80\7]."), ENCODING_UNKNOWN, "unknown pickle protocol 7", KIND_UNKNOWN},
    {BYTES("\0\1\2\3"), ENCODING_UNKNOWN, "unknown binary data", KIND_UNKNOWN},
};

START_TEST(beginning_is_recognised)
{
    struct budget budget = {.limit = JSON_PLENTY};
    struct error err = {0};
    struct source source;
    enum encoding encoding = ENCODING_UNKNOWN;
    ck_assert(
        source_open_memory(&source, beginnings[_i].bytes, beginnings[_i].size, &budget, &err));
    bool ok = sniff_encoding(&source, &encoding, &err);
    ck_assert_int_eq(encoding, beginnings[_i].encoding);
    ck_assert_int_eq(ok, beginnings[_i].instead == NULL);
    if (!ok) {
        ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
        ck_assert_msg(strstr(err.text, beginnings[_i].instead) != NULL, "%s", err.text);
    }
    ck_assert_int_eq(sniff_kind(&source), beginnings[_i].kind);
    ck_assert_uint_eq(source_offset(&source), 0);
    source_close(&source);
}
END_TEST

TCase *sniff_tests(void)
{
    TCase *tests = tcase_create("sniff");
    tcase_add_loop_test(tests, beginning_is_recognised, 0,
                        (int)(sizeof(beginnings) / sizeof(beginnings[0])));
    return tests;
}

/* Expected text as from repr() of Python 3. */
static const struct {
    double value;
    const char *text;
} reals[] = {
    {0.0, "0.0"},
    {-0.0, "-0.0"},
    {1.0, "1.0"},
    {-1.5, "-1.5"},
    {0.1, "0.1"},
    {0.30000000000000004, "0.30000000000000004"},
    {1e-4, "0.0001"},
    {1e-5, "1e-05"},
    {1.25e-7, "1.25e-07"},
    {123456.0, "123456.0"},
    {9999999999999998.0, "9999999999999998.0"},
    {1e16, "1e+16"},
    {1.2345678901234568e+17, "1.2345678901234568e+17"},
    {5e-324, "5e-324"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {INFINITY, "inf"},
    {-INFINITY, "-inf"},
    {NAN, "nan"},
};

START_TEST(reals_as_python_prints_them)
{
    struct buffer out = BUFFER_INIT;
    pytext_real(&out, reals[_i].value);
    ck_assert_str_eq(out.bytes, reals[_i].text);
    buffer_release(&out);
}
END_TEST

START_TEST(strings_as_python_prints_them)
{
    struct buffer out = BUFFER_INIT;
    pytext_quoted(&out, BYTES("it's"));
    pytext_quoted(&out, BYTES("a'\"\\\n\0\x7f\xc2\x85\xc3\xa9"));
    ck_assert_str_eq(out.bytes, "\"it's\"'a\\'\"\\\\\\n\\x00\\x7f\\x85\xc3\xa9'");
    buffer_release(&out);
}
END_TEST

START_TEST(ints_of_any_size)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *text;
    } ints[] = {
        {"", 0, "0"},
        {"\x7f", 1, "127"},
        {"\x80", 1, "-128"},
        {"\x00\xff", 2, "-256"},
        {"\0\xca\x9a\x3b", 4, "1000000000"},
        {"\0\0\0\0\0\0\0\0\1", 9, "18446744073709551616"},
        {"\0\0\0\0\0\0\0\0\xff", 9, "-18446744073709551616"},
    };
    uint8_t large[PYTEXT_INT_BYTES + 1] = {0};
    for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++) {
        struct buffer out = BUFFER_INIT;
        ck_assert(pytext_int(&out, (const uint8_t *)ints[i].bytes, ints[i].size));
        ck_assert_str_eq(out.bytes, ints[i].text);
        buffer_release(&out);
    }
    struct buffer out = BUFFER_INIT;
    ck_assert(!pytext_int(&out, large, sizeof(large)));
    memset(large, 0xff, sizeof(large)); /* 2^1023 - 1, which has 308 digits */
    large[PYTEXT_INT_BYTES - 1] = 0x7f;
    ck_assert(pytext_int(&out, large, PYTEXT_INT_BYTES));
    ck_assert_uint_eq(out.size, 308);
    buffer_release(&out);
}
END_TEST

TCase *pytext_tests(void)
{
    TCase *tests = tcase_create("pytext");
    tcase_add_test(tests, ints_of_any_size);
    tcase_add_loop_test(tests, reals_as_python_prints_them, 0,
                        (int)(sizeof(reals) / sizeof(reals[0])));
    tcase_add_test(tests, strings_as_python_prints_them);
    return tests;
}
