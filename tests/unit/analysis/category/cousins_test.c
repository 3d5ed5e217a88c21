/* Blocks from before the trace, whose steps the trace shows only later ones of. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

#define SIZE  4000u /* of the weight */
#define BATCH 700u
#define SCORE 900u
#define OTHER 800u /* none is made in the trace */

#define MOVED                                                                                      \
    CPP("at::_ops::_to_copy::call(x)") "," CPP("at::_ops::to_dtype_layout::call(x)") "," SCRIPT

static void pass(uint64_t at)
{
    born(at, 50, STACK_FORWARD);
    born(at + 1, 10, STACK_BACKWARD);
    born(at + 2, SIZE, STACK_BACKWARD);
    freed(at + 1, 10, STACK_BACKWARD);
    freed(at, 50, ENGINE);
    born(at + 3, 20, STACK_STEP);
    freed(at + 3, 20, STACK_STEP);
    freed(at + 2, SIZE, SCRIPT);
}

/* Variables hold the batch until the next one is there, and the scores until the next forward pass
 * has made others. The trace begins with a free of each that is made before it, in other phases. */
START_TEST(where_the_first_blocks_end_does_not_matter)
{
    capture_block(&capture, 1, SIZE, "");
    born(2, 30, MOVED);
    freed(5, SCORE, SCRIPT);
    freed(6, BATCH, SCRIPT);
    freed(7, OTHER, SCRIPT);
    for (uint64_t at = 100; at <= 300; at += 100) {
        born(at + 10, BATCH, MOVED);
        born(at + 20, SCORE, STACK_FORWARD);
        if (at > 100) {
            freed(at - 100 + 20, SCORE, STACK_FORWARD);
            freed(at - 100 + 10, BATCH, STACK_FORWARD);
        }
        pass(at);
    }
    capture_load(&capture);
    ck_assert_int_eq(capture_category(&capture, 5), CATEGORY_ACTIVATION);
    ck_assert_int_eq(capture_category(&capture, 6), CATEGORY_INPUT);
    ck_assert_int_eq(capture_category(&capture, 7), CATEGORY_UNKNOWN);
}
END_TEST

TCase *category_cousins_tests(void)
{
    TCase *tests = tcase_create("like others of their sizes");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, where_the_first_blocks_end_does_not_matter);
    return tests;
}
