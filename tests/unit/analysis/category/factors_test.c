/* Kronecker factors, which optimizers such as Shampoo keep. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/standing.h"

static struct standing standing;

static void create(void)
{
    standing_init(&standing);
}

static void destroy(void)
{
    standing_release(&standing);
}

/* A step of a model with a weight of 20 x 30 elements of 4 bytes, and one of 30 x 30. */
static void step_of_matrices(const char *optimizer)
{
    static const uint64_t sizes[] = {20 * 30 * 4, 30 * 30 * 4};
    capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < 2; i++)
        capture_event(&standing.capture, "alloc", 2000 + i, sizes[i], STACK_BACKWARD);
    capture_free(&standing.capture, 1000, 50, ENGINE);
    if (optimizer)
        capture_annotate(&standing.capture, "START", optimizer, 0);
    capture_event(&standing.capture, "alloc", 1001, 50, STACK_STEP);
    capture_free(&standing.capture, 1001, 50, STACK_STEP);
    if (optimizer)
        capture_annotate(&standing.capture, "END", optimizer, 0);
    for (unsigned i = 0; i < 2; i++)
        capture_free(&standing.capture, 2000 + i, sizes[i], SCRIPT);
}

/* Two factors and two moments for each weight, so that seven blocks have the size of the second
 * weight. */
static uint64_t factors_of_matrices(void)
{
    uint64_t first = standing.next + 2;
    for (unsigned copy = 0; copy < 3; copy++) {
        standing_block(&standing, 20 * 30 * 4);
        standing_block(&standing, 30 * 30 * 4);
    }
    standing_block(&standing, 20 * 20 * 4);
    for (unsigned i = 0; i < 3; i++)
        standing_block(&standing, 30 * 30 * 4);
    return first;
}

START_TEST(products_of_sizes_show_kronecker_factors)
{
    uint64_t states = factors_of_matrices();
    step_of_matrices("Optimizer.step#SOAP.step");
    capture_load(&standing.capture);
    standing_expect(&standing, 1, 2, CATEGORY_PARAMETER);
    standing_expect(&standing, states, 8, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(an_optimizer_without_annotations_may_keep_factors)
{
    uint64_t states = factors_of_matrices();
    step_of_matrices(NULL);
    capture_load(&standing.capture);
    standing_expect(&standing, states, 8, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* Weights of 20 x 30 and 30 x 30 elements, a table of 20 x 65, and one state of each. The first
 * weight has `factors` blocks of 20 x 20 and as many of 30 x 30; the table is too large to have
 * any. */
static uint64_t factors_beside_a_table(unsigned factors)
{
    static const uint64_t weights[] = {20 * 30 * 4, 30 * 30 * 4, 20 * 65 * 4};
    for (unsigned i = 0; i < 6; i++)
        standing_block(&standing, weights[i % 3]);
    uint64_t first = standing.next;
    for (unsigned i = 0; i < factors; i++) {
        standing_block(&standing, 20 * 20 * 4);
        standing_block(&standing, 30 * 30 * 4);
    }
    capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < 3; i++)
        capture_event(&standing.capture, "alloc", 2000 + i, weights[i], STACK_BACKWARD);
    capture_free(&standing.capture, 1000, 50, ENGINE);
    for (unsigned i = 0; i < 3; i++)
        capture_free(&standing.capture, 2000 + i, weights[i], SCRIPT);
    return first;
}

START_TEST(large_tables_have_no_factors)
{
    uint64_t factors = factors_beside_a_table(1);
    capture_load(&standing.capture);
    standing_expect(&standing, factors, 2, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(each_weight_has_its_own_factors)
{
    uint64_t factors = factors_beside_a_table(2);
    capture_load(&standing.capture);
    standing_expect(&standing, factors, 1, CATEGORY_PARAMETER);
    standing_expect(&standing, factors + 2, 1, CATEGORY_PARAMETER);
}
END_TEST

START_TEST(optimizers_of_torch_keep_no_factors)
{
    uint64_t states = factors_of_matrices();
    step_of_matrices("Optimizer.step#Adam.step");
    capture_load(&standing.capture);
    standing_expect(&standing, states + 4, 1, CATEGORY_PARAMETER);
}
END_TEST

TCase *category_factors_tests(void)
{
    TCase *tests = tcase_create("Kronecker factors");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, products_of_sizes_show_kronecker_factors);
    tcase_add_test(tests, an_optimizer_without_annotations_may_keep_factors);
    tcase_add_test(tests, large_tables_have_no_factors);
    tcase_add_test(tests, each_weight_has_its_own_factors);
    tcase_add_test(tests, optimizers_of_torch_keep_no_factors);
    return tests;
}
