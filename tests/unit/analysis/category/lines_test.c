/* What Python frames alone tell, and a program without a backward pass. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

#define PYTHON_LEAVE PY("__exit__", TORCH "amp/autocast_mode.py", 349) "," SCRIPT
#define MODEL                                                                                      \
    CPP("at::_ops::empty::call(x)") "," PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT
#define LINE(line) PY("forward", "/home/u/model.py", line) "," CALL "," SCRIPT

/* Python frames show no conversion: the copies of a bias and a weight, then a result of the same
 * size. A line that makes one block of that size converts nothing. */
START_TEST(copies_that_a_graph_keeps_by_lines)
{
    born(1, 200, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    born(2, 20, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    born(3, 10, LINE(3));
    born(4, 100, LINE(3));
    born(5, 100, LINE(3));
    born(6, 100, LINE(4));
    freed(3, 10, _i == 0 ? PYTHON_LEAVE : SCRIPT);
    born(7, 200, "");
    for (uint64_t addr = 4; addr < 7; addr++)
        freed(addr, 100, "");
    capture_load(&capture);
    ck_assert_int_eq(capture_category(&capture, 4),
                     _i == 0 ? CATEGORY_CAST_CACHE : CATEGORY_ACTIVATION);
    ck_assert_int_eq(capture_category(&capture, 5), CATEGORY_ACTIVATION);
    ck_assert_int_eq(capture_category(&capture, 6), CATEGORY_ACTIVATION);
}
END_TEST

#define PLAIN(line) PY("main", "/home/u/loop.py", line) "," SCRIPT

/* Python frames do not tell a batch from a result, but its line ran before the first pass, too. */
START_TEST(batches_by_the_line_that_makes_them)
{
    born(1, 1000, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (uint64_t pass = 0; pass < 3; pass++) {
        born(10 + pass, 40, PLAIN(5));
        if (pass > 0)
            freed(9 + pass, 40, PLAIN(5));
        born(20 + pass, 60, LINE(3));
        freed(20 + pass, 60, LINE(3));
        born(30 + pass, 20, PLAIN(7));
        if (pass > 0)
            freed(29 + pass, 20, PLAIN(7));
    }
    capture_load(&capture);
    ck_assert_int_eq(capture_category(&capture, 10), CATEGORY_INPUT);
    ck_assert_int_eq(capture_category(&capture, 11), CATEGORY_INPUT);
    ck_assert_int_eq(capture_category(&capture, 31), CATEGORY_ACTIVATION);
}
END_TEST

/* The last batch stays, as a result would. A line that makes as many results makes no batches. */
START_TEST(the_last_batch_of_a_line)
{
    born(1, 1000, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    born(2, 60, LINE(3));
    freed(2, 60, LINE(3));
    for (uint64_t pass = 0; pass < 6; pass++) {
        born(10 + pass, 40, PLAIN(5));
        if (pass > 0)
            freed(9 + pass, 40, PLAIN(5));
        born(20 + pass, 60, LINE(3));
        freed(20 + pass, 60, LINE(3));
        if (_i == 1)
            born(30 + pass, 20, PLAIN(5));
    }
    born(50, 60, LINE(3));
    born(51, 60, STACK_BACKWARD);
    freed(51, 60, STACK_BACKWARD);
    freed(50, 60, STACK_BACKWARD);
    capture_load(&capture);
    for (uint64_t addr = 11; _i == 0 && addr < 16; addr++)
        ck_assert_int_eq(capture_category(&capture, addr), CATEGORY_INPUT);
    if (_i == 1)
        ck_assert_int_eq(capture_category(&capture, 32), CATEGORY_ACTIVATION);
}
END_TEST

#define EVALUATES CPP("at::_ops::mm::call(x)") "," PLAIN(5)
#define COPIES    CPP("at::_ops::_to_copy::call(x)") "," PLAIN(5)

/* An evaluation after each epoch. Its variable keeps the last result until the next one. Where the
 * line copies, it may make batches. */
START_TEST(the_last_result_of_an_evaluation)
{
    const char *made_by = _i == 0 ? EVALUATES : COPIES;
    uint64_t address = 100;
    born(1, 1000, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (int epoch = 0; epoch < 3; epoch++) {
        for (int step = 0; step < 2; step++) {
            born(2, 60, LINE(3));
            born(3, 1000, STACK_BACKWARD);
            freed(2, 60, STACK_BACKWARD);
            born(4, 10, STACK_STEP);
            freed(4, 10, STACK_STEP);
            freed(3, 1000, STACK_STEP);
        }
        for (int part = 0; part < 3; part++) {
            born(++address, 400, made_by);
            if (address > 101)
                freed(address - 1, 400, PLAIN(5));
        }
    }
    capture_load(&capture);
    ck_assert_int_eq(capture_category(&capture, 102), CATEGORY_TEMPORARY);
    ck_assert_int_eq(capture_category(&capture, 103),
                     _i == 0 ? CATEGORY_TEMPORARY : CATEGORY_INPUT);
}
END_TEST

/* Zeros for most weights are states, as of a program that computes its updates without a backward
 * pass. A single buffer may be as large as a weight. */
START_TEST(zeros_for_weights_without_a_backward_pass)
{
    for (uint64_t i = 0; i < 4; i++)
        born(1 + i, 1000 + 100 * i, MODEL);
    for (uint64_t i = 0; i < (_i == 0 ? 4 : 1); i++)
        born(11 + i, 1000 + 100 * i, CPP("at::_ops::zeros_like::call(x)") "," PLAIN(3));
    for (uint64_t pass = 0; pass < 3; pass++) {
        born(20, 60, STACK_FORWARD);
        freed(20, 60, STACK_FORWARD);
        born(21, 6, PLAIN(4));
        freed(21, 6, PLAIN(4));
    }
    capture_load(&capture);
    ck_assert_int_eq(capture_category(&capture, 1), CATEGORY_PARAMETER);
    if (_i == 0)
        ck_assert_int_eq(capture_category(&capture, 11), CATEGORY_OPTIMIZER_STATE);
    else
        ck_assert_int_ne(capture_category(&capture, 11), CATEGORY_OPTIMIZER_STATE);
}
END_TEST

TCase *category_lines_tests(void)
{
    TCase *tests = tcase_create("lines");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, copies_that_a_graph_keeps_by_lines, 0, 2);
    tcase_add_test(tests, batches_by_the_line_that_makes_them);
    tcase_add_loop_test(tests, the_last_batch_of_a_line, 0, 2);
    tcase_add_loop_test(tests, the_last_result_of_an_evaluation, 0, 2);
    tcase_add_loop_test(tests, zeros_for_weights_without_a_backward_pass, 0, 2);
    return tests;
}
