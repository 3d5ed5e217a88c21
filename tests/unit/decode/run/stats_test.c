#include "decode/run/stats.h"

#include <stdio.h>
#include <string.h>

#include "unit/decode/run/run.h"

/* The rows as text: "0 training_step 2 end: rss=5 vms=6; ..." */
static bool take_point(void *self, const struct run_key *key, struct error *err)
{
    struct told *told = self;
    (void)err;
    buffer_printf(&told->text, "%s%u %s %u %s:", told->text.size ? "; " : "", key->rank,
                  symbols_text(told->symbols, key->function).bytes, key->iteration,
                  key->side == RUN_END ? "end" : "start");
    return true;
}

static bool take_stat(void *self, string_id name, int64_t number, struct error *err)
{
    struct told *told = self;
    (void)err;
    buffer_printf(&told->text, " %s=%lld", symbols_text(told->symbols, name).bytes,
                  (long long)number);
    return true;
}

static bool read_all(struct source *source, struct told *told)
{
    const struct run_stats_sink sink = {told, take_point, take_stat};
    return decode_run_stats(source, told->symbols, &sink, &told->encoding, &told->err);
}

static void check_told(const char *bytes, size_t size, enum encoding encoding, const char *wanted)
{
    struct told told;
    ck_assert_msg(told_decode(read_all, &told, bytes, size), "%s", told.err.text);
    ck_assert_int_eq(told.encoding, encoding);
    ck_assert_str_eq(told.text.size ? told.text.bytes : "", wanted);
    buffer_release(&told.text);
}

#define POINTS                                                                                     \
    "0.training_step.2.end:\n  active_bytes.all.peak: 9007199254740993\n  rss: -1\n  hook: null\n" \
    "0.training_step.2.start:\n  rss: 2.0\n"
#define TOLD                                                                                       \
    "0 training_step 2 end: active_bytes.all.peak=9007199254740993 rss=-1; "                       \
    "0 training_step 2 start: rss=2"

START_TEST(yaml_plain)
{
    check_told(POINTS, strlen(POINTS), ENCODING_YAML, TOLD);
}
END_TEST

START_TEST(yaml_with_header)
{
    static const char text[] =
        "!!python/object/apply:collections.defaultdict\nargs:\n- !!python/name:builtins.dict ''\n"
        "dictitems:\n  0.training_step.2.end:\n    active_bytes.all.peak: 9007199254740993\n"
        "    rss: -1\n    hook: null\n  0.training_step.2.start:\n    rss: 2.0\n";
    check_told(text, strlen(text), ENCODING_YAML, TOLD);
}
END_TEST

START_TEST(json_is_yaml)
{
    static const char text[] = "{\"3.fit.0.start\": {\"rss\": 7}}";
    check_told(text, strlen(text), ENCODING_YAML, "3 fit 0 start: rss=7");
}
END_TEST

/* pickle.dumps(collections.defaultdict(dict, {"1.fit.4.end": {"rss": 300, "x": 1.5}}), 2) */
START_TEST(pickle)
{
    static const char bytes[] = "\x80\x02"
                                "ccollections\ndefaultdict\nq\x00"
                                "c__builtin__\ndict\nq\x01\x85q\x02Rq\x03"
                                "X\x0b\x00\x00\x00"
                                "1.fit.4.endq\x04}q\x05(X\x03\x00\x00\x00rssq\x06M,\x01"
                                "X\x01\x00\x00\x00xq\x07G\x3f\xf8\x00\x00\x00\x00\x00\x00us.";
    check_told(bytes, sizeof(bytes) - 1, ENCODING_PICKLE, "1 fit 4 end: rss=300 x=1");
}
END_TEST

START_TEST(empty)
{
    check_told("{}\n", 3, ENCODING_YAML, "");
}
END_TEST

START_TEST(refusals)
{
    told_check_refused(
        read_all, "0.fit.1.end:\n  rss: many\n",
        "line 2: expected a number of at most 63 bits in 0.fit.1.end, found a string");
    told_check_refused(
        read_all, "0.fit.1.start:\n  rss: 1\n0.fit.1.end:\n  rss: 99999999999999999999\n",
        "line 4: expected a number of at most 63 bits in 0.fit.1.end, found a string");
    told_check_refused(read_all, "0.fit.1.end: 5\n",
                       "line 1: expected a dict of statistics in 0.fit.1.end, found an int");
    told_check_refused(
        read_all, "0.fit.1:\n  rss: 5\n",
        "line 1: expected a key such as 0.training_step.2.end in 0.fit.1, found a string");
    told_check_refused(read_all, "- 0.fit.1.end\n",
                       "line 1: expected a dict of points, found a list");
}
END_TEST

/* One set of statistics, to which many aliases refer. */
START_TEST(aliases)
{
    struct buffer text = BUFFER_INIT;
    struct told told;
    buffer_puts(&text, "0.f.0.end: &a {");
    for (int i = 0; i < 500; i++)
        buffer_printf(&text, "s%d: 1, ", i);
    buffer_puts(&text, "}\n");
    for (int i = 1; i < 2000; i++)
        buffer_printf(&text, "0.f.%d.end: *a\n", i);
    ck_assert(!told_decode(read_all, &told, text.bytes, text.size));
    ck_assert_int_eq(told.err.status, STATUS_LIMIT);
    buffer_release(&told.text);
    buffer_release(&text);
}
END_TEST

TCase *run_stats_tests(void)
{
    TCase *tests = tcase_create("stats");
    tcase_add_test(tests, yaml_plain);
    tcase_add_test(tests, yaml_with_header);
    tcase_add_test(tests, json_is_yaml);
    tcase_add_test(tests, pickle);
    tcase_add_test(tests, empty);
    tcase_add_test(tests, refusals);
    tcase_add_test(tests, aliases);
    return tests;
}
