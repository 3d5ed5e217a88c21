#include "analysis/check/check.h"

#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define LINE(file, line) PY("forward", file, line) "," SCRIPT

static struct capture capture;
static struct check_rules rules;
static struct check_result result;
static struct error err;

static void create(void)
{
    capture_init(&capture);
    rules = (struct check_rules){0};
    result = (struct check_result){0};
}

static void destroy(void)
{
    check_result_release(&result);
    check_rules_release(&rules);
    capture_release(&capture);
}

static void rule(const char *kind, const char *argument)
{
    ck_assert_msg(check_rules_add(&rules, check_kind_find(kind), argument, &err), "%s", err.text);
}

/* Live at the peak: two lines of one function, 300 bytes in two operators of one line, and 400
 * bytes of another file. */
static void load(void)
{
    capture_event(&capture, "alloc", 0x1000, 200,
                  CPP("at::_ops::mm::call(x)") "," LINE("/u/a.py", 3));
    capture_event(&capture, "alloc", 0x2000, 300,
                  CPP("at::_ops::mul::call(x)") "," LINE("/u/a.py", 3));
    capture_event(&capture, "alloc", 0x3000, 100, LINE("/u/a.py", 9));
    capture_event(&capture, "alloc", 0x4000, 400, LINE("/u/b.py", 5));
    capture_event(&capture, "alloc", 0x5000, 50, "");
    capture_free(&capture, 0x4000, 400, "");
    capture_event(&capture, "alloc", 0x6000, 10, LINE("/u/late.py", 1));
    capture_load(&capture);
}

static bool judge(const struct check_baseline *baseline)
{
    const struct check_question question = {
        .rules = &rules, .baseline = baseline, .sites = capture.sites};
    struct device_report *report = capture_report(&capture, 0);
    check_result_release(&result);
    bool ok = check_rules_resolve(&rules, &err) &&
              check_device(&question, report, report, &result, &err) &&
              check_finish(&rules, &result, &err);
    device_report_destroy(report);
    return ok;
}

static void expect(size_t row, int64_t value, bool passed, const char *label, int64_t bytes)
{
    ck_assert_uint_lt(row, result.count);
    ck_assert_int_eq(result.rows[row].value, value);
    ck_assert(result.rows[row].passed == passed);
    ck_assert_str_eq(result.rows[row].blame.label ? result.rows[row].blame.label : "", label);
    ck_assert_int_eq(result.rows[row].blame.bytes, bytes);
}

START_TEST(a_line_is_blamed_with_all_its_operators)
{
    load();
    rule("max-peak", "1049");
    ck_assert_msg(judge(NULL), "%s", err.text);
    expect(0, 1050, false, "a.py:3 forward", 500);
    ck_assert_str_eq(result.rows[0].blame.file, "/u/a.py");
    ck_assert_uint_eq(result.rows[0].blame.line, 3);
    rule("max-peak", "1050");
    ck_assert(judge(NULL));
    expect(0, 1050, true, "a.py:3 forward", 500);
}
END_TEST

START_TEST(sites_sum_up)
{
    load();
    rule("max-site", "a.py:*=599");
    rule("max-site", "* forward=1000");
    rule("max-site", "(no stack recorded)=49");
    rule("max-site", "late.py=0");
    ck_assert_msg(judge(NULL), "%s", err.text);
    expect(0, 600, false, "a.py:3 forward", 500);
    expect(1, 1000, true, "a.py:3 forward", 500);
    expect(2, 50, false, "(no stack recorded)", 50);
    expect(3, 0, true, "", 0); /* it has some, but not at the peak */
    ck_assert(!check_result_passed(&result));
}
END_TEST

START_TEST(what_is_not_there_cannot_pass)
{
    load();
    rule("max-site", "c.py=0");
    ck_assert(!judge(NULL));
    ck_assert_int_eq(err.status, STATUS_USAGE);
    check_rules_release(&rules);
    rule("max-category", "communication=0");
    ck_assert(!judge(NULL));
    check_rules_release(&rules);
    rule("no-leaks", NULL);
    ck_assert(!judge(NULL));
    check_rules_release(&rules);
    rule("max-increase", "0");
    ck_assert(!judge(NULL));
}
END_TEST

/* What grows little has no advice of its own, and may be a pool that is not full yet. */
START_TEST(a_pool_that_is_not_full)
{
    char name[] = "ProfilerStep#0";
    capture_event(&capture, "alloc", 0x1000, 1000000, LINE("/u/b.py", 5));
    for (uint64_t step = 0; step < 6; step++, name[13]++) {
        capture.time_us++;
        capture_annotate(&capture, "START", name, 0);
        capture_event(&capture, "alloc", 0x10000000 + step, 100, LINE("/u/a.py", 3));
        capture.time_us++;
        capture_annotate(&capture, "END", name, 0);
    }
    capture_load(&capture);
    rule("no-leaks", NULL);
    ck_assert_msg(judge(NULL), "%s", err.text);
    ck_assert_uint_eq(result.count, 1);
    ck_assert(result.rows[0].judged && !result.rows[0].passed);
    ck_assert_ptr_nonnull(result.rows[0].next);
    ck_assert_ptr_nonnull(strstr(result.rows[0].next, "pool of limited size"));
}
END_TEST

START_TEST(other_rules_are_judged_nevertheless)
{
    load();
    rule("no-leaks", NULL);
    rule("max-peak", "1049");
    rule("max-site", "c.py=0");
    ck_assert_msg(judge(NULL), "%s", err.text);
    ck_assert_uint_eq(result.count, 3);
    ck_assert_uint_eq(result.not_judged, 2);
    expect(0, 1050, false, "a.py:3 forward", 500);
    for (size_t row = 1; row < 3; row++) {
        ck_assert(!result.rows[row].judged);
        ck_assert(result.rows[row].passed);
    }
    ck_assert_ptr_nonnull(strstr(result.rows[1].why, "fewer than 3 complete steps"));
    ck_assert_str_eq(result.rows[2].rule->subject, "c.py");
    ck_assert_ptr_nonnull(strstr(result.rows[2].why, "no call site"));
    ck_assert(!result.is_incomplete);
    ck_assert(!check_result_holds(&result));
    rule("max-peak", "1050");
    ck_assert(judge(NULL));
    ck_assert(check_result_passed(&result));
    rules.not_judged = CHECK_NOT_JUDGED_ERROR;
    ck_assert(judge(NULL));
    ck_assert(result.is_incomplete);
    ck_assert(check_result_holds(&result));
    ck_assert(!check_result_passed(&result));
}
END_TEST

/* A baseline of the capture itself, in which some call sites can be given other sizes. */
static void make_baseline(struct check_baseline *baseline)
{
    struct device_report *report = capture_report(&capture, 0);
    check_baseline_init(baseline, 1 << 20);
    ck_assert(check_baseline_add(baseline, report, capture.sites, &err));
    device_report_destroy(report);
}

/* The largest call site of a line in the baseline. */
static struct diff_site *old_site(struct check_baseline *baseline, uint32_t line)
{
    struct diff_side *side = &baseline->devices[0].side;
    for (size_t i = 0; i < side->site_count; i++)
        if (side->sites[i].place.line == line)
            return &side->sites[i];
    ck_abort_msg("no line %u", line);
}

START_TEST(an_increase_is_measured_and_blamed)
{
    struct check_baseline baseline;
    load();
    make_baseline(&baseline);
    rule("max-increase", "0");
    ck_assert(judge(&baseline));
    expect(0, 0, true, "", 0);

    /* line 3 of a.py held 100 less before, b.py 100 more than now */
    old_site(&baseline, 3)->bytes -= 100;
    old_site(&baseline, 5)->bytes += 100;
    baseline.devices[0].peak_bytes -= 7;
    ck_assert(judge(&baseline));
    expect(0, 7, false, "a.py:3 forward", 100);
    ck_assert_int_eq(result.rows[0].whole, 1043);

    /* b.py was another file: all of it is new */
    old_site(&baseline, 5)->place.file = STRING_EMPTY;
    ck_assert(judge(&baseline));
    expect(0, 7, false, "b.py:5 forward", 400);
    check_baseline_release(&baseline);
}
END_TEST

/* Call sites of functions with one name are not lumped together where one of them is new, nor where
 * the code moved. */
START_TEST(an_increase_is_not_that_of_a_whole_function)
{
    struct check_baseline baseline;
    capture_event(&capture, "alloc", 0x1000, 100, LINE("/u/model.py", 10));
    capture_event(&capture, "alloc", 0x2000, 700, LINE("/u/model.py", 30));
    capture_event(&capture, "alloc", 0x4000, 1000, LINE("/u/model.py", 55));
    capture_event(&capture, "alloc", 0x8000, 1300, LINE("/u/model.py", 95));
    capture_load(&capture);
    make_baseline(&baseline);
    struct diff_side *old = &baseline.devices[0].side;
    old_site(&baseline, 55)->place.line = 50;
    old_site(&baseline, 95)->place.line = 90;
    *old_site(&baseline, 30) = old->sites[--old->site_count];
    baseline.devices[0].peak_bytes -= 700;
    rule("max-increase", "0");
    ck_assert(judge(&baseline));
    expect(0, 700, false, "model.py:30 forward", 700);
    check_baseline_release(&baseline);
}
END_TEST

/* A step: 1500 bytes at the peak of the forward pass, 1600 at that of the backward pass, and what
 * is kept from before during the forward pass. */
static void load_step(uint64_t kept)
{
    if (kept)
        capture_event(&capture, "alloc", 0x9000, kept, PY("keep", "/u/kept.py", 7) "," SCRIPT);
    capture_event(&capture, "alloc", 0x1000, 500, STACK_FORWARD);
    capture_event(&capture, "alloc", 0x2000, 1000,
                  PY("forward", "/home/u/model.py", 8) "," CALL "," SCRIPT);
    capture_free(&capture, 0x2000, 1000, "");
    if (kept)
        capture_free(&capture, 0x9000, kept, "");
    capture_event(&capture, "alloc", 0x3000, 1100, STACK_BACKWARD);
    capture_free(&capture, 0x1000, 500, ENGINE);
    capture_load(&capture);
}

START_TEST(peaks_of_one_phase_are_compared)
{
    struct check_baseline baseline;
    load_step(0);
    make_baseline(&baseline);
    capture_release(&capture);
    capture_init(&capture);
    load_step(400); /* the peak moves into the forward pass */
    rule("max-increase", "0");
    ck_assert(judge(&baseline));
    expect(0, 300, false, "kept.py:7 keep", 400);
    check_baseline_release(&baseline);
}
END_TEST

START_TEST(another_device_is_no_baseline)
{
    struct check_baseline baseline;
    load();
    make_baseline(&baseline);
    baseline.devices[0].device = 1;
    rule("max-increase", "0");
    ck_assert(!judge(&baseline));
    check_baseline_release(&baseline);
}
END_TEST

START_TEST(errors_of_the_allocator_count)
{
    capture_event(&capture, "alloc", 0x1000, 200, LINE("/u/a.py", 3));
    capture_event(&capture, "oom", 4096, 900, LINE("/u/a.py", 4));
    capture_event(&capture, "oom", 4096, 901, LINE("/u/a.py", 5));
    capture_load(&capture);
    rule("no-oom", NULL);
    ck_assert_msg(judge(NULL), "%s", err.text);
    ck_assert_int_eq(result.rows[0].value, 2);
    ck_assert(!result.rows[0].passed);
    ck_assert_str_eq(result.rows[0].blame.label, "a.py:5 forward");
    ck_assert_ptr_nonnull(result.rows[0].next);
}
END_TEST

TCase *check_tests(void)
{
    TCase *tcase = tcase_create("check");
    tcase_add_checked_fixture(tcase, create, destroy);
    tcase_add_test(tcase, a_line_is_blamed_with_all_its_operators);
    tcase_add_test(tcase, sites_sum_up);
    tcase_add_test(tcase, what_is_not_there_cannot_pass);
    tcase_add_test(tcase, a_pool_that_is_not_full);
    tcase_add_test(tcase, other_rules_are_judged_nevertheless);
    tcase_add_test(tcase, an_increase_is_measured_and_blamed);
    tcase_add_test(tcase, an_increase_is_not_that_of_a_whole_function);
    tcase_add_test(tcase, peaks_of_one_phase_are_compared);
    tcase_add_test(tcase, another_device_is_no_baseline);
    tcase_add_test(tcase, errors_of_the_allocator_count);
    return tcase;
}
