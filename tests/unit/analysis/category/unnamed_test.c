/* States of an optimizer without a known name, from before the trace. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/standing.h"

static struct standing standing;

static void set_up(void)
{
    standing_init(&standing);
}

static void tear_down(void)
{
    standing_release(&standing);
}

/* Three blocks of each weight: the weight, and two states. A pass leaves `more` blocks of the size
 * of another weight, which are no gradients. */
static uint64_t three_copies(uint64_t size, unsigned more)
{
    uint64_t weights = standing_model(&standing, 1);
    standing_block(&standing, size);
    standing_model(&standing, 1);
    standing_block(&standing, size);
    standing_model(&standing, 1);
    standing_block(&standing, size);
    for (unsigned step = 0; step < 2; step++) {
        for (unsigned i = 0; i <= more; i++)
            capture_event(&standing.capture, "alloc", 5000 + i, size, STACK_BACKWARD);
        standing_step(&standing, NULL);
        for (unsigned i = 0; i <= more; i++)
            capture_free(&standing.capture, 5000 + i, size, SCRIPT);
    }
    capture_load(&standing.capture);
    return weights;
}

static void expect_states(uint64_t weights, unsigned count)
{
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, weights + LAYERS + 1, LAYERS,
                    count > 1 ? CATEGORY_OPTIMIZER_STATE : CATEGORY_PARAMETER);
    standing_expect(&standing, weights + 2 * LAYERS + 2, LAYERS, CATEGORY_OPTIMIZER_STATE);
}

START_TEST(all_sizes_have_two_states)
{
    expect_states(three_copies(SIZE + 50, 0), 2);
}
END_TEST

/* A small size that seems to lack states does not decide, but a large one does. */
START_TEST(a_size_may_lack_states)
{
    bool is_small = _i == 0;
    expect_states(three_copies(is_small ? 64 : 2 * SIZE + 50, 1), is_small ? 2 : 1);
}
END_TEST

TCase *category_unnamed_tests(void)
{
    TCase *tests = tcase_create("optimizers without a name");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, all_sizes_have_two_states);
    tcase_add_loop_test(tests, a_size_may_lack_states, 0, 2);
    return tests;
}
