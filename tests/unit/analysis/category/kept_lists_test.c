/* Results that a program holds in a list until the next pass, in traces without stacks. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define FEATURES 6u
#define WEIGHTS  6u

/* A forward pass keeps the features of all layers in a list, until the next pass has made others;
 * the list frees them from the last to the first. Without one, a batch goes later. */
static void feature_step(uint64_t first, bool is_list)
{
    for (unsigned i = 0; i < FEATURES; i++) {
        capture_event(&capture, "alloc", first + i, 50000 + 1000 * i, "");
        capture_event(&capture, "alloc", first + 100 + i, 90000 + 1000 * i, "");
    }
    for (unsigned i = FEATURES; i-- > 0 && first > 1000;)
        if (is_list || i > 0)
            capture_free(&capture, first - 1000 + i, 50000 + 1000 * i, "");
    capture_event(&capture, "alloc", first + 300, 70000, "");
    if (first > 1000 && !is_list)
        capture_free(&capture, first - 1000, 50000, "");
    capture_event(&capture, "alloc", first + 301, 71000, "");
    for (unsigned i = WEIGHTS; i-- > 0;) {
        capture_event(&capture, "alloc", first + 200 + i, 4000 + 100 * i, "");
        if (i + 2 >= WEIGHTS) /* what the loss saved */
            capture_free(&capture, first + 302 + i - WEIGHTS, 70000 + 1000 * (i + 2 - WEIGHTS), "");
        capture_free(&capture, first + 100 + i, 90000 + 1000 * i, "");
    }
    capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
    capture_event(&capture, "alloc", first + 400, 4000, "");
    capture_free(&capture, first + 400, 4000, "");
    capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
    for (unsigned i = 0; i < WEIGHTS; i++)
        capture_free(&capture, first + 200 + i, 4000 + 100 * i, "");
}

START_TEST(a_list_of_results_is_no_batch)
{
    bool is_list = _i > 0;
    for (unsigned i = 0; i < WEIGHTS; i++) {
        capture_event(&capture, "alloc", 1 + i, 4000 + 100 * i, "");
        capture_block(&capture, 1 + i, 4000 + 100 * i, "");
    }
    for (uint64_t step = 1; step <= 5; step++)
        feature_step(1000 * step, is_list);
    capture_load(&capture);
    uint8_t reason;
    enum category found = capture_category_why(&capture, 3000, &reason);
    ck_assert_msg(found == (is_list ? CATEGORY_ACTIVATION : CATEGORY_INPUT), "%s: %s",
                  category_name(found), reason_name(reason));
    ck_assert_int_eq(capture_category(&capture, 3002), CATEGORY_ACTIVATION);
}
END_TEST

TCase *category_kept_lists_tests(void)
{
    TCase *tests = tcase_create("lists of results");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, a_list_of_results_is_no_batch, 0, 2);
    return tests;
}
