/* What a program computes once for each epoch, in traces without stacks: results of an evaluation,
 * or data for the training. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_training.h"

#define EPOCHS 3u

enum { MADE = 100 };

enum shape { SCORES, DATA, TARGETS, BATCH, PREPARED, SHAPES };

/* Makes the block of an epoch, of an operand unless it is copied to the device, and drops the one
 * of the epoch before. */
static void make(unsigned epoch, enum shape shape)
{
    compute(shape == BATCH || shape == PREPARED ? 0 : 20);
    if (shape != BATCH)
        born(51, 700);
    born(MADE + epoch, 700);
    born(52, 32); /* a workspace */
    freed(52, 32);
    if (shape != BATCH)
        freed(51, 700);
    if (epoch > 0)
        freed(MADE + epoch - 1, 700);
    compute(shape == BATCH || shape == PREPARED ? 20 : 2);
}

START_TEST(results_of_an_epoch)
{
    make_weights();
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        if (_i == DATA)
            make(epoch, DATA);
        train(3);
        if (_i != DATA)
            make(epoch, (enum shape)_i);
    }
    if (_i == TARGETS) /* the last ones serve training, too */
        train(3);
    capture_load(&capture);
    for (unsigned epoch = 0; epoch + 1 < EPOCHS; epoch++)
        ck_assert_int_eq(capture_category(&capture, MADE + epoch),
                         _i == SCORES ? CATEGORY_ACTIVATION : CATEGORY_INPUT);
    if (_i == SCORES)
        ck_assert_int_eq(capture_category(&capture, MADE + EPOCHS - 1), CATEGORY_ACTIVATION);
}
END_TEST

TCase *category_epoch_results_tests(void)
{
    TCase *tests = tcase_create("results of an epoch");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, results_of_an_epoch, 0, SHAPES);
    return tests;
}
