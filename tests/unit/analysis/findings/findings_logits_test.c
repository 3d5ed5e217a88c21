/* Findings on logits, and what a loss makes of them. */
#include "analysis/findings/findings.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define FORWARD(op, line)                                                                          \
    CPP("at::_ops::" op "::call(x)") "," PY("forward", "/home/u/model.py", line) "," CALL "," SCRIPT
#define LOSS(op) CPP("at::_ops::" op "::call(x)") "," PY("loss", "/home/u/loss.py", 4) "," SCRIPT
#define BACKWARD(op, node)                                                                         \
    CPP("at::_ops::" op "::call(x)")                                                               \
    "," CPP("torch::autograd::generated::" node "::apply(x)") "," ENGINE

#define LOGITS 1000

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

/* The layer's result, its softmax, and what is computed of that. */
static void train(const char *layer, const char *between, uint64_t last)
{
    uint64_t logits = born(LOGITS, layer);
    uint64_t softmax = born(LOGITS, LOSS("_softmax"));
    uint64_t result = born(last, between), loss = born(8, LOSS("mean"));
    uint64_t derived = born(last, BACKWARD("div", "LogBackward0"));
    uint64_t gradient = born(LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, logits, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, softmax, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, result, last, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, derived, last, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, loss, 8, SCRIPT);
    capture_free(&capture, gradient, LOGITS, STACK_STEP);
}

static int64_t saving(void)
{
    return capture_saving(&capture, FINDING_LOGITS);
}

/* The gradient of the layer's weight is as large, but stays. */
START_TEST(a_softmax_in_the_loss)
{
    train(FORWARD("mm", 3), LOSS("log"), LOGITS);
    ck_assert_int_eq(saving(), 4 * LOGITS);
}
END_TEST

/* Such as the logits of pixels, upsampled. */
START_TEST(logits_that_are_upsampled)
{
    train(FORWARD("upsample_bilinear2d", 3), LOSS("log"), LOGITS);
    ck_assert_int_eq(saving(), 4 * LOGITS);
}
END_TEST

START_TEST(what_follows_may_be_of_another_size)
{
    train(FORWARD("mm", 3), LOSS("sum"), 100);
    ck_assert_int_eq(saving(), 2 * LOGITS);
}
END_TEST

#define COMPILED(op)                                                                               \
    CPP("at::_ops::" op "::call(x)")                                                               \
    "," PY("__call__", TORCH "_ops.py", 9) "," PY("forward", "<eval_with_key>.5", 9) "," PY(       \
        "backward", TORCH "_functorch/_aot_autograd/runtime_wrappers.py", 9) "," ENGINE

/* A compiled backward pass has no nodes. The gradient of the layer's weight is as large. */
START_TEST(logits_of_a_compiled_backward_pass)
{
    uint64_t logits = born(LOGITS, FORWARD("mm", 3));
    uint64_t softmax = born(LOGITS, FORWARD("_log_softmax", 3));
    uint64_t loss = born(8, FORWARD("nll_loss_forward", 3));
    uint64_t derived = born(LOGITS, COMPILED("nll_loss_backward"));
    uint64_t gradient = born(LOGITS, COMPILED("_log_softmax_backward_data"));
    born(LOGITS, COMPILED("mm"));
    born(LOGITS, COMPILED("mul_Tensor"));
    capture_free(&capture, logits, LOGITS, COMPILED("mm"));
    capture_free(&capture, softmax, LOGITS, COMPILED("mm"));
    capture_free(&capture, derived, LOGITS, COMPILED("mm"));
    capture_free(&capture, gradient, LOGITS, COMPILED("mm"));
    capture_free(&capture, loss, 8, SCRIPT);
    ck_assert_int_eq(saving(), 4 * LOGITS);
    struct device_report *report = capture_report(&capture, 0);
    const struct finding *finding = report_finding(report, FINDING_LOGITS);
    ck_assert_ptr_nonnull(strstr(finding->what, "the largest part at model.py:3 forward"));
    device_report_destroy(report);
}
END_TEST

/* Other heads of the model run before the loss. What is as large in between is not of the logits. A
 * layer whose result is gone made no logits. */
static void train_with_heads(bool is_freed)
{
    uint64_t made[40], between = 0, softmax, loss, derived;
    uint64_t logits = born(LOGITS, FORWARD("upsample_bilinear2d", 3));
    for (unsigned i = 0; i < 40; i++) {
        made[i] = born(100, i % 8 == 0 ? FORWARD("convolution", 4) : FORWARD("relu", 4));
        if (i == 20)
            between = born(LOGITS, FORWARD("relu", 4));
    }
    if (is_freed)
        capture_free(&capture, logits, LOGITS, FORWARD("relu", 4));
    softmax = born(LOGITS, LOSS("_log_softmax"));
    loss = born(8, LOSS("nll_loss2d_forward"));
    derived = born(LOGITS, BACKWARD("nll_loss2d_backward", "NllLoss2DBackward0"));
    for (unsigned i = 0; i < 40; i++)
        capture_free(&capture, made[i], 100, BACKWARD("mm", "MmBackward0"));
    if (!is_freed)
        capture_free(&capture, logits, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, between, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, softmax, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, derived, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, loss, 8, SCRIPT);
}

START_TEST(logits_before_other_heads)
{
    train_with_heads(_i == 1);
    ck_assert_int_eq(saving(), _i == 0 ? 3 * LOGITS : -1);
}
END_TEST

/* The loss reads a part of them: the answer that follows a prompt. */
START_TEST(logits_after_a_prompt)
{
    uint64_t logits = born(3 * LOGITS, FORWARD("mm", 3));
    uint64_t cast = born(LOGITS, LOSS("_to_copy"));
    uint64_t softmax = born(LOGITS, LOSS("_log_softmax"));
    uint64_t loss = born(8, LOSS("nll_loss_forward"));
    born(LOGITS, BACKWARD("nll_loss_backward", "NllLossBackward0"));
    capture_free(&capture, logits, 3 * LOGITS, SCRIPT);
    capture_free(&capture, cast, LOGITS, SCRIPT);
    capture_free(&capture, softmax, LOGITS, SCRIPT);
    capture_free(&capture, loss, 8, SCRIPT);
    ck_assert_int_eq(saving(), 6 * LOGITS);
}
END_TEST

/* Passes of an evaluation, whose logits a list collects: a loss over a part of them frees none. */
START_TEST(logits_that_are_collected)
{
    uint64_t made[20];
    train(FORWARD("mm", 3), LOSS("log"), LOGITS);
    for (unsigned pass = 0; pass < 8; pass++) {
        for (unsigned i = 0; i < 20; i++)
            made[i] = born(i == 19 ? LOGITS : 600, FORWARD("mm", 3));
        for (unsigned i = 0; i < 19; i++)
            capture_free(&capture, made[i], 600, FORWARD("mm", 3));
        uint64_t softmax = born(LOGITS, LOSS("_log_softmax"));
        capture_free(&capture, softmax, LOGITS, SCRIPT);
        born(600, SCRIPT); /* the next batch */
    }
    ck_assert_int_ge(capture_saving(&capture, FINDING_PASS_RESULTS), 7 * LOGITS);
    ck_assert_int_le(saving(), 3 * LOGITS);
}
END_TEST

/* A pass in training that moves to the host what autograd saves frees all but its logits, too. */
START_TEST(logits_of_a_pass_that_is_offloaded)
{
    for (unsigned i = 0; i < 20; i++)
        capture_free(&capture, born(600, FORWARD("mm", 3)), 600, FORWARD("mm", 3));
    uint64_t logits = born(LOGITS, FORWARD("mm", 3));
    uint64_t softmax = born(LOGITS, LOSS("_log_softmax"));
    uint64_t gradient = born(LOGITS, BACKWARD("nll_loss_backward", "NllLossBackward0"));
    capture_free(&capture, softmax, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, gradient, LOGITS, BACKWARD("mm", "MmBackward0"));
    born(8, STACK_STEP);
    capture_free(&capture, logits, LOGITS, SCRIPT);
    ck_assert_int_eq(saving(), 3 * LOGITS);
}
END_TEST

/* Checkpoints of layers free only what the layers keep. */
START_TEST(activations_without_the_logits)
{
    uint64_t saved = born(LOGITS, FORWARD("relu", 2));
    train(FORWARD("mm", 3), LOSS("log"), LOGITS);
    capture_free(&capture, saved, LOGITS, BACKWARD("mm", "MmBackward0"));
    ck_assert_int_eq(capture_saving(&capture, FINDING_ACTIVATIONS), LOGITS);
}
END_TEST

/* The head computes a fourth of the tokens at a time. */
START_TEST(logits_that_are_joined)
{
    uint64_t parts[4];
    for (size_t i = 0; i < 4; i++)
        parts[i] = born(LOGITS / 4, FORWARD("mm", 3));
    uint64_t joined = born(LOGITS, LOSS("cat")), softmax = born(LOGITS, LOSS("_log_softmax"));
    uint64_t derived = born(LOGITS, BACKWARD("nll_loss_backward", "NllLossBackward0"));
    for (size_t i = 0; i < 4; i++)
        capture_free(&capture, parts[i], LOGITS / 4, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, joined, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, softmax, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, derived, LOGITS, BACKWARD("mm", "MmBackward0"));
    ck_assert_int_eq(saving(), 4 * LOGITS);
}
END_TEST

/* The loss is computed for a part of the tokens at a time, in a wider type. */
START_TEST(logits_whose_parts_have_losses)
{
    uint64_t logits = born(4 * LOGITS, FORWARD("mm", 3)), copies[8], softmaxes[8];
    for (size_t i = 0; i < 8; i++) {
        copies[i] = born(LOGITS, LOSS("_to_copy"));
        softmaxes[i] = born(LOGITS, LOSS("_log_softmax"));
        capture_free(&capture, born(8, LOSS("nll_loss_forward")), 8, LOSS("nll_loss_forward"));
    }
    uint64_t derived = born(LOGITS, BACKWARD("nll_loss_backward", "NllLossBackward0"));
    for (size_t i = 0; i < 8; i++) {
        capture_free(&capture, copies[i], LOGITS, BACKWARD("mm", "MmBackward0"));
        capture_free(&capture, softmaxes[i], LOGITS, BACKWARD("mm", "MmBackward0"));
    }
    capture_free(&capture, logits, 4 * LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, derived, LOGITS, BACKWARD("mm", "MmBackward0"));
    ck_assert_int_eq(saving(), (4 + 8 + 8 + 1) * LOGITS);
}
END_TEST

/* Of a hidden layer, all tokens are mixed before the classifier. */
START_TEST(a_hidden_layer_is_no_logits)
{
    uint64_t hidden = born(40 * LOGITS, FORWARD("mm", 3));
    uint64_t softmax = born(LOGITS, LOSS("_log_softmax"));
    born(LOGITS, BACKWARD("nll_loss_backward", "NllLossBackward0"));
    capture_free(&capture, hidden, 40 * LOGITS, SCRIPT);
    capture_free(&capture, softmax, LOGITS, SCRIPT);
    ck_assert_int_eq(saving(), -1);
}
END_TEST

START_TEST(the_softmax_of_attention)
{
    train(FORWARD("bmm", 3), FORWARD("bmm", 4), LOGITS);
    ck_assert_int_eq(saving(), -1);
}
END_TEST

START_TEST(a_softmax_of_no_layer)
{
    train(FORWARD("cat", 3), LOSS("log"), LOGITS);
    ck_assert_int_eq(saving(), -1);
}
END_TEST

/* Without a backward pass, nothing tells which softmax is that of a loss. */
START_TEST(a_pass_that_does_not_train)
{
    born(LOGITS, FORWARD("mm", 3));
    born(LOGITS, LOSS("_softmax"));
    ck_assert_int_eq(saving(), -1);
}
END_TEST

/* A penalty on a weight that is as large as the logits follows the loss. */
START_TEST(a_penalty_on_weights_is_no_loss_over_logits)
{
    uint64_t logits = born(LOGITS, FORWARD("mm", 3));
    uint64_t softmax = born(LOGITS, LOSS("_log_softmax"));
    uint64_t loss = born(8, LOSS("nll_loss_forward")), penalty = born(LOGITS, LOSS("sub"));
    uint64_t power = born(LOGITS, BACKWARD("mul", "PowBackward0"));
    uint64_t derived = born(LOGITS, BACKWARD("nll_loss_backward", "NllLossBackward0"));
    capture_free(&capture, logits, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, softmax, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, penalty, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, power, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, derived, LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, loss, 8, SCRIPT);
    ck_assert_int_eq(saving(), 3 * LOGITS);
}
END_TEST

/* Two losses over the same logits: one reads a part of them, as where a student learns from a
 * teacher at some positions. */
START_TEST(a_loss_over_a_part_beside_one_over_all)
{
    uint64_t logits = born(LOGITS, FORWARD("mm", 3));
    uint64_t softmax = born(LOGITS, LOSS("_log_softmax"));
    uint64_t part = born(LOGITS / 5, LOSS("_log_softmax"));
    uint64_t loss = born(8, LOSS("nll_loss_forward"));
    uint64_t of_part = born(LOGITS / 5, BACKWARD("_log_softmax", "LogSoftmaxBackward0"));
    uint64_t derived = born(LOGITS, BACKWARD("nll_loss_backward", "NllLossBackward0"));
    uint64_t gradient = born(LOGITS, BACKWARD("_log_softmax", "LogSoftmaxBackward0"));
    const uint64_t whole[] = {logits, softmax, derived, gradient};
    for (unsigned i = 0; i < 4; i++)
        capture_free(&capture, whole[i], LOGITS, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, part, LOGITS / 5, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, of_part, LOGITS / 5, BACKWARD("mm", "MmBackward0"));
    capture_free(&capture, loss, 8, SCRIPT);
    ck_assert_int_eq(saving(), 4 * LOGITS + 2 * LOGITS / 5);
}
END_TEST

TCase *findings_logits_tests(void)
{
    TCase *tests = tcase_create("findings of logits");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_softmax_in_the_loss);
    tcase_add_test(tests, logits_that_are_upsampled);
    tcase_add_test(tests, what_follows_may_be_of_another_size);
    tcase_add_test(tests, logits_of_a_compiled_backward_pass);
    tcase_add_test(tests, logits_after_a_prompt);
    tcase_add_test(tests, a_loss_over_a_part_beside_one_over_all);
    tcase_add_loop_test(tests, logits_before_other_heads, 0, 2);
    tcase_add_test(tests, logits_that_are_collected);
    tcase_add_test(tests, logits_of_a_pass_that_is_offloaded);
    tcase_add_test(tests, activations_without_the_logits);
    tcase_add_test(tests, logits_that_are_joined);
    tcase_add_test(tests, logits_whose_parts_have_losses);
    tcase_add_test(tests, a_hidden_layer_is_no_logits);
    tcase_add_test(tests, the_softmax_of_attention);
    tcase_add_test(tests, a_softmax_of_no_layer);
    tcase_add_test(tests, a_pass_that_does_not_train);
    tcase_add_test(tests, a_penalty_on_weights_is_no_loss_over_logits);
    return tests;
}
