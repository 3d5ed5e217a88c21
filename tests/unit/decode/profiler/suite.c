#include <inttypes.h>
#include <string.h>

#include "decode/profiler/profile.h"
#include "decode/profiler/profiler.h"
#include "unit/decode/profiler/profiler.h"
#include "unit/rows.h"

#define PLENTY ((size_t)1 << 20)

#define MEMORY(ts, arguments)                                                                      \
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2,"       \
    "\"ts\":" ts ",\"args\":{\"Device Type\":1,\"Device Id\":0," arguments "}}"
#define RANGE(category, name, ts, duration)                                                        \
    "{\"ph\":\"X\",\"cat\":\"" category "\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":" ts  \
    ",\"dur\":" duration "}"
#define TRACE(events) "{\"traceEvents\":[" events "]}"

static struct rows_outcome decode(const char *json, size_t limit)
{
    return rows_decode(decode_profiler_snapshot, json, strlen(json), limit);
}

static struct profile_facts check(const char *json, const char *rows)
{
    return rows_check(decode_profiler_snapshot, json, rows).profile;
}

#define MAKE_8(ts) MEMORY(ts, "\"Bytes\":8")
#define FREE_8     MEMORY("20", "\"Bytes\":-8")
#define FREE_600   MEMORY("30", "\"Bytes\":-600")

/* A free of memory that the file does not allocate is of memory from before the profile. */
START_TEST(without_addresses)
{
    struct profile_facts facts = check(TRACE(FREE_8 "," MAKE_8("10") "," MAKE_8("15") "," FREE_600),
                                       "trace 0\n"
                                       "event 0 0  512 8 t10\n"
                                       "event 0 0  1024 8 t15\n"
                                       "event 0 2  1024 8 t20\n"
                                       "event 0 2  1536 600 t30\n"
                                       "segment 0 0 8 8 8 8 s0 p0,0 large\n"
                                       "block 512 8 8 0\n");
    ck_assert(facts.is_profile && facts.no_addresses && !facts.has_reserved);
    ck_assert(!facts.is_timeline && !facts.is_cut);
}
END_TEST

#define TOTALS(allocated, reserved)                                                                \
    "\"Bytes\":512,\"Total Allocated\":" allocated ",\"Total Reserved\":" reserved
#define FIRST  MEMORY("1.5", "\"Addr\":4096," TOTALS("612", "1024"))
#define SECOND MEMORY("2.25", "\"Addr\":8192," TOTALS("1124", "2048"))

/* The totals tell how much memory was there before and stays, and how reserved memory changes. */
START_TEST(with_totals)
{
    struct profile_facts facts = check(
        "{\"baseTimeNanoseconds\":1000000,"
        "\"distributedInfo\":{\"rank\":2,\"world_size\":4},\"traceEvents\":[" FIRST "," SECOND "]}",
        "trace 0\n"
        "event 0 0  4096 512 t1001\n"
        "event 0 3  0 1024 t1002\n"
        "event 0 0  8192 512 t1002\n"
        "segment 0 0 2048 1124 1124 1124 s0 p0,0 large\n"
        "block 4096 512 512 0\n"
        "block 8192 512 512 0\n"
        "block 1 100 100 0\n"
        "block 2 924 0 2\n");
    ck_assert(!facts.no_addresses && facts.has_reserved);
    ck_assert(facts.rank == 2 && facts.world_size == 4);
}
END_TEST

#define MAIN   RANGE("python_function", "a.py(3): main", "1", "100")
#define MUL    RANGE("cpu_op", "aten::mul", "5", "10")
#define STEP   RANGE("user_annotation", "ProfilerStep#4", "0", "200")
#define KERNEL RANGE("kernel", "gemm", "6", "2")

START_TEST(ranges_are_stacks)
{
    struct profile_facts facts =
        check(TRACE(MAIN "," MUL "," STEP "," KERNEL "," MEMORY("7", "\"Bytes\":8")),
              "trace 0\n"
              "event 0 0  512 8 t7 aten::mul@:0 main@a.py:3\n"
              "segment 0 0 8 8 8 8 s0 p0,0 large\n"
              "block 512 8 8 0 aten::mul@:0 main@a.py:3\n"
              "annotation 0 ProfilerStep#4 0 t0\n"
              "annotation 1 ProfilerStep#4 0 t200\n");
    ck_assert(facts.has_python);
}
END_TEST

#define CALL(name, from, ts, duration)                                                             \
    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"" name                                   \
    "\",\"pid\":1,\"tid\":2,\"ts\":" ts ",\"dur\":" duration ",\"args\":{\"CallFrom\":\"" from     \
    "\",\"Python id\":7}}"
#define CALLS                                                                                      \
    CALL("lib/a.py(3): main", "<string>:1", "1", "100")                                            \
    "," CALL("lib/a.py(9): step", "lib/a.py:5", "5",                                               \
             "10") "," CALL("<built-in method randn>", "a.py:6", "20",                             \
                            "1") "," CALL("b.py(1): other", "c.py:8", "30", "10")

/* A function has come to the line of the last call in it, if that is in its file. */
START_TEST(calls_tell_lines)
{
    check(TRACE(CALLS "," MEMORY("2", "\"Bytes\":1") "," MEMORY("6", "\"Bytes\":1") "," MEMORY(
              "16", "\"Bytes\":1") "," MEMORY("22", "\"Bytes\":1") "," MEMORY("31", "\"Bytes\":1")),
          "trace 0\n"
          "event 0 0  512 1 t2 main@lib/a.py:3\n"
          "event 0 0  1024 1 t6 step@lib/a.py:9 main@lib/a.py:5\n"
          "event 0 0  1536 1 t16 main@lib/a.py:5\n"
          "event 0 0  2048 1 t22 main@lib/a.py:6\n"
          "event 0 0  2560 1 t31 other@b.py:1 main@lib/a.py:6\n"
          "segment 0 0 5 5 5 5 s0 p0,0 large\n"
          "block 512 1 1 0 main@lib/a.py:3\n"
          "block 1024 1 1 0 step@lib/a.py:9 main@lib/a.py:5\n"
          "block 1536 1 1 0 main@lib/a.py:5\n"
          "block 2048 1 1 0 main@lib/a.py:6\n"
          "block 2560 1 1 0 other@b.py:1 main@lib/a.py:6\n");
}
END_TEST

START_TEST(cut_and_refused)
{
    struct profile_facts facts =
        check("{\"traceEvents\":[" MEMORY("7", "\"Bytes\":8") ",{\"ph\":\"i\",\"na",
              "trace 0\n"
              "event 0 0  512 8 t7\n"
              "segment 0 0 8 8 8 8 s0 p0,0 large\n"
              "block 512 8 8 0\n");
    ck_assert(facts.is_cut);
    struct rows_outcome outcome = decode(TRACE(""), PLENTY);
    ck_assert(!outcome.ok && strstr(outcome.err.text, "no [memory] events") != NULL);
    buffer_release(&outcome.rows);
}
END_TEST

START_TEST(memory_is_limited)
{
    struct buffer json = BUFFER_INIT;
    buffer_puts(&json, "{\"traceEvents\":[" MEMORY("1", "\"Bytes\":8"));
    for (int i = 0; i < 20000; i++)
        buffer_puts(&json, "," MEMORY("1", "\"Bytes\":8"));
    buffer_puts(&json, "]}");
    struct rows_outcome outcome = decode(json.bytes, PLENTY);
    ck_assert(!outcome.ok);
    ck_assert_int_eq(outcome.err.status, STATUS_LIMIT);
    buffer_release(&outcome.rows);
    buffer_release(&json);
}
END_TEST

static bool is_less(const void *self, uint32_t a, uint32_t b)
{
    const uint32_t *keys = self;
    return keys[a] < keys[b];
}

/* A stable sort, whatever the runs in the input. */
START_TEST(sort)
{
    struct budget budget = {.limit = PLENTY};
    struct error err;
    uint32_t keys[500], items[500], seed = 18;
    for (uint32_t runs = 1; runs < 9; runs++) {
        for (uint32_t i = 0; i < 500; i++) {
            seed = seed * 1664525 + 1013904223;
            keys[i] = runs == 8 ? seed >> 28 : i * runs % 500;
            items[i] = i;
        }
        ck_assert(profile_sort(items, 500, is_less, keys, &budget, &err));
        for (uint32_t i = 1; i < 500; i++)
            ck_assert(keys[items[i - 1]] < keys[items[i]] ||
                      (keys[items[i - 1]] == keys[items[i]] && items[i - 1] < items[i]));
    }
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

Suite *unit_suite(void)
{
    Suite *suite = suite_create("profiler");
    TCase *tests = tcase_create("profiler");
    tcase_add_test(tests, without_addresses);
    tcase_add_test(tests, with_totals);
    tcase_add_test(tests, ranges_are_stacks);
    tcase_add_test(tests, calls_tell_lines);
    tcase_add_test(tests, cut_and_refused);
    tcase_add_test(tests, memory_is_limited);
    tcase_add_test(tests, sort);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, profiler_ranges_tests());
    return suite;
}
