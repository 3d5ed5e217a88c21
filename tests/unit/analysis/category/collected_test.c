/* Batches that plain code puts together after a pass without gradients. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

#define MODEL                                                                                      \
    CPP("at::_ops::empty::call(x)") "," PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT
#define MOVED                                                                                      \
    CPP("at::_ops::_to_copy::call(x)") "," CPP("at::_ops::to_dtype_layout::call(x)") "," SCRIPT
#define DRAW(op, line)                                                                             \
    CPP("at::_ops::" op "::call(x)") "," PY("draw", "/home/u/replay.py", line) "," SCRIPT

#define BATCH 5

/* An agent acts in an environment, and then learns from a batch, which a variable holds until the
 * next one is drawn. */
static void act_and_learn(uint64_t at, const char *made, const char *copied, bool is_dropped)
{
    born(at, 30, STACK_FORWARD);
    freed(at, 30, SCRIPT);
    born(at + 1, 100, made);
    born(at + BATCH, 400, copied);
    if (is_dropped)
        freed(at + 1, 100, copied);
    if (at > 100)
        freed(at - 100 + BATCH, 400, SCRIPT);
    born(at + 2, 50, STACK_FORWARD);
    born(at + 6, 20, STACK_BACKWARD);
    born(at + 3, 4000, STACK_BACKWARD);
    freed(at + 6, 20, STACK_BACKWARD);
    freed(at + 2, 50, ENGINE);
    born(at + 4, 20, STACK_STEP);
    freed(at + 4, 20, STACK_STEP);
    freed(at + 3, 4000, SCRIPT);
    if (!is_dropped)
        freed(at + 1, 100, SCRIPT);
}

static void learn(const char *made, const char *copied, bool is_dropped)
{
    born(1, 4000, MODEL);
    born(2, 10, MOVED);
    for (uint64_t at = 100; at <= 400; at += 100)
        act_and_learn(at, made, copied, is_dropped);
    capture_load(&capture);
}

/* The stored data has another type, or another layout. */
START_TEST(a_copy_of_a_batch)
{
    learn(DRAW("index_Tensor", 42),
          _i == 0 ? CPP("at::_ops::_to_copy::call(x)") "," DRAW("to_dtype", 42)
                  : DRAW("contiguous", 42),
          true);
    for (uint64_t at = 100; at < 400; at += 100)
        ck_assert_int_eq(capture_category(&capture, at + BATCH), CATEGORY_INPUT);
}
END_TEST

/* What is copied from a result is none. */
START_TEST(a_copy_of_a_result)
{
    learn(_i == 0 ? DRAW("mul_Tensor", 42) : DRAW("index_Tensor", 42),
          CPP("at::_ops::_to_copy::call(x)") "," DRAW("to_dtype", 43), _i == 0);
    for (uint64_t at = 100; at < 400; at += 100)
        ck_assert_int_eq(capture_category(&capture, at + BATCH), CATEGORY_ACTIVATION);
}
END_TEST

TCase *category_collected_tests(void)
{
    TCase *tests = tcase_create("collected batches");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, a_copy_of_a_batch, 0, 2);
    tcase_add_loop_test(tests, a_copy_of_a_result, 0, 2);
    return tests;
}
