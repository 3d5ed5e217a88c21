/* The roles of blocks that stay and have other sizes than the weights: buckets of gradients, and
 * states in a narrower type. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/standing.h"

#define WEIGHTS 8u
#define BUCKET  (1u << 20) /* half of the bytes of the weights */

static struct standing standing;

static void create(void)
{
    standing_init(&standing);
}

static void destroy(void)
{
    standing_release(&standing);
}

static uint64_t size_of(unsigned weight)
{
    return 2 * BUCKET / WEIGHTS + 4096 * (weight % 4) - 6144;
}

/* A copy of a model of eight weights, as large as two buckets; returns its first address. */
static uint64_t copy_of_weights(void)
{
    uint64_t first = standing.next;
    for (unsigned i = 0; i < WEIGHTS; i++)
        standing_block(&standing, size_of(i));
    return first;
}

static uint64_t two_buckets(void)
{
    uint64_t first = standing.next;
    standing_block(&standing, BUCKET - 512);
    standing_block(&standing, BUCKET + 512);
    return first;
}

static void make_gradients(void)
{
    for (unsigned i = 0; i < WEIGHTS; i++)
        capture_event(&standing.capture, "alloc", 2000 + i, size_of(i), STACK_BACKWARD);
}

static void free_gradients(const char *frames)
{
    for (unsigned i = 0; i < WEIGHTS; i++)
        capture_free(&standing.capture, 2000 + i, size_of(i), frames);
}

/* Passes leave gradients, which are copied to the buckets. */
START_TEST(gradients_may_be_copied_to_buckets)
{
    uint64_t weights = copy_of_weights(), buckets = two_buckets(), states = copy_of_weights();
    copy_of_weights();
    capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
    make_gradients();
    capture_free(&standing.capture, 1000, 50, ENGINE);
    standing_optimize(&standing, "Optimizer.step#Adam.step");
    free_gradients(SCRIPT);
    capture_load(&standing.capture);
    standing_expect(&standing, weights, WEIGHTS, CATEGORY_PARAMETER);
    standing_expect(&standing, buckets, 2, CATEGORY_COMMUNICATION);
    standing_expect(&standing, states, 2 * WEIGHTS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* No pass leaves gradients. What a pass uses up has the size of weights, but adds to no gradient
 * that stays. */
START_TEST(gradients_may_be_views_of_buckets)
{
    uint64_t weights = copy_of_weights(), states = copy_of_weights(), buckets = two_buckets();
    capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
    make_gradients();
    free_gradients("");
    capture_free(&standing.capture, 1000, 50, ENGINE);
    standing_optimize(&standing, "Optimizer.step#SGD.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, WEIGHTS, CATEGORY_PARAMETER);
    standing_expect(&standing, states, WEIGHTS, CATEGORY_OPTIMIZER_STATE);
    standing_expect(&standing, buckets, 2, CATEGORY_GRADIENT);
}
END_TEST

/* Each weight has two blocks of a quarter of its size. */
START_TEST(states_may_have_a_narrower_type)
{
    uint64_t weights = standing_model(&standing, 1), states = standing.next;
    for (unsigned i = 0; i < 2 * LAYERS; i++)
        standing_block(&standing, (SIZE + 100 * (i / 2)) / 4);
    standing_step(&standing, NULL);
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, states, 2 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* A step leaves a block of the size of narrow states, which does not make that the size of a
 * weight.
 */
START_TEST(steps_may_leave_blocks_of_narrow_sizes)
{
    standing_model(&standing, 1);
    uint64_t states = standing.next;
    for (unsigned i = 0; i < 2 * LAYERS; i++)
        standing_block(&standing, (SIZE + 100 * (i / 2)) / 4);
    standing_step(&standing, NULL);
    capture_event(&standing.capture, "alloc", 4000, SIZE / 4, STACK_STEP);
    capture_load(&standing.capture);
    standing_expect(&standing, states, 2 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* One narrow block for each weight may be a frozen copy of the model. */
START_TEST(one_narrow_copy_is_a_model)
{
    standing_model(&standing, 1);
    uint64_t copy = standing.next;
    for (unsigned i = 0; i < LAYERS; i++)
        standing_block(&standing, (SIZE + 100 * i) / 2);
    standing_step(&standing, NULL);
    capture_load(&standing.capture);
    standing_expect(&standing, copy, LAYERS, CATEGORY_PARAMETER);
}
END_TEST

TCase *category_buckets_tests(void)
{
    TCase *tests = tcase_create("buckets and narrow states");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, gradients_may_be_copied_to_buckets);
    tcase_add_test(tests, gradients_may_be_views_of_buckets);
    tcase_add_test(tests, states_may_have_a_narrower_type);
    tcase_add_test(tests, steps_may_leave_blocks_of_narrow_sizes);
    tcase_add_test(tests, one_narrow_copy_is_a_model);
    return tests;
}
