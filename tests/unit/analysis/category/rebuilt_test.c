/* DistributedDataParallel frees its buckets after the first pass and makes others, in a trace
 * without stacks. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define PARAMETER  100000u
#define ACTIVATION 50000u
#define LAYERS     24u
#define ALL        (LAYERS * PARAMETER) /* bytes of the gradients, and of the buckets */

static void pass(void)
{
    born(60, 160); /* buffers of the model that are sent to other ranks */
    freed(60, 160);
    for (unsigned i = 0; i < LAYERS; i++)
        born(100 + i, ACTIVATION + i);
    born(200 + LAYERS, ACTIVATION);
    for (unsigned i = LAYERS; i-- > 0;) {
        born(200 + i, ACTIVATION + i);
        born(300 + i, PARAMETER);
        freed(201 + i, ACTIVATION);
        freed(100 + i, ACTIVATION + i);
    }
    freed(200, ACTIVATION);
    for (unsigned i = 0; i < LAYERS; i++)
        freed(300 + i, PARAMETER);
}

/* Passes before and after two buckets, of `old` bytes together, the first of which has `first`, are
 * replaced by two others. */
static void train(uint64_t old, uint64_t first)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(1 + i, PARAMETER);
    born(50, first);
    born(51, old - first);
    pass();
    for (unsigned i = 0; i < LAYERS; i++)
        born(400 + i, PARAMETER); /* states of the optimizer */
    freed(50, first);
    freed(51, old - first);
    born(52, ALL / 3);
    born(53, ALL - ALL / 3);
    pass();
    pass();
    capture_load(&capture);
}

/* Other models may have three times as many bytes, as in a GAN. */
START_TEST(buckets_that_are_replaced)
{
    for (unsigned i = 0; _i == 1 && i < LAYERS; i++)
        born(500 + i, 3 * PARAMETER + 4);
    train(ALL, ALL / 4);
    for (uint64_t addr = 50; addr < 54; addr++)
        capture_expect(&capture, addr, CATEGORY_COMMUNICATION, CONFIDENCE_LOW);
    ck_assert_int_eq(capture_category(&capture, 1), CATEGORY_PARAMETER);
}
END_TEST

START_TEST(other_blocks_that_are_replaced)
{
    train(_i == 0 ? ALL - 512 : ALL, ALL / 3); /* others, or equal ones */
    for (uint64_t addr = 50; addr < 54; addr++)
        ck_assert_int_ne(capture_category(&capture, addr), CATEGORY_COMMUNICATION);
}
END_TEST

TCase *category_rebuilt_tests(void)
{
    TCase *tests = tcase_create("rebuilt buckets");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, buckets_that_are_replaced, 0, 2);
    tcase_add_loop_test(tests, other_blocks_that_are_replaced, 0, 2);
    return tests;
}
