/* Weights in half precision beside masters, in traces without stacks. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define WEIGHT     4000u /* bytes; a master has twice as many */
#define ACTIVATION 5000u
#define LAYERS     16u

static void create_model(void)
{
    create();
    for (unsigned i = 0; i < LAYERS; i++) {
        capture_block(&capture, 500 + i, 2 * (WEIGHT + 2 * i), "");
        capture_block(&capture, 550 + i, 2 * (WEIGHT + 2 * i), "");
    }
}

/* At 800 it may leave something that looks like a gradient. */
static void pass(bool leaves_more)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(100 + i, ACTIVATION + i);
    for (unsigned i = LAYERS; i-- > 0;) {
        born(200 + i, ACTIVATION + i);
        born(300 + i, WEIGHT + 2 * i);
        if (leaves_more && i == 5)
            born(800, 60000);
        freed(100 + i, ACTIVATION + i);
        freed(200 + i, ACTIVATION + i);
    }
}

/* A wide copy of the gradient moves the master. */
static void move(unsigned layer)
{
    uint64_t size = WEIGHT + 2 * layer;
    born(400, 2 * size);
    freed(300 + layer, size);
    freed(400, 2 * size);
}

static void expect_masters(void)
{
    capture_load(&capture);
    for (unsigned i = 0; i < LAYERS; i++) {
        ck_assert_int_eq(capture_category(&capture, 500 + i), CATEGORY_OPTIMIZER_STATE);
        ck_assert_int_eq(capture_category(&capture, 550 + i), CATEGORY_OPTIMIZER_STATE);
    }
}

/* weight.data = master.half() */
START_TEST(weights_may_be_made_anew_of_masters)
{
    uint64_t old = 1000;
    for (unsigned i = 0; i < LAYERS; i++)
        born(old + i, WEIGHT + 2 * i);
    for (unsigned step = 0; step < 4; step++, old += 100) {
        pass(_i == 1);
        for (unsigned i = 0; i < LAYERS; i++) {
            move(i);
            born(old + 100 + i, WEIGHT + 2 * i);
            freed(old + i, WEIGHT + 2 * i);
        }
        if (_i == 1)
            freed(800, 60000);
    }
    pass(false);
    for (unsigned i = LAYERS; i-- > 0;)
        freed(300 + i, WEIGHT + 2 * i);
    expect_masters();
    for (unsigned i = 0; i < LAYERS; i++)
        for (unsigned step = 0; step < 4; step++)
            ck_assert_int_eq(capture_category(&capture, 1000 + 100 * step + i), CATEGORY_PARAMETER);
}
END_TEST

/* A variable holds the last wide gradient until the next step, and a result over the backward pass;
 * one has the size of a master. */
START_TEST(what_a_variable_holds_hides_no_masters)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 600 + i, WEIGHT + 2 * i, "");
    born(401, 2 * WEIGHT);
    for (unsigned step = 0; step < 4; step++) {
        born(700, 90001);
        born(701, 90002);
        pass(false);
        born(400, 64);
        freed(700, 90001);
        freed(701, 90002);
        for (unsigned i = LAYERS; i-- > 1;)
            move(i);
        freed(300, WEIGHT);
        born(402 + step, 2 * WEIGHT);
        freed(401 + step, 2 * WEIGHT);
        freed(400, 64);
    }
    pass(false);
    for (unsigned i = LAYERS; i-- > 0;)
        freed(300 + i, WEIGHT + 2 * i);
    expect_masters();
    for (unsigned i = 0; i < LAYERS; i++)
        ck_assert_int_eq(capture_category(&capture, 600 + i), CATEGORY_PARAMETER);
}
END_TEST

TCase *category_masters_tests(void)
{
    TCase *tests = tcase_create("masters of weights");
    tcase_add_checked_fixture(tests, create_model, destroy);
    tcase_add_loop_test(tests, weights_may_be_made_anew_of_masters, 0, 2);
    tcase_add_test(tests, what_a_variable_holds_hides_no_masters);
    return tests;
}
