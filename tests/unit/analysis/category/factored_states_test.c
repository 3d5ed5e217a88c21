/* An optimizer whose states have other sizes than the weights, such as Adafactor, in traces without
 * stacks from the start of the program. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define WEIGHT 4000u
#define LAYERS 6u
#define HEAD   90000u
#define FACTOR 80u /* a row or a column of a weight */

enum { MODEL = 100, HEADS = 200, FACTORS = 300 };

/* `factored`: the first step makes two states for each weight. */
static void train(unsigned steps, bool factored)
{
    for (unsigned step = 0; step < steps; step++) {
        uint64_t at = 1000 * (1 + step);
        for (unsigned i = 0; i < LAYERS; i++)
            born(at + 10 + i, 600 + i);
        born(at + 40, HEAD);
        for (unsigned i = LAYERS; i-- > 0;) {
            born(at + 30 + i, WEIGHT + i);
            freed(at + 10 + i, 600 + i);
        }
        capture_annotate(&capture, "START", "Optimizer.step#Adafactor.step", 0);
        for (unsigned i = 0; factored && step == 0 && i < 2 * (LAYERS + 1); i++)
            born(FACTORS + i, FACTOR + i);
        born(60, 16);
        freed(60, 16);
        capture_annotate(&capture, "END", "Optimizer.step#Adafactor.step", 0);
        for (unsigned i = 0; i < LAYERS; i++)
            freed(at + 30 + i, WEIGHT + i);
        freed(at + 40, HEAD);
    }
    capture_load(&capture);
}

/* Of the largest weight there is a second block. If the steps make the states, it is a frozen copy.
 * Otherwise it may be a state. */
START_TEST(a_second_block_of_the_largest_weight)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(MODEL + i, WEIGHT + i);
    born(HEADS, HEAD);
    born(HEADS + 1, HEAD);
    train(8, _i == 0);
    ck_assert_int_eq(capture_category(&capture, HEADS), CATEGORY_PARAMETER);
    ck_assert_int_eq(capture_category(&capture, HEADS + 1),
                     _i == 0 ? CATEGORY_PARAMETER : CATEGORY_OPTIMIZER_STATE);
    if (_i == 0)
        ck_assert_int_eq(capture_category(&capture, FACTORS), CATEGORY_OPTIMIZER_STATE);
}
END_TEST

TCase *category_factored_states_tests(void)
{
    TCase *tests = tcase_create("factored states");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, a_second_block_of_the_largest_weight, 0, 2);
    return tests;
}
