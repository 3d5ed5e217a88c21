/* The finding that the advice for an out-of-memory event names. */
#include "analysis/findings/oom_finding.h"

#include <string.h>

#include "unit/analysis/analysis.h"

#define PEAK    10000
#define REQUEST 3000

static struct oom_row row;
static struct finding finding;

static void create(void)
{
    row = (struct oom_row){.item = 101,
                           .verdict = OOM_SHORTAGE,
                           .requested_bytes = REQUEST,
                           .at = {.active_bytes = PEAK},
                           .next = "the largest category"};
    finding = (struct finding){.kind = FINDING_NO_GRAD, .save_bytes = REQUEST, .at_least = true};
}

/* The number of the finding that the row names, if the others are before `finding`. */
static size_t named(const struct finding *others, size_t count)
{
    struct findings findings = {.count = count + 1};
    struct ooms ooms = {.items = &row, .count = 1, .total = 1};
    for (size_t i = 0; i < count; i++)
        findings.items[i] = others[i];
    findings.items[count] = finding;
    const struct moment peak = {.item = 100, .active_bytes = PEAK};
    oom_finding_add(&ooms, &findings, &peak, UNIT_AUTO);
    ck_assert_int_eq(row.finding == 0, strcmp(row.next, "the largest category") == 0);
    return row.finding;
}

START_TEST(what_is_enough_is_named_with_its_line)
{
    char line[] = "train.py:41 evaluate";
    finding.where = line;
    ck_assert_uint_eq(named(NULL, 0), 1);
    ck_assert_str_eq(row.next, "run the passes that no backward pass uses under torch.no_grad(), "
                               "which leaves enough for this request: possible saving 1 (at least "
                               "2.93 KiB, at train.py:41 evaluate)");
}
END_TEST

/* A finding may have another remedy than others of its kind. */
START_TEST(a_finding_has_a_remedy_of_its_own)
{
    finding.remedy = "compute targets under torch.no_grad()";
    ck_assert_uint_eq(named(NULL, 0), 1);
    ck_assert_str_eq(row.next, "compute targets under torch.no_grad(), which leaves enough for "
                               "this request: possible saving 1 (at least 2.93 KiB)");
}
END_TEST

/* Without concatenation on the device, the request is not made, however little else is freed. */
START_TEST(a_remedy_may_remove_the_request)
{
    char line[] = "train.py:41 evaluate", other[] = "train.py:42 evaluate";
    finding = (struct finding){
        .kind = FINDING_CONCATENATED, .save_bytes = 1, .at_most = true, .where = line};
    row.asker = _i == 0 ? line : other;
    ck_assert_uint_eq(named(NULL, 0), _i == 0 ? 1 : 0);
}
END_TEST

/* Logits of a part of the tokens need no such request. Other findings come on top of that advice.
 */
START_TEST(the_finding_on_logits_removes_a_request_for_them)
{
    row.of_logits = true;
    finding = (struct finding){.kind = FINDING_LOGITS, .save_bytes = 1, .at_most = true};
    ck_assert_uint_eq(named(NULL, 0), 1);
    ck_assert_ptr_null(strstr(row.next, "the largest category"));
    create();
    row.of_logits = true;
    ck_assert_uint_eq(named(NULL, 0), 1);
    ck_assert_ptr_nonnull(strstr(row.next, "the largest category; or run the passes"));
}
END_TEST

START_TEST(too_little_is_not_named)
{
    finding.save_bytes--;
    ck_assert_uint_eq(named(NULL, 0), 0);
}
END_TEST

/* The saving is of the peak. What the moment lies below it was free without the finding. */
START_TEST(a_moment_below_the_peak_gains_less)
{
    row.at.active_bytes = PEAK - 1;
    ck_assert_uint_eq(named(NULL, 0), 0);
    finding.save_bytes++;
    ck_assert_uint_eq(named(NULL, 0), 1);
}
END_TEST

/* It is there at any moment after the peak. */
START_TEST(what_grows_stays_after_the_peak)
{
    finding.kind = FINDING_GROWTH;
    row.at.active_bytes = PEAK / 2;
    ck_assert_uint_eq(named(NULL, 0), 1);
    create();
    finding.kind = FINDING_GROWTH;
    row.at.active_bytes = PEAK / 2;
    row.item = 99;
    ck_assert_uint_eq(named(NULL, 0), 0);
}
END_TEST

START_TEST(a_sure_saving_is_named_before_a_larger_bound)
{
    const struct finding bound = {
        .kind = FINDING_LOGITS, .save_bytes = 2 * REQUEST, .at_most = true};
    ck_assert_uint_eq(named(&bound, 1), 2);
    finding.save_bytes = 1;
    ck_assert_uint_eq(named(&bound, 1), 1);
    ck_assert_ptr_nonnull(strstr(row.next, "which may leave enough"));
}
END_TEST

/* Unless more is needed after the request, and the bound is far larger. */
START_TEST(a_far_larger_bound_is_named_if_more_is_needed)
{
    const struct finding bounds[] = {
        {.kind = FINDING_LOGITS, .save_bytes = 5 * REQUEST, .at_most = true},
        {.kind = FINDING_LOGITS, .save_bytes = 3 * REQUEST, .at_most = true}};
    const struct finding sure = finding;
    row.rest_is_unknown = true;
    ck_assert_uint_eq(named(&bounds[_i], 1), _i == 0 ? 1 : 2);
    create();
    row.rest_is_unknown = true;
    finding = bounds[_i];
    ck_assert_uint_eq(named(&sure, 1), _i == 0 ? 2 : 1);
}
END_TEST

START_TEST(the_larger_of_two_is_named)
{
    const struct finding larger = {.kind = FINDING_COPIED_WEIGHTS, .save_bytes = REQUEST + 1};
    ck_assert_uint_eq(named(&larger, 1), 1);
}
END_TEST

START_TEST(a_finding_on_a_whole_category_is_not_named)
{
    finding.kind = FINDING_ACTIVATIONS;
    ck_assert_uint_eq(named(NULL, 0), 0);
    finding.kind = FINDING_OPTIMIZER_STATE;
    ck_assert_uint_eq(named(NULL, 0), 0);
}
END_TEST

/* The advice for fragmentation stays; what is freed may leave pieces, too. */
START_TEST(fragmentation_has_two_remedies)
{
    row.verdict = OOM_FRAGMENTATION;
    row.layout.pool_bytes = REQUEST;
    ck_assert_uint_eq(named(NULL, 0), 1);
    ck_assert_ptr_nonnull(strstr(row.next, "the largest category; or run the passes"));
    ck_assert_ptr_nonnull(strstr(row.next, "which may leave enough"));
}
END_TEST

START_TEST(other_causes_keep_their_advice)
{
    row.verdict = OOM_OTHER_PROCESS;
    ck_assert_uint_eq(named(NULL, 0), 0);
    row.verdict = OOM_SHORTAGE;
    row.attempt_bytes = 1;
    ck_assert_uint_eq(named(NULL, 0), 0);
    row.attempt_bytes = 0;
    finding.of_reserved = true;
    ck_assert_uint_eq(named(NULL, 0), 0);
}
END_TEST

TCase *oom_finding_tests(void)
{
    TCase *tests = tcase_create("finding of an out-of-memory event");
    tcase_add_checked_fixture(tests, create, NULL);
    tcase_add_test(tests, what_is_enough_is_named_with_its_line);
    tcase_add_test(tests, a_finding_has_a_remedy_of_its_own);
    tcase_add_loop_test(tests, a_remedy_may_remove_the_request, 0, 2);
    tcase_add_test(tests, the_finding_on_logits_removes_a_request_for_them);
    tcase_add_test(tests, too_little_is_not_named);
    tcase_add_test(tests, a_moment_below_the_peak_gains_less);
    tcase_add_test(tests, what_grows_stays_after_the_peak);
    tcase_add_test(tests, a_sure_saving_is_named_before_a_larger_bound);
    tcase_add_loop_test(tests, a_far_larger_bound_is_named_if_more_is_needed, 0, 2);
    tcase_add_test(tests, the_larger_of_two_is_named);
    tcase_add_test(tests, a_finding_on_a_whole_category_is_not_named);
    tcase_add_test(tests, fragmentation_has_two_remedies);
    tcase_add_test(tests, other_causes_keep_their_advice);
    return tests;
}
