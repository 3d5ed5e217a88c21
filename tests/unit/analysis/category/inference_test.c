/* Programs that only run models: weights that they convert, buffers for results, and what a call
 * that is over leaves or frees. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

static void expect(uint64_t addr, enum category category, enum reason reason)
{
    uint8_t why;
    enum category found = capture_category_why(&capture, addr, &why);
    ck_assert_msg(found == category, "%d: %s", (int)addr, category_name(found));
    ck_assert_msg(reason_of(why) == reason, "%d: %s", (int)addr, reason_name(why));
}

#define MODEL                                                                                      \
    CPP("at::_ops::empty::call(x)") "," PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT
#define COPIED(line)                                                                               \
    CPP("at::_ops::_to_copy::call(x)")                                                             \
    "," CPP("at::_ops::to_dtype_layout::call(x)") "," PY("<module>", "/home/u/serve.py", line)
#define CONVERTED(line)                                                                            \
    CPP("at::_ops::_to_copy::call(x)")                                                             \
    "," CPP("at::_ops::to_dtype::call(x)") "," PY("<module>", "/home/u/serve.py", line)
#define ZEROS(line) CPP("at::_ops::zeros::call(x)") "," PY("<module>", "/home/u/serve.py", line)
#define ADDED       CPP("at::_ops::add_Tensor::call(x)") "," PY("<module>", "/home/u/serve.py", 40)

static void pass(uint64_t addr)
{
    born(addr, 30, STACK_FORWARD);
    born(addr + 1, 5, ADDED);
    freed(addr + 1, 5, ADDED);
    freed(addr, 30, ADDED);
}

/* A program quantizes weights after another part of the model was made. Batches of later passes
 * are copied to the device. */
START_TEST(converted_weights)
{
    born(1, 4000, MODEL);
    born(2, 1000, CONVERTED(3));
    born(3, 1000, CONVERTED(3));
    for (uint64_t at = 10; at < 40; at += 10) {
        born(at, 200, COPIED(20));
        pass(at + 1);
        freed(at, 200, ADDED);
    }
    capture_load(&capture);
    expect(2, CATEGORY_PARAMETER, REASON_INFERENCE);
    expect(3, CATEGORY_PARAMETER, REASON_INFERENCE);
    expect(20, CATEGORY_INPUT, REASON_BATCH);
}
END_TEST

/* Memory runs out in the first pass: what was converted before may be the batch. */
START_TEST(a_converted_batch)
{
    born(1, 4000, MODEL);
    born(2, 200, COPIED(3));
    born(3, 100, CONVERTED(4));
    born(4, 300, STACK_FORWARD);
    capture_load(&capture);
    expect(2, CATEGORY_INPUT, REASON_COPIED);
    expect(3, CATEGORY_INPUT, REASON_COPIED);
}
END_TEST

/* An image is put together from three tiles; `maker` makes it before them. */
static void tiles(const char *maker, bool trains, bool is_over)
{
    born(1, 4000, MODEL);
    if (trains) {
        born(2, 50, STACK_FORWARD);
        born(3, 400, STACK_BACKWARD);
        freed(2, 50, ENGINE);
        born(4, 8000, STACK_STEP);
        freed(3, 400, SCRIPT);
    }
    born(5, 100, COPIED(20));
    born(6, 900, maker);
    for (uint64_t at = 10; at < 40; at += 10)
        pass(at);
    if (is_over) { /* else the trace ends before */
        freed(6, 900, ADDED);
        freed(5, 100, ADDED);
    }
    capture_load(&capture);
}

START_TEST(a_buffer_for_results)
{
    tiles(ZEROS(21), _i >= 1, _i < 2);
    expect(6, CATEGORY_ACTIVATION, REASON_AFTER_FORWARD);
}
END_TEST

START_TEST(a_batch_of_several_passes)
{
    tiles(COPIED(21), _i >= 1, _i < 2);
    ck_assert_int_ne(capture_category(&capture, 6), CATEGORY_ACTIVATION);
}
END_TEST

/* Rollouts fill a buffer, which then holds the batches of training. */
START_TEST(a_buffer_for_rollouts)
{
    born(1, 4000, MODEL);
    born(6, 900, ZEROS(21));
    for (uint64_t at = 10; at < 40; at += 10)
        pass(at);
    born(50, 50, STACK_FORWARD);
    born(51, 4000, STACK_BACKWARD);
    freed(50, 50, ENGINE);
    born(52, 8000, STACK_STEP);
    freed(51, 4000, SCRIPT);
    freed(6, 900, SCRIPT);
    capture_load(&capture);
    ck_assert_int_ne(capture_category(&capture, 6), CATEGORY_ACTIVATION);
}
END_TEST

#define SCALED CPP("at::_ops::div_Tensor::call(x)") "," PY("<module>", "/home/u/serve.py", 30)

/* Before each pass, code copies `copied` bytes to the device, and computes 400 bytes that go into
 * the pass. */
static void requests(uint64_t copied)
{
    born(1, 4000, MODEL);
    for (uint64_t at = 10; at < 50; at += 10) {
        born(at, copied, COPIED(20));
        born(at + 1, 400, SCALED);
        freed(at, copied, SCALED);
        pass(at + 2);
        freed(at + 1, 400, SCALED);
    }
    capture_load(&capture);
}

/* A server converts and scales an image on the device. */
START_TEST(a_batch_that_is_prepared)
{
    requests(100);
    expect(31, CATEGORY_INPUT, REASON_BEFORE_FORWARD);
}
END_TEST

/* Scores of one token, and the number of the beam that goes on. */
START_TEST(results_beside_a_small_copy)
{
    requests(4);
    ck_assert_int_ne(capture_category(&capture, 31), CATEGORY_INPUT);
}
END_TEST

/* The recording began during a call whose result is larger than the model. The trace ends right
 * after the call has freed it. */
START_TEST(a_result_from_before_the_trace)
{
    for (uint64_t weight = 1; weight < 6; weight++)
        capture_block(&capture, weight, 100 * weight, "");
    pass(20);
    pass(30);
    freed(10, 90000, ADDED);
    freed(11, 70000, ADDED);
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER, REASON_INFERENCE);
    expect(10, CATEGORY_ACTIVATION, REASON_TWIN_ACTIVATION);
    expect(11, CATEGORY_ACTIVATION, REASON_TWIN_ACTIVATION);
}
END_TEST

/* Nothing shows what is freed before the first pass. */
START_TEST(a_block_that_no_pass_sees)
{
    for (uint64_t weight = 1; weight < 6; weight++)
        capture_block(&capture, weight, 100 * weight, "");
    born(9, 5, ADDED);
    freed(10, 90000, ADDED);
    freed(9, 5, ADDED);
    pass(20);
    pass(30);
    capture_load(&capture);
    expect(10, CATEGORY_UNKNOWN, REASON_NONE);
}
END_TEST

/* The program ends in the trace: it frees its model, too. */
START_TEST(a_model_that_the_end_frees)
{
    pass(20);
    pass(30);
    for (uint64_t weight = 1; weight < 6; weight++)
        freed(weight, 100 * weight, ADDED);
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER, REASON_INFERENCE);
    expect(5, CATEGORY_PARAMETER, REASON_INFERENCE);
}
END_TEST

TCase *category_inference_tests(void)
{
    TCase *tests = tcase_create("inference");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, converted_weights);
    tcase_add_test(tests, a_converted_batch);
    tcase_add_loop_test(tests, a_buffer_for_results, 0, 3);
    tcase_add_loop_test(tests, a_batch_of_several_passes, 0, 3);
    tcase_add_test(tests, a_buffer_for_rollouts);
    tcase_add_test(tests, a_batch_that_is_prepared);
    tcase_add_test(tests, results_beside_a_small_copy);
    tcase_add_test(tests, a_result_from_before_the_trace);
    tcase_add_test(tests, a_block_that_no_pass_sees);
    tcase_add_test(tests, a_model_that_the_end_frees);
    return tests;
}
