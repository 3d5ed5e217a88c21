/* What a report says of attention, which it knows by its operators. */
#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/one_report.h"

#define IN_ATTENTION     PY("forward", "/home/u/attention.py", 4) "," CALL "," SCRIPT
#define PRODUCT          CPP("at::_ops::bmm::call(x)") "," IN_ATTENTION
#define SOFTMAX          CPP("at::_ops::_softmax::call(x)") "," IN_ATTENTION
#define OTHER_ACTIVATION CPP("at::_ops::gelu::call(x)") "," IN_ATTENTION

static int64_t attention_bytes(void)
{
    const struct finding *finding = report_finding(report, FINDING_ATTENTION);
    return finding ? finding->save_bytes : 0;
}

/* A product, softmax, a mask of dropout in bytes, and the product with the values. */
static void attend(void)
{
    capture_event(&capture, "alloc", 1, 400, PRODUCT);
    capture_event(&capture, "alloc", 2, 400, SOFTMAX);
    capture_event(&capture, "alloc", 3, 100, OTHER_ACTIVATION);
    capture_event(&capture, "alloc", 4, 150, OTHER_ACTIVATION); /* of values, say */
    capture_event(&capture, "alloc", 5, 80, PRODUCT);
    capture_event(&capture, "alloc", 6, 400, SOFTMAX); /* of another size: a classifier's */
    capture_event(&capture, "alloc", 7, 400, PRODUCT);
    capture_event(&capture, "alloc", 8, 1, STACK_BACKWARD);
    for (uint64_t addr = 1; addr < 8; addr++)
        capture_free(&capture, addr,
                     addr == 3   ? 100
                     : addr == 4 ? 150
                     : addr == 5 ? 80
                                 : 400,
                     ENGINE);
}

START_TEST(attention_by_hand)
{
    attend();
    make_report(0);
    ck_assert_int_eq(attention_bytes(), 900);
}
END_TEST

#define ADDITION CPP("at::_ops::add_Tensor::call(x)") "," IN_ATTENTION
#define UNFUSED(op)                                                                                \
    CPP("at::_ops::" op "::call(x)")                                                               \
    "," CPP("at::native::_scaled_dot_product_attention_math(x)") "," IN_ATTENTION

/* Attention whose backward pass has one of its matrices, and makes one more in `gradient`. */
static const struct finding *attend_to(const char *product, const char *addition,
                                       const char *softmax, const char *gradient)
{
    capture_event(&capture, "alloc", 1, 400, product);
    capture_event(&capture, "alloc", 2, 400, addition);
    capture_free(&capture, 1, 400, addition);
    capture_event(&capture, "alloc", 3, 400, softmax);
    capture_free(&capture, 2, 400, softmax);
    capture_event(&capture, "alloc", 4, 80, product);
    capture_event(&capture, "alloc", 5, 400, gradient);
    for (uint64_t addr = 3; addr <= 5; addr++)
        capture_free(&capture, addr, addr == 4 ? 80 : 400, ENGINE);
    make_report(0);
    return report_finding(report, FINDING_ATTENTION);
}

#define GRADIENT                                                                                   \
    CPP("at::_ops::bmm::call(x)")                                                                  \
    "," CPP("torch::autograd::generated::BmmBackward0::apply(x)") "," ENGINE

static const struct finding *attend_by(const char *product, const char *addition,
                                       const char *softmax)
{
    return attend_to(product, addition, softmax, GRADIENT);
}

/* The bias remains as the argument attn_mask, so that not even this much may be saved. */
START_TEST(attention_with_a_bias)
{
    const struct finding *finding = attend_by(PRODUCT, ADDITION, SOFTMAX);
    ck_assert_int_eq(finding->save_bytes, 400);
    ck_assert(!finding->at_least);
    ck_assert_ptr_nonnull(strstr(finding->next, "attn_mask"));
}
END_TEST

START_TEST(attention_without_a_bias)
{
    const struct finding *finding = attend_by(PRODUCT, OTHER_ACTIVATION, SOFTMAX);
    ck_assert(finding->at_least);
    ck_assert_ptr_null(strstr(finding->next, "attn_mask"));
}
END_TEST

/* Fused attention keeps a little itself, so without the gradient of a matrix less is saved. */
START_TEST(attention_beside_the_gradient_of_another_layer)
{
    const struct finding *finding = attend_to(PRODUCT, OTHER_ACTIVATION, SOFTMAX, STACK_BACKWARD);
    ck_assert_int_eq(finding->save_bytes, 400);
    ck_assert(!finding->at_least);
}
END_TEST

/* A softmax of exponentials and their sums. */
START_TEST(attention_without_the_operator_softmax)
{
    const struct finding *finding =
        attend_by(PRODUCT, CPP("at::_ops::exp::call(x)") "," IN_ATTENTION,
                  CPP("at::_ops::div_Tensor::call(x)") "," IN_ATTENTION);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 400);
}
END_TEST

START_TEST(a_quotient_is_no_softmax)
{
    ck_assert_ptr_null(attend_by(PRODUCT, OTHER_ACTIVATION,
                                 CPP("at::_ops::div_Tensor::call(x)") "," IN_ATTENTION));
}
END_TEST

START_TEST(attention_without_a_fused_kernel)
{
    const struct finding *finding =
        attend_by(UNFUSED("bmm"), UNFUSED("add_Tensor"), UNFUSED("_softmax"));
    ck_assert_int_eq(finding->save_bytes, 400);
    ck_assert_ptr_nonnull(strstr(finding->next, "multiple of 8"));
    ck_assert_ptr_nonnull(strstr(finding->next, "four dimensions"));
}
END_TEST

/* Query heads share keys and values, and the kernel repeats these. */
START_TEST(attention_of_groups_without_a_fused_kernel)
{
    capture_event(&capture, "alloc", 9, 20,
                  CPP("at::_ops::clone::call(x)") "," UNFUSED("repeat_interleave_self_int"));
    const struct finding *finding =
        attend_by(UNFUSED("bmm"), UNFUSED("add_Tensor"), UNFUSED("_softmax"));
    ck_assert_ptr_nonnull(strstr(finding->next, "enable_gqa"));
    ck_assert_ptr_null(strstr(finding->next, "multiple of 8"));
}
END_TEST

/* An evaluation after training. With `_i`, it reads the attention weights after the pass. */
START_TEST(attention_of_a_pass_that_none_uses)
{
    capture_event(&capture, "alloc", 1, 50, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 1, STACK_BACKWARD);
    capture_free(&capture, 1, 50, ENGINE);
    capture_event(&capture, "alloc", 3, 400, PRODUCT);
    capture_event(&capture, "alloc", 4, 400, SOFTMAX);
    capture_free(&capture, 3, 400, SOFTMAX);
    capture_event(&capture, "alloc", 5, 80, PRODUCT);
    if (_i == 0)
        capture_free(&capture, 4, 400, PRODUCT);
    capture_event(&capture, "alloc", 6, 7, SCRIPT);
    if (_i == 1)
        capture_free(&capture, 4, 400, SCRIPT);
    capture_free(&capture, 5, 80, SCRIPT);
    make_report(0);
    ck_assert_int_eq(attention_bytes(), _i == 0 ? 801 - 88 : 0);
}
END_TEST

#define RECOMPUTED                                                                                 \
    PY("recompute_fn", TORCH "utils/checkpoint.py", 2020)                                          \
    "," PY("unpack_hook", TORCH "utils/checkpoint.py",                                             \
           1369) "," CPP("torch::autograd::generated::AddmmBackward0::apply(x)") "," ENGINE
#define AGAIN(op)                                                                                  \
    CPP("at::_ops::" op "::call(x)")                                                               \
    "," PY("forward", "/home/u/attention.py", 4) "," CALL "," RECOMPUTED

/* In a checkpoint, the backward pass computes the matrices. */
START_TEST(attention_that_is_recomputed)
{
    capture_event(&capture, "alloc", 1, 50, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 1, STACK_BACKWARD);
    capture_event(&capture, "alloc", 3, 400, AGAIN("bmm"));
    capture_event(&capture, "alloc", 4, 400, AGAIN("_softmax"));
    capture_free(&capture, 3, 400, AGAIN("_softmax"));
    capture_event(&capture, "alloc", 5, 80, AGAIN("bmm"));
    capture_event(&capture, "alloc", 6, 400,
                  CPP("at::_ops::_softmax_backward_data::call(x)") "," CPP(
                      "torch::autograd::generated::SoftmaxBackward0::apply(x)") "," ENGINE);
    capture_free(&capture, 5, 80, ENGINE);
    capture_free(&capture, 4, 400, ENGINE);
    capture_free(&capture, 1, 50, ENGINE);
    capture_free(&capture, 6, 400, ENGINE);
    make_report(0);
    ck_assert_int_eq(attention_bytes(), 400);
}
END_TEST

/* Without the matrices, the peak of 1,931 would be that of the step: 1,501. */
START_TEST(attention_that_is_not_all_of_the_peak)
{
    attend();
    capture_event(&capture, "alloc", 9, 1500, STACK_STEP);
    make_report(0);
    ck_assert_int_eq(attention_bytes(), 430);
}
END_TEST

#define IN_MULTIHEAD                                                                               \
    PY("multi_head_attention_forward", TORCH "nn/functional.py", 6489) "," CALL "," SCRIPT

START_TEST(attention_with_weights)
{
    capture_event(&capture, "alloc", 1, 400, CPP("at::_ops::bmm::call(x)") "," IN_MULTIHEAD);
    capture_event(&capture, "alloc", 2, 400, CPP("at::_ops::_softmax::call(x)") "," IN_MULTIHEAD);
    capture_event(&capture, "alloc", 3, 80, CPP("at::_ops::bmm::call(x)") "," IN_MULTIHEAD);
    capture_event(&capture, "alloc", 4, 1, STACK_BACKWARD);
    capture_free(&capture, 1, 400, ENGINE);
    capture_free(&capture, 2, 400, ENGINE);
    capture_free(&capture, 3, 80, ENGINE);
    make_report(0);
    ck_assert_int_eq(attention_bytes(), 800);
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i].kind == FINDING_ATTENTION)
            ck_assert_ptr_nonnull(strstr(report->findings.items[i].next, "need_weights=False"));
}
END_TEST

TCase *findings_attention_tests(void)
{
    TCase *tests = tcase_create("findings on attention");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, attention_by_hand);
    tcase_add_test(tests, attention_with_a_bias);
    tcase_add_test(tests, attention_without_a_bias);
    tcase_add_test(tests, attention_beside_the_gradient_of_another_layer);
    tcase_add_test(tests, attention_without_the_operator_softmax);
    tcase_add_test(tests, a_quotient_is_no_softmax);
    tcase_add_test(tests, attention_without_a_fused_kernel);
    tcase_add_test(tests, attention_of_groups_without_a_fused_kernel);
    tcase_add_loop_test(tests, attention_of_a_pass_that_none_uses, 0, 2);
    tcase_add_test(tests, attention_that_is_recomputed);
    tcase_add_test(tests, attention_that_is_not_all_of_the_peak);
    tcase_add_test(tests, attention_with_weights);
    return tests;
}
