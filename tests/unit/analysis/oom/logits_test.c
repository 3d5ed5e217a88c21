/* Requests for logits, and for what a loss computes from them, that fail. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define FORWARD(op, line)                                                                          \
    CPP("at::_ops::" op "::call(x)") "," PY("forward", "/home/u/model.py", line) "," CALL "," SCRIPT
#define LAYER(op, line)                                                                            \
    CPP("at::_ops::" op "::call(x)")                                                               \
    "," PY("forward", "/home/u/layer.py", line) "," CALL "," PY("forward", "/home/u/model.py",     \
                                                                1) "," CALL "," SCRIPT
#define LOSS(op) CPP("at::_ops::" op "::call(x)") "," PY("loss", "/home/u/loss.py", 4) "," SCRIPT
#define BACKWARD(op, node)                                                                         \
    CPP("at::_ops::" op "::call(x)")                                                               \
    "," CPP("torch::autograd::generated::" node "::apply(x)") "," ENGINE

#define HIDDEN 1024
#define LOGITS (16 * HIDDEN)
#define LAYERS 10

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

/* Layers of different lines whose results a backward pass needs. */
static void layers(unsigned count)
{
    static const char *const lines[] = {LAYER("mm", 3), LAYER("addmm", 4), LAYER("mm", 5)};
    static const char *const others[] = {LAYER("gelu", 6), LAYER("add", 7)};
    for (unsigned i = 0; i < count; i++) {
        born(HIDDEN, lines[i % 3]);
        born(HIDDEN, others[i % 2]);
    }
}

/* The row of a request that fails. What it points to is gone. */
static struct oom_row failed(const char *frames, uint64_t size)
{
    capture_event(&capture, "oom", 0, size, frames);
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    ck_assert_uint_eq(report->ooms.count, 1);
    struct oom_row row = report->ooms.items[0];
    device_report_destroy(report);
    return row;
}

static int64_t saving(void)
{
    return capture_saving(&capture, FINDING_LOGITS);
}

/* The first step of a training, so nothing shows yet that a backward pass follows. */
START_TEST(the_softmax_of_the_first_step)
{
    layers(LAYERS);
    born(LOGITS, FORWARD("mm", 8));
    const struct oom_row row = failed(LOSS("_log_softmax"), LOGITS);
    ck_assert(row.of_logits);
    ck_assert(row.rest_is_unknown);
    ck_assert_int_eq(saving(), LOGITS);
    ck_assert_int_eq(capture_saving(&capture, FINDING_ACTIVATIONS), 2 * LAYERS * HIDDEN);
}
END_TEST

/* Its layer is far wider than all others. */
START_TEST(the_copy_of_logits)
{
    static const char *const copies[] = {LOSS("_to_copy"), FORWARD("_to_copy", 9)};
    layers(LAYERS);
    born(LOGITS, FORWARD("mm", 8));
    ck_assert(failed(copies[_i], 2 * LOGITS).of_logits);
    ck_assert_int_eq(saving(), LOGITS);
}
END_TEST

START_TEST(the_logits_themselves)
{
    layers(LAYERS);
    ck_assert(failed(FORWARD("addmm", 8), LOGITS).of_logits);
    ck_assert_int_eq(saving(), -1);
}
END_TEST

/* A small loss, a copy for a norm, the products of attention, a first wide layer, a layer within
 * others, other operators. */
START_TEST(other_requests)
{
    static const struct {
        unsigned layers;
        uint64_t last; /* bytes of the layer before the request; 0: none */
        const char *frames;
        uint64_t size;
    } requests[] = {
        {LAYERS, HIDDEN, FORWARD("_to_copy", 9), 2 * HIDDEN},
        {LAYERS, 0, FORWARD("bmm", 8), LOGITS},
        {3, 0, FORWARD("mm", 8), LOGITS},
        {LAYERS, 0, LAYER("mm", 8), LOGITS},
        {LAYERS, LOGITS, FORWARD("gelu", 9), LOGITS},
        {LAYERS, 512, LOSS("_log_softmax"), 512},
        {LAYERS, LOGITS, FORWARD("_to_copy", 9), HIDDEN},
    };
    layers(requests[_i].layers);
    if (requests[_i].last > 0)
        born(requests[_i].last, FORWARD("mm", 8));
    ck_assert(!failed(requests[_i].frames, requests[_i].size).of_logits);
    ck_assert_int_eq(saving(), -1);
}
END_TEST

/* The steps before show which lines make logits; this batch is larger. */
START_TEST(lines_that_made_logits_before)
{
    static const char *const lines[] = {FORWARD("mm", 8), LOSS("_to_copy"),
                                        BACKWARD("_log_softmax", "LogSoftmaxBackward0")};
    uint64_t blocks[4] = {born(HIDDEN, FORWARD("mm", 8)), born(2 * HIDDEN, LOSS("_to_copy")),
                          born(2 * HIDDEN, LOSS("_log_softmax")), 0};
    capture_free(&capture, born(8, LOSS("nll_loss_forward")), 8, SCRIPT);
    blocks[3] = born(2 * HIDDEN, BACKWARD("_log_softmax", "LogSoftmaxBackward0"));
    for (unsigned i = 0; i < 4; i++)
        capture_free(&capture, blocks[i], i == 0 ? HIDDEN : 2 * HIDDEN,
                     BACKWARD("mm", "MmBackward0"));
    born(HIDDEN, FORWARD("mm", 3));
    ck_assert(failed(lines[_i], LOGITS).of_logits);
}
END_TEST

TCase *oom_logits_tests(void)
{
    TCase *tests = tcase_create("out of memory for logits");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, the_softmax_of_the_first_step);
    tcase_add_loop_test(tests, the_copy_of_logits, 0, 2);
    tcase_add_test(tests, the_logits_themselves);
    tcase_add_loop_test(tests, other_requests, 0, 7);
    tcase_add_loop_test(tests, lines_that_made_logits_before, 0, 3);
    return tests;
}
