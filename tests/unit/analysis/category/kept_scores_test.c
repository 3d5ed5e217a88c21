/* What variables of an evaluation keep while the program goes on training, in traces without
 * stacks. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_training.h"

#define PASS 20u /* blocks of a pass of the evaluation */

enum { BATCH = 100, SCORES = 200 };

/* Makes block `addr`, and drops the one that its variable held. */
static void assign(uint64_t addr, uint64_t size)
{
    born(addr, size);
    if (addr % 100 > 0)
        freed(addr - 1, size);
}

/* The last batch and the last scores of an evaluation live as long. But where the program computes
 * much after the scores, they may be a batch, too. */
START_TEST(the_last_scores_of_an_evaluation)
{
    make_weights();
    for (uint64_t epoch = 0, part = 0; epoch < 3; epoch++) {
        train(3);
        for (int i = 0; i < 2; i++, part++) {
            assign(BATCH + part, 350);
            compute(_i == 0 ? PASS : 1);
            assign(SCORES + part, 700);
            compute(_i == 0 ? 1 : PASS);
        }
    }
    train(3);
    capture_load(&capture);
    for (uint64_t last = 1; last < 4; last += 2) {
        ck_assert_int_eq(capture_category(&capture, BATCH + last), CATEGORY_INPUT);
        ck_assert_int_eq(capture_category(&capture, SCORES + last),
                         _i == 0 ? CATEGORY_ACTIVATION : CATEGORY_INPUT);
    }
}
END_TEST

TCase *category_kept_scores_tests(void)
{
    TCase *tests = tcase_create("kept scores");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, the_last_scores_of_an_evaluation, 0, 2);
    return tests;
}
