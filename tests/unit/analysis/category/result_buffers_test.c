/* Buffers for the results of several passes, in traces whose frames are Python's only. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

#define LINE(line) PY("<module>", "/home/u/serve.py", line)
#define MODEL      PY("__init__", TORCH "nn/modules/linear.py", 105) "," LINE(1)
#define PASS       PY("forward", "/home/u/model.py", 3) "," CALL "," LINE(30)

#define STEP PY("step", TORCH "optim/sgd.py", 100) "," LINE(11)

#define PICTURE 5
#define BUFFER  6

/* A picture goes through a model in parts. Each pass leaves `result` bytes until the next. */
static void in_parts(uint64_t picture, uint64_t buffer, uint64_t result)
{
    born(1, 4000, MODEL);
    born(2, 4000, MODEL);
    for (uint64_t request = 0; request < 2; request++) {
        uint64_t at = 100 * (request + 1);
        born(at + PICTURE, picture, LINE(20));
        if (buffer > 0)
            born(at + BUFFER, buffer, LINE(21));
        for (uint64_t part = 0; part < 4; part++) {
            born(at + 10 + part, result, PASS);
            born(at + 20, 5000, PASS);
            freed(at + 20, 5000, PASS);
            if (part > 0)
                freed(at + 9 + part, result, LINE(31));
        }
        freed(at + 13, result, LINE(33));
        if (buffer > 0)
            freed(at + BUFFER, buffer, LINE(34));
        freed(at + PICTURE, picture, LINE(35));
    }
    capture_load(&capture);
}

/* The results may be in a narrower type than the buffer. */
START_TEST(results_fill_a_buffer)
{
    in_parts(100, 1200, _i == 0 ? 350 : 175);
    for (uint64_t at = 100; at <= 200; at += 100) {
        ck_assert_int_eq(capture_category(&capture, at + PICTURE), CATEGORY_INPUT);
        ck_assert_int_eq(capture_category(&capture, at + BUFFER), CATEGORY_ACTIVATION);
    }
}
END_TEST

/* The results are as large as the picture, but the passes have no other input. */
START_TEST(a_picture_is_read_in_parts)
{
    in_parts(1200, 0, 350);
    ck_assert_int_eq(capture_category(&capture, 100 + PICTURE), CATEGORY_INPUT);
    ck_assert_int_eq(capture_category(&capture, 200 + PICTURE), CATEGORY_INPUT);
}
END_TEST

/* Such results do not fill the block: it is a second input, such as a mask. */
START_TEST(other_blocks_are_inputs)
{
    in_parts(1200, 800, _i == 0 ? 50 : 800);
    ck_assert_int_eq(capture_category(&capture, 100 + BUFFER), CATEGORY_INPUT);
    ck_assert_int_eq(capture_category(&capture, 200 + BUFFER), CATEGORY_INPUT);
}
END_TEST

static void train(void)
{
    for (uint64_t step = 0; step < 2; step++) {
        born(50, 700, LINE(10));
        born(60, 5000, PASS);
        born(61, 4000, "");
        freed(60, 5000, "");
        born(62, 8, STEP);
        freed(62, 8, STEP);
        freed(61, 4000, LINE(12));
        freed(50, 700, LINE(13));
    }
}

/* The program trains a model first. The trace ends within the last passes, so nothing is known of
 * the picture. */
START_TEST(a_buffer_may_outlive_the_trace)
{
    born(1, 4000, MODEL);
    train();
    born(100 + PICTURE, 100, LINE(20));
    born(100 + BUFFER, 1200, LINE(21));
    for (uint64_t part = 0; part < 4; part++) {
        born(110 + part, 350, PASS);
        born(120, 5000, PASS);
        freed(120, 5000, PASS);
        freed(110 + part, 350, LINE(31));
    }
    capture_load(&capture);
    ck_assert_int_eq(capture_category(&capture, 100 + BUFFER), CATEGORY_ACTIVATION);
    ck_assert_int_ne(capture_category(&capture, 100 + PICTURE), CATEGORY_ACTIVATION);
}
END_TEST

/* The variables of an evaluation hold its buffer and its picture while the program trains. Rollouts
 * fill a buffer for the training that follows. */
START_TEST(a_buffer_may_be_held)
{
    bool is_evaluation = _i == 0;
    born(1, 4000, MODEL);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        uint64_t at = 100 * (epoch + 1);
        if (is_evaluation)
            train();
        born(at + PICTURE, 100, LINE(20));
        born(at + BUFFER, 1200, LINE(21));
        if (epoch > 0) {
            freed(at - 100 + PICTURE, 100, LINE(20));
            freed(at - 100 + BUFFER, 1200, LINE(21));
        }
        for (uint64_t part = 0; part < 4; part++) {
            born(at + 10 + part, 350, PASS);
            born(at + 20, 5000, PASS);
            freed(at + 20, 5000, PASS);
            freed(at + 10 + part, 350, LINE(31));
        }
        if (!is_evaluation)
            train();
    }
    capture_load(&capture);
    for (uint64_t at = 100; at <= 200; at += 100) {
        ck_assert_int_eq(capture_category(&capture, at + PICTURE), CATEGORY_INPUT);
        ck_assert_int_eq(capture_category(&capture, at + BUFFER),
                         is_evaluation ? CATEGORY_ACTIVATION : CATEGORY_INPUT);
    }
}
END_TEST

TCase *category_result_buffers_tests(void)
{
    TCase *tests = tcase_create("buffers for results");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, results_fill_a_buffer, 0, 2);
    tcase_add_test(tests, a_picture_is_read_in_parts);
    tcase_add_test(tests, a_buffer_may_outlive_the_trace);
    tcase_add_loop_test(tests, a_buffer_may_be_held, 0, 2);
    tcase_add_loop_test(tests, other_blocks_are_inputs, 0, 2);
    return tests;
}
