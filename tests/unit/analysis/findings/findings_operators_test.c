/* What a report says of logits and conversions, which it knows by their operators. */
#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/one_report.h"

#define IN_LAYER PY("forward", "/home/u/attention.py", 4) "," CALL "," SCRIPT

#define LAST_LAYER  CPP("at::_ops::addmm::call(x)") "," SCRIPT
#define LAST_KERNEL CPP("at::_ops::conv2d::call(x)") "," SCRIPT
#define COPY        CPP("at::_ops::_to_copy::call(x)") "," SCRIPT
#define LOG_SOFTMAX CPP("at::_ops::_log_softmax::call(x)") "," SCRIPT
#define OF_LOSS                                                                                    \
    CPP("at::_ops::zeros_like::call(x)")                                                           \
    "," CPP("torch::autograd::generated::NllLossBackward0::apply(x)") "," ENGINE

/* A step whose last layer makes 400 bytes of logits in half precision. */
static const struct finding *logits_made_by(const char *last_layer)
{
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 400, last_layer);
    capture_event(&capture, "alloc", 3, 800, COPY);
    capture_event(&capture, "alloc", 4, 8, SCRIPT);
    capture_event(&capture, "alloc", 5, 800, LOG_SOFTMAX);
    capture_event(&capture, "alloc", 6, 800, OF_LOSS);
    capture_event(&capture, "alloc", 7, 800, STACK_BACKWARD); /* of another layer */
    for (uint64_t addr = 1; addr < 8; addr++)
        capture_free(&capture, addr,
                     addr == 1   ? 100
                     : addr == 2 ? 400
                     : addr == 4 ? 8
                                 : 800,
                     ENGINE);
    make_report(0);
    return report_finding(report, FINDING_LOGITS);
}

START_TEST(logits_of_a_language_model)
{
    const struct finding *finding = logits_made_by(LAST_LAYER);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 400 + 800 + 800 + 800);
    ck_assert_ptr_null(report_finding(report, FINDING_CASTS)); /* the copy is part of the logits */
}
END_TEST

START_TEST(logits_of_no_linear_layer)
{
    ck_assert_ptr_null(logits_made_by(LAST_KERNEL));
    ck_assert_ptr_nonnull(report_finding(report, FINDING_CASTS));
}
END_TEST

/* The loss of the next word leaves out the last of 16 positions. */
START_TEST(logits_without_the_last_position)
{
    capture_event(&capture, "alloc", 1, 800, LAST_LAYER);
    capture_event(&capture, "alloc", 2, 750, LOG_SOFTMAX);
    capture_event(&capture, "alloc", 3, 8, OF_LOSS);
    capture_free(&capture, 2, 750, ENGINE);
    capture_free(&capture, 1, 800, ENGINE);
    make_report(0);
    const struct finding *finding = report_finding(report, FINDING_LOGITS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 800 + 750);
}
END_TEST

#define CONVERSION CPP("at::_ops::_to_copy::call(x)") "," IN_LAYER
#define MOVE                                                                                       \
    CPP("at::_ops::_to_copy::call(x)")                                                             \
    "," CPP("at::_ops::to_dtype_layout::call(x)") "," IN_LAYER

/* A conversion of 800 bytes to 400, which are kept for backward. `freed_by` is the stack that frees
 * the source in the backward pass; NULL: plain code frees it in the forward pass. */
static const struct finding *cast_of_source(const char *frames, const char *freed_by)
{
    capture_event(&capture, "alloc", 1, 800, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 400, frames);
    if (!freed_by)
        capture_free(&capture, 1, 800, SCRIPT);
    capture_event(&capture, "alloc", 3, 300, STACK_FORWARD);
    capture_event(&capture, "alloc", 4, 1, STACK_BACKWARD);
    capture_free(&capture, 3, 300, ENGINE);
    capture_free(&capture, 2, 400, ENGINE);
    if (freed_by)
        capture_free(&capture, 1, 800, freed_by);
    make_report(0);
    return report_finding(report, FINDING_CASTS);
}

START_TEST(a_conversion_of_what_is_kept_costs_memory)
{
    const struct finding *finding = cast_of_source(CONVERSION, ENGINE);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 400);
}
END_TEST

START_TEST(a_conversion_may_save_memory)
{
    ck_assert_ptr_null(cast_of_source(CONVERSION, NULL));
}
END_TEST

#define AUTOCAST                                                                                   \
    CPP("at::_ops::_to_copy::call(x)")                                                             \
    "," CPP("at::_ops::to_dtype::call(x)") "," CPP("at::autocast::cached_cast(x)") "," CPP(        \
        "at::_ops::pow_Tensor_Scalar::call(x)") "," IN_LAYER

/* square() of 200 bytes reads a copy in float32, of 400. Before that, a kernel had scratch space of
 * twice the size of the copy, which is no source of it. */
START_TEST(a_copy_that_autocast_makes_wider)
{
    capture_event(&capture, "alloc", 1, 200, STACK_FORWARD);
    capture_event(&capture, "alloc", 4, 800, STACK_FORWARD);
    capture_free(&capture, 4, 800, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 400, _i == 0 ? AUTOCAST : CONVERSION);
    capture_event(&capture, "alloc", 3, 900, STACK_FORWARD);
    capture_event(&capture, "alloc", 5, 1, STACK_BACKWARD);
    capture_free(&capture, 3, 900, ENGINE);
    capture_free(&capture, 2, 400, ENGINE);
    capture_free(&capture, 1, 200, ENGINE);
    make_report(0);
    const struct finding *finding = report_finding(report, FINDING_CASTS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 400);
    ck_assert_int_eq(strstr(finding->next, "enabled=False") != NULL, _i == 0);
}
END_TEST

/* What the copy is made from is freed in the forward pass. Without the copy, the graph keeps it. */
START_TEST(a_wider_copy_in_exchange_for_its_source)
{
    capture_event(&capture, "alloc", 1, 200, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 400, AUTOCAST);
    capture_event(&capture, "alloc", 3, 900, STACK_FORWARD);
    capture_free(&capture, 1, 200, SCRIPT);
    capture_event(&capture, "alloc", 4, 300, STACK_FORWARD);
    capture_event(&capture, "alloc", 5, 1, STACK_BACKWARD);
    capture_free(&capture, 4, 300, ENGINE);
    capture_free(&capture, 3, 900, ENGINE);
    capture_free(&capture, 2, 400, ENGINE);
    make_report(0);
    const struct finding *finding = report_finding(report, FINDING_CASTS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 400 - 200);
}
END_TEST

/* Two layers read a tensor, of which autocast makes a copy for each; or one operator reads two
 * tensors, which are converted one right after the other. */
START_TEST(a_tensor_that_autocast_converts_twice)
{
    capture_event(&capture, "alloc", 1, 800, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 400, AUTOCAST);
    if (_i == 0)
        capture_event(&capture, "alloc", 3, 400, STACK_FORWARD);
    capture_event(&capture, "alloc", 4, 400, AUTOCAST);
    capture_event(&capture, "alloc", 5, 450, STACK_FORWARD);
    capture_free(&capture, 1, 800, SCRIPT);
    capture_event(&capture, "alloc", 6, 850, STACK_FORWARD);
    capture_event(&capture, "alloc", 7, 1, STACK_BACKWARD);
    capture_free(&capture, 6, 850, ENGINE);
    capture_free(&capture, 5, 450, ENGINE);
    capture_free(&capture, 4, 400, ENGINE);
    if (_i == 0)
        capture_free(&capture, 3, 400, ENGINE);
    capture_free(&capture, 2, 400, ENGINE);
    make_report(0);
    const struct finding *finding = report_finding(report, FINDING_CASTS);
    ck_assert_int_eq(finding ? finding->save_bytes : -1, _i == 0 ? 400 : -1);
    if (finding)
        ck_assert_ptr_nonnull(strstr(finding->next, "that several layers read once"));
}
END_TEST

/* Queries and keys, each of which autocast makes wider for a norm, one after the other. */
START_TEST(copies_of_several_tensors_that_autocast_makes_wider)
{
    for (uint64_t i = 1; i <= 2; i++)
        capture_event(&capture, "alloc", i, 200, STACK_FORWARD);
    for (uint64_t i = 0; i < 2; i++) {
        capture_event(&capture, "alloc", 3 + 2 * i, 400, AUTOCAST);
        capture_event(&capture, "alloc", 4 + 2 * i, 400, STACK_FORWARD);
    }
    for (uint64_t i = 1; i <= 2; i++)
        capture_free(&capture, i, 200, SCRIPT);
    capture_event(&capture, "alloc", 7, 500, STACK_FORWARD);
    capture_event(&capture, "alloc", 8, 1, STACK_BACKWARD);
    capture_free(&capture, 7, 500, ENGINE);
    for (uint64_t i = 3; i <= 6; i++)
        capture_free(&capture, i, 400, ENGINE);
    make_report(0);
    const struct finding *finding = report_finding(report, FINDING_CASTS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 2 * (400 - 200));
    ck_assert_ptr_nonnull(strstr(finding->next, "enabled=False"));
    ck_assert_ptr_null(strstr(finding->next, "several layers"));
}
END_TEST

START_TEST(a_tensor_that_may_come_from_another_device_is_no_conversion)
{
    ck_assert_ptr_null(cast_of_source(MOVE, ENGINE));
}
END_TEST

/* They are older than the trace, which does not tell what they were made from. */
START_TEST(copies_that_are_older_than_the_trace)
{
    for (uint64_t i = 0; i < 20; i++)
        capture_block(&capture, 1024 * (1 + i), 400, AUTOCAST);
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 1, STACK_BACKWARD);
    make_report(0);
    ck_assert_int_eq(report->peak.active_bytes, 20 * 400 + 101);
}
END_TEST

TCase *findings_operators_tests(void)
{
    TCase *tests = tcase_create("findings_operators");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, logits_of_a_language_model);
    tcase_add_test(tests, logits_of_no_linear_layer);
    tcase_add_test(tests, logits_without_the_last_position);
    tcase_add_test(tests, a_conversion_of_what_is_kept_costs_memory);
    tcase_add_test(tests, a_conversion_may_save_memory);
    tcase_add_loop_test(tests, a_copy_that_autocast_makes_wider, 0, 2);
    tcase_add_test(tests, a_wider_copy_in_exchange_for_its_source);
    tcase_add_loop_test(tests, a_tensor_that_autocast_converts_twice, 0, 2);
    tcase_add_test(tests, copies_of_several_tensors_that_autocast_makes_wider);
    tcase_add_test(tests, copies_that_are_older_than_the_trace);
    tcase_add_test(tests, a_tensor_that_may_come_from_another_device_is_no_conversion);
    return tests;
}
