/* Requests that fail: for matrices of attention, and larger ones than all before. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define NO_GRAD PY("decorate_context", TORCH "utils/_contextlib.py", 116) "," SCRIPT
#define OP(op)                                                                                     \
    CPP("at::_ops::" op "::call(x)") "," PY("forward", "/home/u/model.py", 3) "," CALL "," NO_GRAD
#define INPUT CPP("at::_ops::rand::call(x)") "," SCRIPT
#define QUERY 512
#define PAIRS 4096

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

/* The product of queries and keys, and what is added to it. */
static uint64_t scores(uint64_t pairs)
{
    uint64_t product = born(pairs, OP("bmm"));
    uint64_t sum = born(pairs, OP("add_Tensor"));
    capture_free(&capture, product, pairs, OP("add_Tensor"));
    return sum;
}

/* A whole pass. */
static void pass(uint64_t pairs)
{
    uint64_t input = born(QUERY, INPUT);
    uint64_t sum = scores(pairs), softmax = born(pairs, OP("_softmax"));
    capture_free(&capture, sum, pairs, OP("_softmax"));
    uint64_t result = born(QUERY, OP("bmm"));
    capture_free(&capture, softmax, pairs, OP("bmm"));
    capture_free(&capture, result, QUERY, NO_GRAD);
    capture_free(&capture, input, QUERY, NO_GRAD);
}

static struct device_report *failed(const char *frames, uint64_t size)
{
    capture_event(&capture, "oom", 0, size, frames);
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    ck_assert_uint_eq(report->ooms.count, 1);
    return report;
}

/* No product with the values shows yet what the scores are for. The softmax may be in float32. */
START_TEST(the_softmax_of_the_first_attention)
{
    born(QUERY, INPUT);
    scores(PAIRS);
    struct device_report *report = failed(OP("_softmax"), _i == 0 ? PAIRS : 2 * PAIRS);
    ck_assert(report->ooms.items[0].of_attention);
    const struct finding *finding = report_finding(report, FINDING_ATTENTION);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 2 * PAIRS);
    device_report_destroy(report);
}
END_TEST

START_TEST(lines_that_made_matrices_before)
{
    static const char *const lines[] = {OP("bmm"), OP("add_Tensor"), OP("_softmax")};
    pass(PAIRS);
    born(QUERY, INPUT);
    if (_i > 0)
        born(4 * PAIRS, OP("bmm"));
    struct device_report *report = failed(lines[_i], 4 * PAIRS);
    ck_assert(report->ooms.items[0].of_attention);
    device_report_destroy(report);
}
END_TEST

/* Of another size, of another operator, without a product, and small. */
START_TEST(other_requests)
{
    const struct {
        const char *frames;
        uint64_t size, product;
    } requests[] = {
        {OP("_softmax"), 8 * PAIRS, PAIRS},
        {OP("gelu"), PAIRS, PAIRS},
        {OP("_softmax"), PAIRS, 0},
        {OP("_softmax"), 512, 512},
    };
    born(QUERY, INPUT);
    born(32 * PAIRS, OP("mm"));
    if (requests[_i].product > 0)
        born(requests[_i].product, OP("bmm"));
    struct device_report *report = failed(requests[_i].frames, requests[_i].size);
    ck_assert(!report->ooms.items[0].of_attention);
    device_report_destroy(report);
}
END_TEST

/* The input and the first layer of a pass; returns the result of the layer. */
static uint64_t layer(void)
{
    born(QUERY, INPUT);
    return born(QUERY, OP("mm"));
}

/* With `_i`, an earlier pass has made the same request in about the same size. */
START_TEST(no_pass_before_has_made_such_a_request)
{
    static const uint64_t sizes[] = {512, 16 * 512};
    for (int i = 0; i <= _i; i++) {
        uint64_t kept = layer(), result = born(sizes[i], OP("gelu"));
        capture_free(&capture, kept, QUERY, OP("gelu"));
        capture_free(&capture, result, sizes[i], NO_GRAD);
    }
    layer();
    struct device_report *report = failed(OP("gelu"), 20 * 512);
    ck_assert_uint_eq(report->ooms.items[0].earlier_bytes, sizes[_i]);
    device_report_destroy(report);
}
END_TEST

/* Data comes to the device as a whole, and weights have their own sizes. */
START_TEST(requests_that_no_batch_makes_larger)
{
    static const char *const stacks[] = {
        CPP("at::_ops::_to_copy::call(x)") "," SCRIPT,
        CPP("at::_ops::mm::call(x)") "," CPP(
            "torch::autograd::generated::AddmmBackward0::apply(x)") "," ENGINE,
    };
    uint64_t kept = layer();
    capture_free(&capture, born(512, stacks[_i]), 512, stacks[_i]);
    capture_free(&capture, kept, QUERY, NO_GRAD);
    layer();
    struct device_report *report = failed(stacks[_i], 20 * 512);
    ck_assert_uint_eq(report->ooms.items[0].earlier_bytes, 0);
    device_report_destroy(report);
}
END_TEST

TCase *oom_attention_tests(void)
{
    TCase *tests = tcase_create("out of memory for attention");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, the_softmax_of_the_first_attention, 0, 2);
    tcase_add_loop_test(tests, lines_that_made_matrices_before, 0, 3);
    tcase_add_loop_test(tests, other_requests, 0, 4);
    tcase_add_loop_test(tests, no_pass_before_has_made_such_a_request, 0, 2);
    tcase_add_loop_test(tests, requests_that_no_batch_makes_larger, 0, 2);
    return tests;
}
