/* States that a script makes in its first step, in traces without stacks. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define WEIGHT     4000u /* bytes; weights are half as wide as states */
#define ACTIVATION 5000u
#define LAYERS     16u
#define BATCH      50u /* addresses */
#define LOSS       60u
#define ROOT       70u

/* A variable holds the loss until the next one exists. */
static void pass(unsigned step)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(100 + i, ACTIVATION + i);
    if (step > 0)
        freed(LOSS + step - 1, 4);
    born(LOSS + step, 4);
    born(ROOT, 4);
    for (unsigned i = LAYERS; i-- > 0;) {
        born(200 + i, ACTIVATION + i);
        born(300 + i, WEIGHT + 2 * i);
        freed(100 + i, ACTIVATION + i);
        freed(200 + i, ACTIVATION + i);
    }
    freed(ROOT, 4);
}

/* Moves the weights by wide copies of the gradients, which are dropped then. */
static void update(void)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        born(400, 2 * (WEIGHT + 2 * i));
        freed(400, 2 * (WEIGHT + 2 * i));
    }
    for (unsigned i = 0; i < LAYERS; i++)
        freed(300 + i, WEIGHT + 2 * i);
}

/* `kept` blocks of each size of a state stay from the first `steps` steps. */
static void train(unsigned kept, unsigned steps)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(500 + i, WEIGHT + 2 * i);
    for (unsigned step = 0; step < 5; step++) {
        born(BATCH + step, 20000);
        if (step > 0)
            freed(BATCH + step - 1, 20000);
        pass(step);
        for (unsigned n = 0; step < steps && n < kept; n++)
            for (unsigned i = 0; i < LAYERS; i++)
                born(1000 * (step + 1) + 100 * n + i, 2 * (WEIGHT + 2 * i));
        update();
    }
    capture_load(&capture);
}

static void expect(uint64_t addr, enum category category)
{
    uint8_t reason;
    enum category found = capture_category_why(&capture, addr, &reason);
    ck_assert_msg(found == category, "%d: %s: %s", (int)addr, category_name(found),
                  reason_name(reason));
}

START_TEST(states_may_be_wider_than_the_weights)
{
    train(1 + (unsigned)_i, 1);
    for (unsigned i = 0; i < LAYERS; i++) {
        expect(500 + i, CATEGORY_PARAMETER);
        expect(1000 + i, CATEGORY_OPTIMIZER_STATE);
        if (_i == 1)
            expect(1100 + i, CATEGORY_OPTIMIZER_STATE);
    }
}
END_TEST

/* Each step leaves more: no optimizer does that. */
START_TEST(a_leak_is_no_state)
{
    train(1, 4);
    for (unsigned i = 0; i < LAYERS; i++)
        ck_assert_int_ne(capture_category(&capture, 1000 + i), CATEGORY_OPTIMIZER_STATE);
}
END_TEST

TCase *category_first_states_tests(void)
{
    TCase *tests = tcase_create("states of the first step");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, states_may_be_wider_than_the_weights, 0, 2);
    tcase_add_test(tests, a_leak_is_no_state);
    return tests;
}
