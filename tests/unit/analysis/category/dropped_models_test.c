/* Models that a program makes, computes with and drops, in traces without stacks. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_training.h"

#define TEACHER 12u /* weights */

enum { MADE = 100 };

enum shape { MODEL, JUDGE, BATCHES, IDLE, APART, LISTS, TRAINED, SHAPES };

static uint64_t size_of(unsigned i, enum shape shape)
{
    return shape == BATCHES ? 90000 + i : i % 2 == 0 ? 90000 + i : 300 + i;
}

static void make(enum shape shape)
{
    for (unsigned i = 0; i < TEACHER; i++) {
        born(MADE + i, size_of(i, shape));
        compute(shape == APART ? 1 : 0);
    }
    compute(shape == IDLE ? 2 : shape == LISTS ? 2 * TEACHER : 5 * TEACHER);
    for (unsigned i = 0; i < TEACHER; i++)
        freed(MADE + i, size_of(i, shape));
}

/* A teacher is used before training, and a judge in the middle of it. Batches have about the same
 * size, idle blocks serve nothing, and the lists of an optimizer are used for little, or have the
 * sizes of the weights that train. */
START_TEST(dropped_models)
{
    bool is_late = _i == JUDGE || _i == LISTS;
    make_weights();
    for (unsigned i = 1; _i == MODEL && i < TEACHER; i += 2) /* vectors that the student has, too */
        capture_block(&capture, 200 + i, size_of(i, MODEL), "");
    capture_block(&capture, 220, size_of(0, MODEL), "");
    for (unsigned i = 0; _i == TRAINED && i < TEACHER; i++)
        capture_block(&capture, 200 + i, size_of(i, TRAINED), "");
    if (!is_late)
        make((enum shape)_i);
    train(3);
    if (is_late) {
        make((enum shape)_i);
        train(3);
    }
    capture_load(&capture);
    for (unsigned i = 0; i < TEACHER; i++)
        ck_assert_int_eq(capture_category(&capture, MADE + i),
                         _i == MODEL || _i == JUDGE ? CATEGORY_PARAMETER : CATEGORY_TEMPORARY);
}
END_TEST

TCase *category_dropped_models_tests(void)
{
    TCase *tests = tcase_create("dropped models");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, dropped_models, 0, SHAPES);
    return tests;
}
