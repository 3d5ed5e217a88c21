/* Passes that an annotation of the optimizer step helps to find. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/layer_passes.h"

/* A pass of three layers makes too few blocks to be found by their number alone. */
static void small_step(void)
{
    for (unsigned i = 0; i < 3; i++)
        born(100 + i, ACTIVATION + i, "");
    for (unsigned i = 3; i-- > 0;) {
        born(300 + i, PARAMETER + i, "");
        freed(100 + i, ACTIVATION + i, "");
    }
}

static void annotated_step(void)
{
    one_step("", "");
    capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
    born(60, 16, "");
    freed(60, 16, "");
    capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
    for (unsigned i = 0; i < LAYERS; i++)
        freed(300 + i, PARAMETER + i, "");
}

/* Each layer makes temporaries that are freed in reverse order, and keeps results. One result is as
 * large as a weight. */
START_TEST(a_forward_pass_may_run_out_of_memory)
{
    parameters_before();
    annotated_step();
    annotated_step();
    for (unsigned layer = 0; layer < 10; layer++) {
        born(700 + layer, 30000, "");
        for (unsigned i = 0; i < LAYERS; i++)
            born(600 + i, 3000 + i, "");
        born(800 + layer, PARAMETER, "");
        for (unsigned i = LAYERS; i-- > 0;)
            freed(600 + i, 3000 + i, "");
    }
    capture_event(&capture, "oom", 50, 5000, "");
    capture_load(&capture);
    expect(301, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
    for (unsigned layer = 0; layer < 10; layer++) {
        expect(700 + layer, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
        expect(800 + layer, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    }
}
END_TEST

START_TEST(an_annotated_step_has_passes_before_it)
{
    for (unsigned i = 0; i < 3; i++)
        capture_block(&capture, 1 + i, PARAMETER + i, "");
    small_step();
    capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
    born(60, 16, "");
    freed(60, 16, "");
    capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
    for (unsigned i = 0; i < 3; i++)
        freed(300 + i, PARAMETER + i, "");
    capture_load(&capture);
    expect(2, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
    expect(101, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(301, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

START_TEST(a_step_that_allocates_nothing_has_passes_before_it)
{
    for (unsigned i = 0; i < 3; i++)
        capture_block(&capture, 1 + i, PARAMETER + i, "");
    for (unsigned step = 0; step < 2; step++) {
        small_step();
        capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
        capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
        for (unsigned i = 0; i < 3; i++)
            freed(300 + i, PARAMETER + i, "");
    }
    capture_load(&capture);
    expect(2, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
    expect(101, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(301, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

START_TEST(a_step_may_run_the_passes_itself)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, PARAMETER + i, "");
    for (unsigned step = 0; step < 3; step++) {
        born(60, 16, ""); /* the batch */
        capture_annotate(&capture, "START", "Optimizer.step#Adam.step", 0);
        forward_pass("");
        capture_annotate(&capture, "START", "Optimizer.zero_grad#Adam.zero_grad", 0);
        for (unsigned i = 0; step > 0 && i < LAYERS; i++)
            freed(300 + i, PARAMETER + i, "");
        capture_annotate(&capture, "END", "Optimizer.zero_grad#Adam.zero_grad", 0);
        backward_pass("");
        for (unsigned i = 0; step == 0 && i < LAYERS; i++)
            born(400 + i, PARAMETER + i, "");
        born(50, PARAMETER, "");
        freed(50, PARAMETER, "");
        capture_annotate(&capture, "END", "Optimizer.step#Adam.step", 0);
        freed(60, 16, "");
    }
    capture_load(&capture);
    expect(2, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
    expect(101, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(301, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
    expect(401, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_MEDIUM);
    expect(50, CATEGORY_TEMPORARY, CONFIDENCE_MEDIUM);
}
END_TEST

#define SECOND 10u /* layers of a second model */

static void second_step(bool keeps_gradients)
{
    born(61, 500, ""); /* the batch */
    for (unsigned i = 0; i < SECOND; i++)
        born(700 + i, 8000 + i, "");
    born(900 + SECOND, 8000, "");
    for (unsigned i = SECOND; i-- > 0;) {
        born(800 + i, 9000 + 10 * i, "");
        born(900 + i, 8000 + i, "");
        freed(901 + i, 8000 + i, "");
        freed(700 + i, 8000 + i, "");
    }
    freed(900, 8000, "");
    freed(61, 500, "");
    capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
    born(60, 16, "");
    freed(60, 16, "");
    capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
    for (unsigned i = 0; i < SECOND && !keeps_gradients; i++)
        freed(800 + i, 9000 + 10 * i, "");
}

/* The sizes of a model that is made between two steps are those of later gradients. Results that
 * the program keeps there are none of a model. */
START_TEST(a_second_model_may_be_made_between_steps)
{
    bool is_model = _i == 0;
    parameters_before();
    for (unsigned step = 0; step < 4; step++)
        annotated_step();
    for (unsigned i = 0; i < SECOND; i++)
        born(600 + i, 9000 + 10 * i + (is_model ? 0 : 5), "");
    for (unsigned step = 0; step < 4; step++)
        second_step(step == 3);
    capture_load(&capture);
    /* It is not certain whether the backward pass begins with the gradient of the last layer. */
    for (unsigned i = 0; i + 1 < SECOND; i++) {
        enum category list = capture_category(&capture, 600 + i);
        enum category left = capture_category(&capture, 800 + i);
        ck_assert_msg((list == CATEGORY_PARAMETER) == is_model, "%u: %s", i, category_name(list));
        ck_assert_msg((left == CATEGORY_GRADIENT) == is_model, "%u: %s", i, category_name(left));
    }
}
END_TEST

START_TEST(without_the_annotation_little_is_known)
{
    small_step();
    for (unsigned i = 0; i < 3; i++)
        freed(300 + i, PARAMETER + i, "");
    capture_load(&capture);
    expect(101, CATEGORY_UNKNOWN, CONFIDENCE_LOW);
    expect(301, CATEGORY_UNKNOWN, CONFIDENCE_LOW);
}
END_TEST

TCase *category_annotated_tests(void)
{
    TCase *tests = tcase_create("categories with annotated steps");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_forward_pass_may_run_out_of_memory);
    tcase_add_test(tests, an_annotated_step_has_passes_before_it);
    tcase_add_test(tests, a_step_that_allocates_nothing_has_passes_before_it);
    tcase_add_test(tests, a_step_may_run_the_passes_itself);
    tcase_add_loop_test(tests, a_second_model_may_be_made_between_steps, 0, 2);
    tcase_add_test(tests, without_the_annotation_little_is_known);
    return tests;
}
