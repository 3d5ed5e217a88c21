/* Results that are far larger than the batch, and that a variable holds, in traces without stacks.
 */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define PARAMETER  4000u
#define ACTIVATION 5000u
#define LAYERS     12u
#define TOKENS     600u /* bytes */
#define LOGITS     90000u
#define BATCH      40u /* addresses */
#define RESULT     50u
#define ROOT       60u
#define STEPS      4u

/* Translates: the first block of the forward pass takes the scores of all words, which a variable
 * holds. `ends` says when the next step frees it. */
enum end { AFTER_FORWARD, BEFORE_FORWARD };

static void step(unsigned number, enum end end)
{
    born(BATCH + number, TOKENS);
    if (number > 0)
        freed(BATCH + number - 1, TOKENS);
    for (unsigned i = 0; number > 0 && i < LAYERS; i++) /* zero_grad() */
        freed(300 + i, PARAMETER + i);
    born(RESULT + number, LOGITS);
    if (number > 0 && end == BEFORE_FORWARD)
        freed(RESULT + number - 1, LOGITS);
    for (unsigned i = 0; i < LAYERS; i++)
        born(100 + i, ACTIVATION + i);
    if (number > 0 && end == AFTER_FORWARD)
        freed(RESULT + number - 1, LOGITS);
    born(ROOT, 4);
    born(200, LOGITS);
    born(201, LOGITS + 4);
    freed(200, LOGITS);
    for (unsigned i = LAYERS; i-- > 0;) {
        born(210 + i, ACTIVATION + i);
        born(300 + i, PARAMETER + i);
        freed(100 + i, ACTIVATION + i);
        freed(210 + i, ACTIVATION + i);
    }
    freed(201, LOGITS + 4);
    freed(ROOT, 4);
    capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
    born(400, 64);
    freed(400, 64);
    capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
}

static void train(enum end end)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 600 + i, PARAMETER + i, "");
    for (unsigned number = 0; number < STEPS; number++)
        step(number, end);
    capture_block(&capture, BATCH + STEPS - 1, TOKENS, "");
    capture_block(&capture, RESULT + STEPS - 1, LOGITS, "");
    capture_load(&capture);
}

/* The next forward pass makes another before the variable drops it. */
START_TEST(a_large_result_is_no_batch)
{
    train(AFTER_FORWARD);
    ck_assert_int_eq(capture_category(&capture, RESULT + 1), CATEGORY_ACTIVATION);
    ck_assert_int_eq(capture_category(&capture, RESULT + 2), CATEGORY_ACTIVATION);
    ck_assert_int_eq(capture_category(&capture, BATCH + 1), CATEGORY_INPUT);
}
END_TEST

/* It is replaced before the next forward pass: it may be a large batch. */
START_TEST(a_large_batch_is_no_result)
{
    train(BEFORE_FORWARD);
    ck_assert_int_eq(capture_category(&capture, RESULT + 1), CATEGORY_INPUT);
    ck_assert_int_eq(capture_category(&capture, RESULT + 2), CATEGORY_INPUT);
}
END_TEST

TCase *category_large_results_tests(void)
{
    TCase *tests = tcase_create("large results");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_large_result_is_no_batch);
    tcase_add_test(tests, a_large_batch_is_no_result);
    return tests;
}
