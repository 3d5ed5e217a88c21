/* A copy of a model that is made after the states of its optimizer, in traces without stacks. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define WEIGHT  4000u
#define LAYERS  6u
#define COUNTER 72u /* a buffer of each layer */

enum { MODEL = 100, SECOND = 200, THIRD = 300 };

static void make(uint64_t addr, bool has_buffers)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        born(addr + i, WEIGHT + i);
        if (has_buffers)
            born(addr + 50 + i, COUNTER);
    }
}

static void train(unsigned steps)
{
    for (unsigned step = 0; step < steps; step++) {
        uint64_t at = 1000 * (1 + step);
        for (unsigned i = 0; i < LAYERS; i++)
            born(at + 10 + i, 600 + i);
        for (unsigned i = LAYERS; i-- > 0;) {
            born(at + 30 + i, WEIGHT + i);
            freed(at + 10 + i, 600 + i);
        }
        capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
        born(60, 16);
        freed(60, 16);
        capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
        for (unsigned i = 0; i < LAYERS; i++)
            freed(at + 30 + i, WEIGHT + i);
    }
    capture_load(&capture);
}

static void expect(uint64_t addr, enum category category)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_expect(&capture, addr + i, category, CONFIDENCE_LOW);
}

/* The copy has the model's buffers. Without any, copies are made first, as they usually are. */
START_TEST(a_copy_has_the_buffers_of_the_model)
{
    enum { LAST, FIRST, NO_BUFFERS };
    make(MODEL, _i != NO_BUFFERS);
    make(SECOND, _i == FIRST);
    make(THIRD, _i == LAST);
    train(8);
    ck_assert_int_eq(capture_category(&capture, MODEL), CATEGORY_PARAMETER);
    expect(SECOND, _i == LAST ? CATEGORY_OPTIMIZER_STATE : CATEGORY_PARAMETER);
    expect(THIRD, _i == LAST ? CATEGORY_PARAMETER : CATEGORY_OPTIMIZER_STATE);
}
END_TEST

TCase *category_late_copies_tests(void)
{
    TCase *tests = tcase_create("late copies");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, a_copy_has_the_buffers_of_the_model, 0, 3);
    return tests;
}
