/* Graphs that no backward pass uses, or no other one, where only Python frames were recorded. The
 * backward pass then has none. */
#include "analysis/growth/dropped_graphs.h"
#include "analysis/growth/retained_graphs.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_report.h"

#define LAYERS            5
#define AT(line)          PY("<module>", "/home/u/train.py", line)
#define LAYER(line, call) PY("forward", "/home/u/layer.py", line) "," CALL "," AT(call)
#define PASS(call)                                                                                 \
    {                                                                                              \
        LAYER(1, call), LAYER(2, call), LAYER(3, call), LAYER(4, call), LAYER(5, call)             \
    }
#define MAKE_GRADS PY("_make_grads", TORCH "autograd/__init__.py", 229) "," AT(8)
#define UNSEEN     ""
#define ROLLOUTS   3
#define UPDATES    3
#define TURNS      2

static const char *const rollout_layers[] = PASS(4);
static const char *const train_layers[] = PASS(7);

struct graph {
    uint64_t saved[TURNS * LAYERS], result;
};

/* A pass of a model whose layers run twice. Autograd keeps what each of them makes. */
static struct graph forward(const char *const layers[LAYERS])
{
    struct graph graph;
    for (size_t i = 0; i < TURNS * (size_t)LAYERS; i++)
        graph.saved[i] = capture_alloc(&capture, 100, layers[i % LAYERS]);
    graph.result = capture_alloc(&capture, 10, layers[LAYERS - 1]);
    return graph;
}

/* The same without autograd, by a model that returns what its layers make: the rest is freed. */
static struct graph evaluate(const char *const layers[LAYERS])
{
    struct graph graph;
    for (size_t i = 0; i < TURNS * (size_t)LAYERS; i++) {
        graph.saved[i] = capture_alloc(&capture, 100, layers[i % LAYERS]);
        for (size_t k = 0; k < 2 * TURNS; k++)
            capture_free(&capture, capture_alloc(&capture, 100, layers[i % LAYERS]), 100,
                         layers[i % LAYERS]);
    }
    graph.result = capture_alloc(&capture, 10, layers[LAYERS - 1]);
    return graph;
}

static void drop(const struct graph *graph, const char *frames)
{
    capture_free(&capture, graph->result, 10, frames);
    for (size_t i = 0; i < TURNS * (size_t)LAYERS; i++)
        capture_free(&capture, graph->saved[i], 100, frames);
}

/* Computes a gradient for each tensor, after `first` others, and may free what autograd saved. */
static void backward(const struct graph *graph, size_t first, bool frees)
{
    capture_alloc(&capture, 4, MAKE_GRADS);
    for (size_t i = 0; i < first; i++)
        capture_free(&capture, capture_alloc(&capture, 20, UNSEEN), 20, UNSEEN);
    for (size_t i = TURNS * LAYERS; i-- > 0;) {
        capture_free(&capture, capture_alloc(&capture, 20, UNSEEN), 20, UNSEEN);
        if (frees)
            capture_free(&capture, graph->saved[i], 100, UNSEEN);
    }
    if (frees)
        capture_free(&capture, graph->result, 10, AT(8));
}

/* Forward passes of a rollout, one of the same model for training, which may have a loop of its
 * own, and its backward pass. The rollout ends when the next one begins. */
static void play(const char *const layers[LAYERS], size_t first, bool records)
{
    for (size_t update = 0; update < UPDATES; update++) {
        struct graph kept[ROLLOUTS];
        for (size_t i = 0; i < ROLLOUTS; i++)
            kept[i] = records ? forward(layers) : evaluate(layers);
        struct graph graph = forward(train_layers);
        backward(&graph, first, true);
        capture_alloc(&capture, 1, STACK_STEP);
        for (size_t i = 0; i < ROLLOUTS; i++)
            drop(&kept[i], AT(3));
    }
    capture_alloc(&capture, 1, AT(3));
}

START_TEST(graphs_of_a_rollout)
{
    play(rollout_layers, 0, true);
    make_report(0);
    ck_assert_ptr_nonnull(report_finding(report, FINDING_NO_GRAD));
    ck_assert_int_eq(report->dropped.at_peak_bytes, ROLLOUTS * (TURNS * LAYERS * 100 + 10));
    ck_assert_uint_eq(report->dropped.count, UPDATES * ROLLOUTS * (TURNS * LAYERS + 1));
}
END_TEST

/* The backward pass may be for all calls at a line, or one with retain_graph=True may come before
 * it. */
START_TEST(graphs_that_a_backward_pass_may_use)
{
    play(_i == 0 ? train_layers : rollout_layers, _i == 0 ? 0 : 40, true);
    make_report(0);
    ck_assert_ptr_null(report_finding(report, FINDING_NO_GRAD));
}
END_TEST

START_TEST(results_that_the_program_keeps)
{
    play(rollout_layers, 0, false);
    make_report(0);
    ck_assert_ptr_null(report_finding(report, FINDING_NO_GRAD));
}
END_TEST

/* The graph lives until the program sets the variable with the loss again. */
static void train(size_t saved_for, bool frees)
{
    struct graph old = {0};
    for (size_t step = 0; step < UPDATES; step++) {
        struct graph graph = forward(train_layers);
        if (step > 0 && !frees)
            drop(&old, AT(7));
        backward(&graph, saved_for, frees);
        capture_alloc(&capture, 1, STACK_STEP);
        old = graph;
    }
}

START_TEST(a_graph_that_is_retained)
{
    train(0, _i == 1);
    make_report(0);
    ck_assert_int_eq(report_finding(report, FINDING_RETAINED) != NULL, _i == 0);
    ck_assert_ptr_null(report_finding(report, FINDING_NO_GRAD));
    if (_i == 0)
        ck_assert_int_ge(report->retained.at_peak_bytes, (TURNS * LAYERS - 1) * 100);
}
END_TEST

TCase *python_graphs_tests(void)
{
    TCase *tests = tcase_create("graphs without C++ frames");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, graphs_of_a_rollout);
    tcase_add_loop_test(tests, graphs_that_a_backward_pass_may_use, 0, 2);
    tcase_add_test(tests, results_that_the_program_keeps);
    tcase_add_loop_test(tests, a_graph_that_is_retained, 0, 2);
    return tests;
}
