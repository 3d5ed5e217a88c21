/* Findings in programs that do not train: what the running forward pass needs, and logits of which
 * generation needs few. */
#include "analysis/findings/findings.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define NO_GRAD PY("decorate_context", TORCH "utils/_contextlib.py", 116) "," SCRIPT
#define LAYER                                                                                      \
    CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/model.py", 3) "," CALL "," NO_GRAD
#define HEAD                                                                                       \
    CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/model.py", 8) "," CALL "," NO_GRAD
#define MASK                                                                                       \
    CPP("at::_ops::add_Tensor::call(x)")                                                           \
    "," PY("forward", "/home/u/model.py", 7) "," CALL "," NO_GRAD
#define CAST                                                                                       \
    CPP("at::_ops::_to_copy::call(x)") "," PY("forward", "/home/u/model.py", 9) "," CALL "," NO_GRAD
#define CACHE                                                                                      \
    CPP("at::_ops::cat::call(x)")                                                                  \
    "," PY("update", "/venv/site-packages/transformers/cache_utils.py", 136) "," CALL "," NO_GRAD
#define SAMPLE CPP("at::_ops::_softmax::call(x)") "," NO_GRAD

/* A forward pass that frees the result of a layer once the next one has its own. */
static void infer(const char *layer)
{
    uint64_t before = capture_alloc(&capture, 1000, layer);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t result = capture_alloc(&capture, 1000, layer);
        capture_free(&capture, before, 1000, layer);
        before = result;
    }
    capture_free(&capture, before, 1000, layer);
    capture_free(&capture, capture_alloc(&capture, 8, SCRIPT), 8, SCRIPT);
}

START_TEST(a_forward_pass_that_keeps_nothing)
{
    infer(LAYER);
    infer(LAYER);
    ck_assert_int_eq(capture_saving(&capture, FINDING_FORWARD_PASS), 2000);
}
END_TEST

/* The trace ends with the pass that runs out of memory; or, with `_i`, goes on with another. */
START_TEST(a_forward_pass_that_runs_out_of_memory)
{
    infer(LAYER);
    capture_alloc(&capture, 1500, LAYER);
    capture_alloc(&capture, 1500, LAYER);
    capture_event(&capture, "oom", 0, 9000, LAYER);
    if (_i == 1) {
        capture_free(&capture, capture_alloc(&capture, 8, SCRIPT), 8, SCRIPT);
        capture_free(&capture, capture_alloc(&capture, 10, LAYER), 10, LAYER);
    }
    ck_assert_int_eq(capture_saving(&capture, FINDING_FORWARD_PASS), _i == 0 ? 3000 : -1);
}
END_TEST

START_TEST(a_program_that_trains)
{
    infer(STACK_FORWARD);
    uint64_t saved = capture_alloc(&capture, 100, STACK_FORWARD);
    capture_alloc(&capture, 8, STACK_BACKWARD);
    capture_free(&capture, saved, 100, ENGINE);
    ck_assert_int_eq(capture_saving(&capture, FINDING_FORWARD_PASS), -1);
}
END_TEST

/* Generates a token: logits of so many bytes, of which those of the last position, `read` bytes,
 * are looked at. */
static void generate(uint64_t bytes, uint64_t read)
{
    uint64_t logits = capture_alloc(&capture, bytes, HEAD);
    uint64_t scores = capture_alloc(&capture, read, SAMPLE);
    capture_free(&capture, scores, read, SAMPLE);
    capture_free(&capture, logits, bytes, NO_GRAD);
}

/* The same, but what is converted before it is read is the result of another operator. */
static void convert(uint64_t bytes, const char *operator)
{
    uint64_t result = capture_alloc(&capture, bytes, operator);
    uint64_t copy = capture_alloc(&capture, bytes / 2, CAST);
    uint64_t scores = capture_alloc(&capture, 10, SAMPLE);
    capture_free(&capture, scores, 10, SAMPLE);
    capture_free(&capture, copy, bytes / 2, NO_GRAD);
    capture_free(&capture, result, bytes, NO_GRAD);
}

/* Keys and values of the text so far. */
static void make_cache(void)
{
    capture_alloc(&capture, 300, CACHE);
}

START_TEST(logits_that_are_converted)
{
    make_cache();
    convert(1000, HEAD);
    convert(10, HEAD);
    ck_assert_int_eq(capture_saving(&capture, FINDING_UNUSED_LOGITS), 1000 + 500);
}
END_TEST

#define DIVIDE CPP("at::_ops::div_Tensor::call(x)") "," NO_GRAD
#define EXPAND CPP("at::_ops::_softmax::call(x)") "," NO_GRAD

/* Logits that are divided before those of the last position are read. The result of the product is
 * freed before, or not. Or they are the scores of attention, of which a softmax makes weights. */
START_TEST(logits_that_are_divided)
{
    make_cache();
    for (unsigned i = 0; i < 2; i++) {
        uint64_t bytes = i == 0 ? 1000 : 10;
        uint64_t logits = capture_alloc(&capture, bytes, HEAD);
        uint64_t cast = capture_alloc(&capture, 2 * bytes, CAST);
        if (_i == 1)
            capture_free(&capture, logits, bytes, NO_GRAD);
        uint64_t divided = capture_alloc(&capture, 2 * bytes, _i == 2 ? EXPAND : DIVIDE);
        uint64_t scores = capture_alloc(&capture, 10, SAMPLE);
        capture_free(&capture, scores, 10, SAMPLE);
        capture_free(&capture, divided, 2 * bytes, NO_GRAD);
        capture_free(&capture, cast, 2 * bytes, NO_GRAD);
        if (_i != 1)
            capture_free(&capture, logits, bytes, NO_GRAD);
    }
    static const int64_t savings[] = {5000, 4000, -1};
    ck_assert_int_eq(capture_saving(&capture, FINDING_UNUSED_LOGITS), savings[_i]);
}
END_TEST

START_TEST(masks_that_are_converted_are_no_logits)
{
    make_cache();
    convert(1000, MASK);
    convert(10, MASK);
    ck_assert_int_eq(capture_saving(&capture, FINDING_UNUSED_LOGITS), -1);
}
END_TEST

START_TEST(logits_of_a_text_that_grows)
{
    for (unsigned i = 0; i < 4; i++)
        generate(1000 + 10 * i, 10);
    ck_assert_int_eq(capture_saving(&capture, FINDING_UNUSED_LOGITS), 1030);
}
END_TEST

START_TEST(logits_of_a_prompt)
{
    make_cache();
    generate(1000, 10);
    generate(10, 10);
    ck_assert_int_eq(capture_saving(&capture, FINDING_UNUSED_LOGITS), 1000);
}
END_TEST

#define OTHER_HEAD                                                                                 \
    CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/draft.py", 5) "," CALL "," NO_GRAD

/* Two models, as in speculative decoding. */
START_TEST(logits_of_two_models)
{
    make_cache();
    uint64_t first = capture_alloc(&capture, 500, OTHER_HEAD);
    for (unsigned i = 0; i < 6; i++)
        capture_free(&capture, capture_alloc(&capture, 10, SAMPLE), 10, SAMPLE);
    generate(1000, 10);
    capture_free(&capture, first, 500, NO_GRAD);
    capture_alloc(&capture, 5, OTHER_HEAD);
    generate(10, 10);
    ck_assert_int_eq(capture_saving(&capture, FINDING_UNUSED_LOGITS), 1500);
}
END_TEST

/* A batch may be smaller than the one before, and the best of all scores may be all that counts. */
START_TEST(scores_of_a_small_batch)
{
    generate(1000, 10);
    generate(10, 10);
    ck_assert_int_eq(capture_saving(&capture, FINDING_UNUSED_LOGITS), -1);
}
END_TEST

START_TEST(logits_whose_reader_runs_out_of_memory)
{
    for (unsigned i = 0; i < 3; i++)
        generate(100 + 100 * i, 10);
    capture_alloc(&capture, 400, HEAD);
    capture_event(&capture, "oom", 50, 5000, SAMPLE);
    capture_alloc(&capture, 10, NO_GRAD);
    ck_assert_int_eq(capture_saving(&capture, FINDING_UNUSED_LOGITS), -1);
}
END_TEST

START_TEST(logits_that_are_all_read)
{
    for (unsigned i = 0; i < 4; i++)
        generate(1000 + 10 * i, 1000 + 10 * i);
    ck_assert_int_eq(capture_saving(&capture, FINDING_UNUSED_LOGITS), -1);
}
END_TEST

/* Scores of batches of a search, of which the best are kept. */
START_TEST(products_that_do_not_grow)
{
    for (unsigned i = 0; i < 4; i++)
        generate(1000, 10);
    ck_assert_int_eq(capture_saving(&capture, FINDING_UNUSED_LOGITS), -1);
}
END_TEST

TCase *findings_inference_tests(void)
{
    TCase *tests = tcase_create("findings of inference");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_forward_pass_that_keeps_nothing);
    tcase_add_loop_test(tests, a_forward_pass_that_runs_out_of_memory, 0, 2);
    tcase_add_test(tests, a_program_that_trains);
    tcase_add_test(tests, logits_that_are_converted);
    tcase_add_loop_test(tests, logits_that_are_divided, 0, 3);
    tcase_add_test(tests, masks_that_are_converted_are_no_logits);
    tcase_add_test(tests, logits_of_a_text_that_grows);
    tcase_add_test(tests, logits_of_a_prompt);
    tcase_add_test(tests, logits_of_two_models);
    tcase_add_test(tests, scores_of_a_small_batch);
    tcase_add_test(tests, logits_whose_reader_runs_out_of_memory);
    tcase_add_test(tests, logits_that_are_all_read);
    tcase_add_test(tests, products_that_do_not_grow);
    return tests;
}
