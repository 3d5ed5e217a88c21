#include <inttypes.h>
#include <string.h>

#include "decode/timeline/timeline.h"
#include "unit/rows.h"

#define PLENTY ((size_t)1 << 20)

static struct rows_outcome decode(const char *json, size_t limit)
{
    return rows_decode(decode_timeline_snapshot, json, strlen(json), limit);
}

static struct profile_facts check(const char *json, const char *rows)
{
    return rows_check(decode_timeline_snapshot, json, rows).profile;
}

static void check_refused(const char *json, enum status status, const char *text)
{
    struct rows_outcome outcome = decode(json, PLENTY);
    ck_assert_msg(!outcome.ok, "taken: %s", json);
    ck_assert_msg(strstr(outcome.err.text, text) != NULL, "%s: %s", json, outcome.err.text);
    ck_assert_int_eq(outcome.err.status, status);
    buffer_release(&outcome.rows);
}

/* Rows from before the profile get the first time that follows. Even a row without a change may
 * have it. */
START_TEST(older_rows_get_the_first_time)
{
    struct profile_facts facts =
        check("[[-1,1,8,0],[-1,1,16,2],[3999,3,-8,0],[3999,3,8,0],[5000,4,-16,2]]",
              "trace 0\n"
              "event 0 0  512 8 t3 category=parameter 8 B@<size>:0\n"
              "event 0 0  1024 16 t3 category=input 16 B@<size>:0\n"
              "event 0 2  1024 16 t5 category=input 16 B@<size>:0\n");
    ck_assert(facts.is_timeline && !facts.is_sums);
    ck_assert_uint_eq(facts.older_count, 2);
    ck_assert_int_eq(facts.older_bytes, 24);
    check("[[-1,1,8,0]]", "trace 0\nevent 0 0  512 8 category=parameter 8 B@<size>:0\n");
}
END_TEST

START_TEST(latest_of_its_size_and_category_ends)
{
    struct profile_facts facts =
        check("[[1000,2,8,4],[2000,2,8,4],[3000,2,8,5],[4000,4,-8,4],[5000,4,-8,4]]",
              "trace 0\n"
              "event 0 0  512 8 t1 category=activation 8 B@<size>:0\n"
              "event 0 0  1024 8 t2 category=activation 8 B@<size>:0\n"
              "event 0 0  1536 8 t3 category=gradient 8 B@<size>:0\n"
              "event 0 2  1024 8 t4 category=activation 8 B@<size>:0\n"
              "event 0 2  512 8 t5 category=activation 8 B@<size>:0\n");
    ck_assert_uint_eq(facts.recategorized_count, 0);
}
END_TEST

START_TEST(frees_that_do_not_fit)
{
    struct profile_facts facts = check("[[1000,2,8,4],[2000,4,-8,5],[3000,4,-8,5]]",
                                       "trace 0\n"
                                       "event 0 0  512 8 t1 category=activation 8 B@<size>:0\n"
                                       "event 0 2  512 8 t2 category=activation 8 B@<size>:0\n"
                                       "event 0 2  1024 8 t3 category=gradient 8 B@<size>:0\n");
    ck_assert_uint_eq(facts.recategorized_count, 1);
    ck_assert_uint_eq(facts.unmatched_count, 1);
}
END_TEST

/* The category of a tensor changes but not its size, or the file ends between the two rows of such
 * a change. */
START_TEST(versions)
{
    check("[[1000,2,8,4],[2000,3,-8,4],[2000,3,8,5]]",
          "trace 0\n"
          "event 0 0  512 8 t1 category=activation 8 B@<size>:0\n"
          "event 0 2  512 8 t2 category=activation 8 B@<size>:0\n"
          "event 0 0  1024 8 t2 category=gradient 8 B@<size>:0\n");
    check("[[1000,2,8,4],[2000,3,-8,4]]", "trace 0\n"
                                          "event 0 0  512 8 t1 category=activation 8 B@<size>:0\n"
                                          "event 0 2  512 8 t2 category=activation 8 B@<size>:0\n");
}
END_TEST

#define ROW(parameter, activation) "[0," parameter ",0,0,0," activation ",0,0,0]"

START_TEST(sums)
{
    struct profile_facts facts =
        check("[[7,7,9],[" ROW("8", "0") "," ROW("8", "16") "," ROW("24", "4") "]]",
              "trace 0\n"
              "event 0 0  512 8 t7 category=parameter parameter@<category>:0\n"
              "event 0 0  1024 16 t7 category=activation activation@<category>:0\n"
              "event 0 2  1024 16 t9 category=activation activation@<category>:0\n"
              "event 0 0  1536 4 t9 category=activation activation@<category>:0\n"
              "event 0 0  2048 16 t9 category=parameter parameter@<category>:0\n");
    ck_assert(facts.is_timeline && facts.is_sums);
    ck_assert_int_eq(facts.older_bytes, 8);
    facts = check("[[7],[" ROW("-8", "0") "]]",
                  "trace 0\n"
                  "event 0 2  512 8 t7 category=parameter parameter@<category>:0\n");
    ck_assert_uint_eq(facts.unmatched_count, 1);
    /* as torch 2.1 writes them */
    check("[[7],[[0.0,100.0,0,0,0,0,0,0,0]]]",
          "trace 0\n"
          "event 0 0  512 100 t7 category=parameter parameter@<category>:0\n");
    check("[[],[]]", "trace 0\n");
}
END_TEST

START_TEST(refusals)
{
    check_refused("[]", STATUS_BAD_INPUT, "an array");
    check_refused("[[]]", STATUS_BAD_INPUT, "expected [time, action, bytes, category]");
    check_refused("[[1,2],[[0]],[]]", STATUS_BAD_INPUT, "expected 9 sizes");
    check_refused("[[],[],[]]", STATUS_BAD_INPUT, "the end of the times and sizes");
    check_refused("[[1,2,true,0]]", STATUS_BAD_INPUT, "a whole number");
    check_refused("[[1,2,100.50,0]]", STATUS_BAD_INPUT, "a number that is not whole");
    check_refused("[[1,2,1e3,0]]", STATUS_BAD_INPUT, "a number that is not whole");
    check_refused("[[1,2,8,0]] x", STATUS_BAD_INPUT, "the end of the file");
    check_refused("[[1,2,2305843009213693951,0],[1,2,2305843009213693951,0],"
                  "[1,2,2305843009213693951,0]]",
                  STATUS_BAD_INPUT, "add up to more than 4 EiB");
}
END_TEST

/* More rows than the budget has room for, in each form. */
START_TEST(memory_is_limited)
{
    static const char *const forms[][3] = {{"[[1,2,8,0]", ",[1,2,8,0]", "]"},
                                           {"[[1", ",1", "]]"},
                                           {"[[-1,1,8,0]", ",[-1,1,8,0]", "]"}};
    for (size_t form = 0; form < sizeof(forms) / sizeof(forms[0]); form++) {
        struct buffer json = BUFFER_INIT;
        buffer_puts(&json, forms[form][0]);
        for (int i = 0; i < 40000; i++)
            buffer_puts(&json, forms[form][1]);
        buffer_puts(&json, forms[form][2]);
        struct rows_outcome outcome = decode(json.bytes, (size_t)300 * 1024);
        ck_assert(!outcome.ok);
        ck_assert_int_eq(outcome.err.status, STATUS_LIMIT);
        buffer_release(&outcome.rows);
        buffer_release(&json);
    }
}
END_TEST

Suite *unit_suite(void)
{
    Suite *suite = suite_create("timeline");
    TCase *tests = tcase_create("timeline");
    tcase_add_test(tests, older_rows_get_the_first_time);
    tcase_add_test(tests, latest_of_its_size_and_category_ends);
    tcase_add_test(tests, frees_that_do_not_fit);
    tcase_add_test(tests, versions);
    tcase_add_test(tests, sums);
    tcase_add_test(tests, refusals);
    tcase_add_test(tests, memory_is_limited);
    suite_add_tcase(suite, tests);
    return suite;
}
