/* Graphs that the program keeps after the last backward pass through them. */
#include "analysis/growth/retained_graphs.h"

#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/one_report.h"

#define STEPS 3
#define SAVED 4 /* tensors that the layers save */
#define LAYER(line)                                                                                \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/layer.py", line) "," CALL "," PY("forward", "/home/u/net.py",       \
                                                                20) "," CALL "," SCRIPT
#define LOSS CPP("at::_ops::sum::call(x)") "," SCRIPT
#define GRAPH_DIES                                                                                 \
    CPP("torch::autograd::SavedVariable::reset_data()")                                            \
    "," CPP("torch::autograd::Node::~Node()") "," SCRIPT
#define SAVED_DIES CPP("torch::autograd::SavedVariable::reset_data()") "," ENGINE

static const char *const layers[] = {LAYER(1), LAYER(2), LAYER(3), LAYER(4), LAYER(5)};

enum release { RELEASE_NONE, RELEASE_FIRST, RELEASE_ALL };

static void free_graph(const uint64_t graph[SAVED + 1], size_t from, const char *frames)
{
    for (size_t i = from; i <= SAVED; i++)
        capture_free(&capture, graph[i], 100, frames);
}

/* loss = model(x); loss.backward(); optimizer.step(). The backward pass computes `computed`
 * tensors, and releases what the forward pass saved or leaves it to the next iteration. In
 * the second step, each of these tensors has `large` bytes. */
static void train_with(unsigned computed, enum release release, uint64_t large)
{
    uint64_t old[SAVED + 1] = {0}, loss = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t graph[SAVED + 1];
        for (size_t i = 0; i <= SAVED; i++)
            graph[i] = capture_alloc(&capture, 100, layers[i]);
        uint64_t next = capture_alloc(&capture, 4, LOSS);
        if (loss)
            capture_free(&capture, loss, 4, SCRIPT);
        if (loss && release != RELEASE_ALL)
            free_graph(old, release == RELEASE_FIRST, GRAPH_DIES);
        loss = next;
        for (unsigned i = 0; i < computed; i++) {
            uint64_t size = step == 1 ? large : 10;
            uint64_t computes = capture_alloc(&capture, size, STACK_BACKWARD);
            capture_free(&capture, computes, size, STACK_BACKWARD);
        }
        if (release == RELEASE_FIRST)
            capture_free(&capture, graph[0], 100, SAVED_DIES);
        if (release == RELEASE_ALL)
            free_graph(graph, 0, SAVED_DIES);
        capture_alloc(&capture, 1, STACK_STEP);
        for (size_t i = 0; i <= SAVED; i++)
            old[i] = graph[i];
    }
}

static void train(unsigned computed, enum release release)
{
    train_with(computed, release, 10);
}

/* At the peak, the layers have the graph of this step and of the step before, of which a variable
 * may hold the last result. */
START_TEST(a_graph_that_is_retained)
{
    train(SAVED + 1, RELEASE_NONE);
    make_report(0);
    const struct finding *finding = report_finding(report, FINDING_RETAINED);
    ck_assert_ptr_nonnull(finding);
    ck_assert(finding->at_least);
    ck_assert_int_eq(report->retained.at_peak_bytes, 100 * SAVED);
    ck_assert_int_eq(finding->save_bytes, 100 * SAVED);
    ck_assert_ptr_null(report_finding(report, FINDING_NO_GRAD));
    ck_assert_int_eq((int64_t)report->kept.at_peak_bytes, 100 + 4);
}
END_TEST

/* Without retain_graph=True, a part of the graph would be free by then. */
START_TEST(the_peak_is_in_the_backward_pass)
{
    train_with(SAVED + 1, RELEASE_NONE, 2000);
    make_report(0);
    const struct finding *finding = report_finding(report, FINDING_RETAINED);
    ck_assert_ptr_nonnull(finding);
    ck_assert(finding->at_most);
    ck_assert_int_eq(finding->save_bytes, 100 * (SAVED + 1));
    ck_assert_int_eq(report->retained.at_peak_bytes, 0);
}
END_TEST

START_TEST(the_backward_pass_with_the_peak_frees_the_graph)
{
    train_with(SAVED + 1, RELEASE_ALL, 2000);
    make_report(0);
    ck_assert_ptr_null(report_finding(report, FINDING_RETAINED));
}
END_TEST

#define ATTACKS 3
#define THREAD_DIES                                                                                \
    CPP("torch::autograd::SavedVariable::reset_data()")                                            \
    "," CPP("torch::autograd::Node::~Node()") "," CPP("torch::autograd::Engine::thread_main(x)")

/* A forward pass, its loss, and a backward pass, which leaves the graph alone. */
static void attack(uint64_t graph[SAVED + 1])
{
    for (size_t i = 0; i <= SAVED; i++)
        graph[i] = capture_alloc(&capture, 100, layers[i]);
    uint64_t loss = capture_alloc(&capture, 4, LOSS);
    for (size_t i = 0; i <= SAVED; i++)
        capture_free(&capture, capture_alloc(&capture, 10, STACK_BACKWARD), 10, STACK_BACKWARD);
    capture_free(&capture, loss, 4, SCRIPT);
}

/* Each step makes an adversarial example in several passes, whose graphs the program or autograd's
 * thread drops before the training pass frees its own. Or a backward pass goes through them. */
START_TEST(graphs_of_several_passes_of_a_step)
{
    static const char *const dies[] = {GRAPH_DIES, THREAD_DIES, SAVED_DIES};
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t graphs[ATTACKS + 1][SAVED + 1];
        for (size_t k = 0; k < ATTACKS; k++)
            attack(graphs[k]);
        for (size_t k = 0; k < ATTACKS; k++)
            free_graph(graphs[k], 0, dies[_i]);
        attack(graphs[ATTACKS]);
        free_graph(graphs[ATTACKS], 0, SAVED_DIES);
        capture_alloc(&capture, 1, STACK_STEP);
    }
    make_report(0);
    const struct finding *finding = report_finding(report, FINDING_RETAINED);
    if (_i == 2) {
        ck_assert_ptr_null(finding);
        return;
    }
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_ge(report->retained.at_peak_bytes, (ATTACKS - 1) * SAVED * 100);
}
END_TEST

/* create_graph=True records the backward pass, so that its own results stay as well. */
static void make_graph(uint64_t graph[SAVED + 1])
{
    for (size_t i = 0; i <= SAVED; i++)
        graph[i] = capture_alloc(&capture, 100, layers[i]);
}

static void go_back(void)
{
    for (unsigned i = 0; i <= SAVED; i++)
        capture_free(&capture, capture_alloc(&capture, 10, STACK_BACKWARD), 10, STACK_BACKWARD);
}

/* A critic's iteration has two passes: for a penalty, and for the loss, which keeps the graphs. The
 * next iteration sets their variables again, after its first pass. In between, the generator may be
 * trained. With `_i`, the second pass frees both graphs. */
START_TEST(graphs_of_a_critic)
{
    uint64_t old[2][SAVED + 1], now[2][SAVED + 1], other[SAVED + 1];
    for (unsigned step = 0; step < 5; step++) {
        make_graph(now[0]);
        go_back();
        make_graph(now[1]);
        for (unsigned k = 0; _i == 0 && step > 0 && k < 2; k++)
            free_graph(old[k], 0, GRAPH_DIES);
        go_back();
        for (unsigned k = 0; _i == 1 && k < 2; k++)
            free_graph(now[k], 0, SAVED_DIES);
        capture_alloc(&capture, 1, STACK_STEP);
        memcpy(old, now, sizeof(old));
        if (step != 3)
            continue;
        make_graph(other);
        capture_free(&capture, capture_alloc(&capture, 5000, LOSS), 5000, SCRIPT); /* the peak */
        go_back();
        free_graph(other, 0, SAVED_DIES);
        capture_alloc(&capture, 1, STACK_STEP);
    }
    make_report(0);
    if (_i == 0)
        ck_assert_int_ge(report->retained.at_peak_bytes, 2 * 100 * (SAVED - 1));
    else
        ck_assert_int_eq(report->retained.at_peak_bytes, 0);
}
END_TEST

/* The same attack at the top level of a script: the variables keep the graphs beyond the training
 * pass, which frees its own, until the next attack sets them again after its first pass. With
 * `_i`, passes with less work, such as gradients of a part of the model, go through the graphs
 * afterwards, so that none of these would free them. */
START_TEST(graphs_of_an_attack_that_variables_keep)
{
    uint64_t old[ATTACKS][SAVED + 1], now[ATTACKS][SAVED + 1], last[SAVED + 1];
    for (unsigned step = 0; step < 5; step++) {
        for (size_t k = 0; k < ATTACKS; k++) {
            attack(now[k]);
            if (k == 0 && step == 3) /* the peak */
                capture_free(&capture, capture_alloc(&capture, 5000, LOSS), 5000, SCRIPT);
            for (size_t j = 0; k == 0 && step > 0 && j < ATTACKS; j++)
                free_graph(old[j], 0, GRAPH_DIES);
        }
        if (_i == 1) {
            uint64_t loss = capture_alloc(&capture, 4, LOSS);
            capture_free(&capture, capture_alloc(&capture, 10, STACK_BACKWARD), 10, STACK_BACKWARD);
            capture_free(&capture, loss, 4, SCRIPT);
        }
        attack(last);
        free_graph(last, 0, SAVED_DIES);
        capture_alloc(&capture, 1, STACK_STEP);
        memcpy(old, now, sizeof(old));
    }
    make_report(0);
    if (_i == 0)
        ck_assert_int_ge(report->retained.at_peak_bytes, ATTACKS * 100 * (SAVED - 1));
    else
        ck_assert_int_eq(report->retained.at_peak_bytes, 0);
}
END_TEST

START_TEST(a_backward_pass_that_is_recorded)
{
    uint64_t old[2 * SAVED] = {0};
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t graph[2 * SAVED];
        for (size_t i = 0; i < SAVED; i++)
            graph[i] = capture_alloc(&capture, 100, layers[i]);
        uint64_t result = capture_alloc(&capture, 4, LOSS);
        for (size_t i = 0; old[0] && i < 2 * SAVED; i++)
            capture_free(&capture, old[i], 100, GRAPH_DIES);
        for (size_t i = SAVED; i < 2 * SAVED; i++)
            graph[i] = capture_alloc(&capture, 100, STACK_BACKWARD);
        capture_free(&capture, result, 4, SCRIPT);
        capture_alloc(&capture, 1, STACK_STEP);
        for (size_t i = 0; i < 2 * SAVED; i++)
            old[i] = graph[i];
    }
    make_report(0);
    /* at the peak: what the next forward pass makes, and the graph but for the last result */
    ck_assert_int_eq(report->retained.at_peak_bytes, 100 * (2 * SAVED - 1));
}
END_TEST

START_TEST(a_graph_that_the_backward_pass_frees)
{
    train(SAVED + 1, RELEASE_ALL);
    make_report(0);
    ck_assert_int_eq(report->retained.at_peak_bytes, 0);
}
END_TEST

/* The loss does not need all that the model computes. */
START_TEST(a_part_that_the_backward_pass_leaves_alone)
{
    train(SAVED + 1, RELEASE_FIRST);
    make_report(0);
    ck_assert_int_eq(report->retained.at_peak_bytes, 0);
}
END_TEST

/* The loss saves nothing, and needs none of what the model computes. */
START_TEST(a_backward_pass_of_something_else)
{
    train(1, RELEASE_NONE);
    make_report(0);
    ck_assert_int_eq(report->retained.at_peak_bytes, 0);
}
END_TEST

/* The next backward pass goes through the graph again, and frees it. */
START_TEST(a_graph_that_a_later_pass_uses)
{
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t graph[SAVED + 1];
        for (size_t i = 0; i <= SAVED; i++)
            graph[i] = capture_alloc(&capture, 100, layers[i]);
        for (unsigned i = 0; i < 2 * SAVED; i++) {
            uint64_t computes = capture_alloc(&capture, 10, STACK_BACKWARD);
            capture_free(&capture, computes, 10, STACK_BACKWARD);
            if (i + 1 == SAVED) {
                uint64_t second = capture_alloc(&capture, 1000, LOSS);
                capture_free(&capture, second, 1000, LOSS);
            }
        }
        free_graph(graph, 0, SAVED_DIES);
        capture_alloc(&capture, 1, STACK_STEP);
    }
    make_report(0);
    ck_assert_int_eq(report->retained.at_peak_bytes, 0);
}
END_TEST

#define WINDOWS 4
#define WORK    10 /* tensors that a backward pass computes for the graph of one window */

/* The windows of a text, before one optimizer step. The backward pass of each goes through the
 * graphs of those before it, too, or through as much for each. The graphs stay until the last
 * window is over. */
static void read_text(bool goes_on)
{
    uint64_t graphs[WINDOWS][SAVED + 1];
    for (unsigned window = 0; window < WINDOWS; window++) {
        for (size_t i = 0; i <= SAVED; i++)
            graphs[window][i] = capture_alloc(&capture, 100, layers[i]);
        for (unsigned i = 0; i < WORK * (goes_on ? window + 1 : 1); i++)
            capture_free(&capture, capture_alloc(&capture, 10, STACK_BACKWARD), 10, STACK_BACKWARD);
        capture_free(&capture, capture_alloc(&capture, 8, SCRIPT), 8, SCRIPT);
    }
    capture_alloc(&capture, 1, STACK_STEP);
    for (unsigned window = 0; window < WINDOWS; window++)
        free_graph(graphs[window], 0, GRAPH_DIES);
}

/* At the peak, in the last window, the graphs of three others are there. */
START_TEST(graphs_that_are_handed_on)
{
    read_text(_i == 0);
    read_text(_i == 0);
    make_report(0);
    const struct finding *finding = report_finding(report, FINDING_RETAINED);
    ck_assert_uint_eq(report->retained.handed_passes, _i == 0 ? WINDOWS - 1 : 0);
    ck_assert_int_eq(report->retained.handed_bytes,
                     _i == 0 ? (WINDOWS - 1) * (SAVED + 1) * 100 : 0);
    if (_i == 0) {
        ck_assert_ptr_nonnull(finding);
        ck_assert_ptr_nonnull(strstr(finding->next, "state.detach()"));
        ck_assert_int_ge(finding->save_bytes, (WINDOWS - 2) * (SAVED + 1) * 100);
    }
}
END_TEST

#define TARGETS(line)                                                                              \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/layer.py", line) "," CALL "," PY(                                   \
        "targets", "/home/u/train.py", 3) "," PY("<module>", "/home/u/train.py", 4)
#define TARGET_TENSORS 9 /* the last of which a variable holds */

/* Before the loop, the program computes targets with autograd on, or only results. */
static void make_targets(bool have_graph)
{
    static const char *const lines[] = {TARGETS(1), TARGETS(2), TARGETS(3)};
    for (unsigned i = 0; i < TARGET_TENSORS; i++)
        capture_alloc(&capture, 100, lines[have_graph ? i % 3 : 0]);
}

START_TEST(a_graph_of_targets)
{
    make_targets(_i == 0);
    train(_i == 2 ? SAVED : SAVED + 1, _i == 2 ? RELEASE_ALL : RELEASE_NONE);
    make_report(0);
    const struct finding *finding = report_finding(report, FINDING_RETAINED);
    ck_assert_int_eq(report->retained.early.at_peak_bytes,
                     _i == 0 ? 100 * (TARGET_TENSORS - 1) : 0);
    if (_i > 0) {
        ck_assert(!finding || !strstr(finding->next, "targets"));
        return;
    }
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_null(report_finding(report, FINDING_NO_GRAD));
    ck_assert(finding->at_least);
    /* a list may hold the results of the last line */
    ck_assert_int_eq(finding->save_bytes, 100 * (TARGET_TENSORS - TARGET_TENSORS / 3 + SAVED));
    ck_assert_str_eq(finding->where, "train.py:4 <module>");
    ck_assert_ptr_nonnull(strstr(finding->next, "run them under torch.no_grad()"));
}
END_TEST

TCase *retained_graphs_tests(void)
{
    TCase *tests = tcase_create("retained graphs");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_graph_that_is_retained);
    tcase_add_loop_test(tests, graphs_that_are_handed_on, 0, 2);
    tcase_add_loop_test(tests, graphs_of_an_attack_that_variables_keep, 0, 2);
    tcase_add_test(tests, the_peak_is_in_the_backward_pass);
    tcase_add_test(tests, the_backward_pass_with_the_peak_frees_the_graph);
    tcase_add_loop_test(tests, graphs_of_several_passes_of_a_step, 0, 3);
    tcase_add_loop_test(tests, graphs_of_a_critic, 0, 2);
    tcase_add_test(tests, a_backward_pass_that_is_recorded);
    tcase_add_test(tests, a_graph_that_the_backward_pass_frees);
    tcase_add_test(tests, a_part_that_the_backward_pass_leaves_alone);
    tcase_add_test(tests, a_backward_pass_of_something_else);
    tcase_add_test(tests, a_graph_that_a_later_pass_uses);
    tcase_add_loop_test(tests, a_graph_of_targets, 0, 3);
    return tests;
}
