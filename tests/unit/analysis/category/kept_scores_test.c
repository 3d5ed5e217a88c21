/* What variables of an evaluation keep while the program goes on training, in traces without
 * stacks. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define WEIGHT 4000u
#define LAYERS 6u
#define PASS   20u /* blocks of a pass of the evaluation */

enum { BATCH = 100, SCORES = 200 };

static void train(unsigned steps)
{
    for (unsigned step = 0; step < steps; step++) {
        born(10, 90);
        for (unsigned i = 0; i < LAYERS; i++)
            born(20 + i, 600 + i);
        for (unsigned i = LAYERS; i-- > 0;) {
            born(30 + i, WEIGHT + i);
            freed(20 + i, 600 + i);
        }
        capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
        born(60, 16);
        freed(60, 16);
        capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
        for (unsigned i = 0; i < LAYERS; i++)
            freed(30 + i, WEIGHT + i);
        freed(10, 90);
    }
}

static void compute(unsigned blocks)
{
    for (unsigned i = 0; i < blocks; i++) {
        born(50, 800 + i);
        freed(50, 800 + i);
    }
}

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
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, WEIGHT + i, "");
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
