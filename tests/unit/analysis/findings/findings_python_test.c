/* Findings on logits, attention and elementwise operators where only Python frames were recorded.
 * The backward pass then has none. */
#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define MODEL(line)    PY("forward", "/home/u/model.py", line) "," CALL "," SCRIPT
#define FUNCTION(name) PY(name, TORCH "nn/functional.py", 3561) "," SCRIPT
#define HEAD           PY("forward", TORCH "nn/modules/linear.py", 134) "," MODEL(8)
#define TIED           MODEL(9)
#define CROSS_ENTROPY  FUNCTION("cross_entropy")
#define UNSEEN         ""

#define LOGITS 8000
#define HIDDEN 2000

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

static void gone(uint64_t addr, uint64_t size, const char *frames)
{
    capture_free(&capture, addr, size, frames);
}

static int64_t saving(void)
{
    return capture_saving(&capture, FINDING_LOGITS);
}

/* A layer and its logits, log_softmax and the loss, and two gradients of the logits. The gradient
 * of what the head read, and one as large as the logits after it, are not of the loss. */
static void train(const char *head, const char *loss, uint64_t classes)
{
    uint64_t hidden = born(HIDDEN, MODEL(7)), logits = born(LOGITS, head);
    uint64_t softmax = born(LOGITS, loss), result = born(LOGITS / classes, loss);
    uint64_t first = born(LOGITS, UNSEEN), second = born(LOGITS, UNSEEN);
    gone(first, LOGITS, UNSEEN);
    gone(softmax, LOGITS, UNSEEN);
    gone(logits, LOGITS, UNSEEN);
    born(HIDDEN, UNSEEN);
    uint64_t weight = born(LOGITS, UNSEEN);
    gone(second, LOGITS, UNSEEN);
    gone(hidden, HIDDEN, UNSEEN);
    gone(result, LOGITS / classes, SCRIPT);
    gone(weight, LOGITS, SCRIPT);
}

START_TEST(logits_of_a_loss)
{
    static const char *const heads[] = {HEAD, TIED};
    static const char *const losses[] = {CROSS_ENTROPY, FUNCTION("log_softmax")};
    train(heads[_i % 2], losses[_i / 2], 1000);
    ck_assert_int_eq(saving(), 4 * LOGITS);
}
END_TEST

/* With reduction="none", the loss has a number for each position. */
START_TEST(a_loss_for_each_position)
{
    train(HEAD, CROSS_ENTROPY, 20);
    ck_assert_int_eq(saving(), 4 * LOGITS);
}
END_TEST

/* A workspace of the product, which may be as large as the logits, is gone before the loss. */
START_TEST(logits_after_a_workspace)
{
    static const char *const heads[] = {HEAD, TIED};
    uint64_t size = _i < 2 ? LOGITS : 4 * LOGITS;
    uint64_t logits = born(LOGITS, heads[_i % 2]), workspace = born(size, heads[_i % 2]);
    gone(workspace, size, heads[_i % 2]);
    born(LOGITS, CROSS_ENTROPY);
    born(4 * LOGITS, UNSEEN);
    gone(logits, LOGITS, UNSEEN);
    ck_assert_int_eq(saving(), 2 * LOGITS);
}
END_TEST

/* A loss by hand over as many numbers, and a softmax whose result a product reads. */
START_TEST(no_logits)
{
    static const char *const losses[] = {SCRIPT, FUNCTION("mse_loss"), FUNCTION("softmax")};
    uint64_t result = born(LOGITS, HEAD), loss = born(LOGITS, losses[_i]);
    uint64_t next = born(LOGITS, HEAD), gradient = born(LOGITS, UNSEEN);
    gone(result, LOGITS, UNSEEN);
    gone(loss, LOGITS, UNSEEN);
    gone(next, LOGITS, UNSEEN);
    gone(gradient, LOGITS, UNSEEN);
    ck_assert_int_eq(saving(), -1);
}
END_TEST

/* The first of a layer, so far wider than the others that it can only be the head. */
START_TEST(a_request_for_a_copy_of_logits)
{
    for (unsigned i = 0; i < 10; i++)
        born(HIDDEN / 10, PY("forward", TORCH "nn/modules/linear.py",
                             134) "," PY("forward", "/home/u/layer.py", 3) "," CALL "," MODEL(2));
    born(LOGITS, HEAD);
    capture_event(&capture, "oom", 0, 2 * LOGITS, MODEL(9));
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    ck_assert_uint_eq(report->ooms.count, 1);
    ck_assert(report->ooms.items[0].of_logits);
    device_report_destroy(report);
}
END_TEST

/* A copy of the logits is asked for by a line that made one before; this batch is longer. */
START_TEST(a_request_for_a_longer_copy)
{
    uint64_t logits = born(LOGITS, HEAD), copy = born(LOGITS, MODEL(9));
    uint64_t softmax = born(LOGITS, CROSS_ENTROPY);
    gone(logits, LOGITS, SCRIPT);
    uint64_t gradient = born(LOGITS, UNSEEN);
    gone(copy, LOGITS, UNSEEN);
    gone(softmax, LOGITS, UNSEEN);
    gone(gradient, LOGITS, SCRIPT);
    born(10 * LOGITS, HEAD);
    capture_event(&capture, "oom", 0, 10 * LOGITS, MODEL(9));
    ck_assert_int_eq(saving(), 10 * LOGITS);
}
END_TEST

#define ATTENTION(name, file) PY(name, "/home/u/" file, 4) "," CALL "," SCRIPT
#define MATRIX                6400

/* Scores, which are divided and added to, softmax, dropout, and the product with the values. */
static int64_t attend(const char *caller, const char *softmax, const char *dropout)
{
    uint64_t scores = born(MATRIX, caller), scaled = born(MATRIX, caller);
    gone(scores, MATRIX, caller);
    uint64_t weights = born(MATRIX, softmax);
    gone(scaled, MATRIX, caller);
    uint64_t mask = born(MATRIX / 4, dropout), dropped = born(MATRIX, dropout);
    uint64_t values = born(1000, caller), other = born(MATRIX, caller), end = born(8, UNSEEN);
    gone(weights, MATRIX, UNSEEN);
    gone(mask, MATRIX / 4, UNSEEN);
    gone(dropped, MATRIX, UNSEEN);
    gone(values, 1000, UNSEEN);
    gone(other, MATRIX, UNSEEN);
    gone(end, 8, UNSEEN);
    return capture_saving(&capture, FINDING_ATTENTION);
}

#define TORCH_OF(name, caller) PY(name, TORCH "nn/functional.py", 2213) "," caller

START_TEST(attention_by_its_name)
{
    static const char *const callers[][3] = {
#define CALLS_OF(caller) {caller, TORCH_OF("softmax", caller), TORCH_OF("dropout", caller)}
        CALLS_OF(ATTENTION("eager_attention_forward", "modeling_x.py")),
        CALLS_OF(ATTENTION("_attn", "gpt.py")),
        CALLS_OF(ATTENTION("forward", "attention.py")),
        CALLS_OF(ATTENTION("route", "experts.py")),
    };
    int64_t bytes = attend(callers[_i][0], callers[_i][1], callers[_i][2]);
    ck_assert_int_eq(bytes, _i < 3 ? 2 * MATRIX + MATRIX / 4 : -1);
}
END_TEST

#define LINEAR PY("forward", TORCH "nn/modules/linear.py", 134) "," MODEL(7)

/* Layers whose results a function reads. It keeps four results of one line for the backward pass,
 * of which a fused operator would keep the last. */
START_TEST(elementwise_by_its_name)
{
    static const char *const functions[] = {
        ATTENTION("forward", "activations.py"), ATTENTION("gelu", "blocks.py"),
        ATTENTION("rms_norm", "blocks.py"), ATTENTION("forward", "experts.py")};
    uint64_t kept[3][5];
    for (size_t layer = 0; layer < 3; layer++) {
        kept[layer][0] = born(MATRIX, LINEAR);
        for (size_t i = 1; i < 5; i++)
            kept[layer][i] = born(MATRIX, functions[_i]);
    }
    uint64_t end = born(MATRIX, LINEAR), first = born(8, UNSEEN);
    gone(first, 8, UNSEEN);
    gone(end, MATRIX, UNSEEN);
    for (size_t i = 0; i < 15; i++)
        gone(kept[i / 5][i % 5], MATRIX, UNSEEN);
    ck_assert_int_eq(capture_saving(&capture, FINDING_ELEMENTWISE), _i < 3 ? 3 * 3 * MATRIX : -1);
}
END_TEST

TCase *findings_python_tests(void)
{
    TCase *tests = tcase_create("findings without C++ frames");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, logits_of_a_loss, 0, 4);
    tcase_add_test(tests, a_loss_for_each_position);
    tcase_add_loop_test(tests, logits_after_a_workspace, 0, 4);
    tcase_add_loop_test(tests, no_logits, 0, 3);
    tcase_add_test(tests, a_request_for_a_copy_of_logits);
    tcase_add_test(tests, a_request_for_a_longer_copy);
    tcase_add_loop_test(tests, attention_by_its_name, 0, 4);
    tcase_add_loop_test(tests, elementwise_by_its_name, 0, 4);
    return tests;
}
