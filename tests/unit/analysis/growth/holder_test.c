/* The line that keeps what grows, and what goes if it no longer does. */
#include <stdio.h>
#include <string.h>

#include "analysis/growth/growth.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_report.h"

#define NET(line)                                                                                  \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/net.py", line) "," CALL                                             \
                                              "," PY("step", "/home/u/train.py", 4) "," SCRIPT
#define METRIC(op)                                                                                 \
    CPP("at::_ops::" op "::call(x)") "," PY("evaluate", "/home/u/train.py", 30) "," SCRIPT
#define BATCH CPP("at::_ops::rand::call(x)") "," PY("batch", "/home/u/train.py", 3) "," SCRIPT
#define GRAPH_DIES                                                                                 \
    CPP("torch::autograd::SavedVariable::reset_data()")                                            \
    "," CPP("torch::autograd::Node::~Node()") "," SCRIPT

enum { STEPS = 5, LINES = 5 };

static const char *const lines[LINES] = {NET(1), NET(2), NET(3), NET(4), NET(5)};

static void born(uint64_t addr, uint64_t size, const char *frames)
{
    capture_event(&capture, "alloc", addr, size, frames);
}

static void annotate(const char *stage, unsigned step)
{
    char name[32];
    snprintf(name, sizeof(name), "ProfilerStep#%u", step);
    capture.time_us++;
    capture_annotate(&capture, stage, name, 0);
}

/* A metric of 4 bytes, computed from a tensor that `from` makes. */
static void measure(unsigned step, const char *from)
{
    born(1, 90, from);
    born(2, 80, METRIC("_to_copy"));
    capture_free(&capture, 1, 90, SCRIPT);
    born(3000 + step, 4, METRIC("mean"));
    capture_free(&capture, 2, 80, SCRIPT);
}

/* Steps that keep a batch of 64 bytes, and a graph of five tensors of 100 with a metric behind. */
static const struct growth *graphs_that_stay(const char *from)
{
    for (unsigned step = 0; step < STEPS; step++) {
        annotate("START", step);
        born(2000 + step, 64, BATCH);
        for (unsigned i = 0; i < LINES; i++)
            born(1000 + 10 * step + i, 100, lines[i]);
        measure(step, from);
        annotate("END", step);
    }
    born(4000, 8, lines[0]);
    capture_free(&capture, 4000, 8, SCRIPT);
    for (unsigned step = 0; step < STEPS; step++) {
        for (unsigned i = 0; i < LINES; i++)
            capture_free(&capture, 1000 + 10 * step + i, 100, GRAPH_DIES);
        capture_free(&capture, 3000 + step, 4, SCRIPT);
    }
    make_report(0);
    return &report->growth;
}

static const char *holder(const struct growth *growth)
{
    return growth->rows[growth_holder(growth)].label.full;
}

START_TEST(a_loss_holds_its_graph)
{
    const struct growth *growth = graphs_that_stay(METRIC("pow"));
    ck_assert_int_eq(growth->graph, GRAPH_KEPT);
    ck_assert_str_eq(holder(growth), "train.py:30 evaluate");
    ck_assert_ptr_null(growth->caller);
}
END_TEST

/* A comparison has no gradient, and neither has an accuracy: the result before it has. */
START_TEST(an_accuracy_holds_no_graph)
{
    const struct growth *growth = graphs_that_stay(METRIC("eq"));
    ck_assert_int_eq(growth->graph, GRAPH_KEPT);
    ck_assert_uint_eq(growth->scalar_row, NO_ROW);
    ck_assert_str_eq(holder(growth), "net.py:5 forward");
    ck_assert_str_eq(growth->caller, "train.py:4 step");
    ck_assert_ptr_nonnull(strstr(report_finding(report, FINDING_GROWTH)->what,
                                 "net.py:5 forward, called at train.py:4 step"));
}
END_TEST

/* They may be stored for their own sake, in which case they stay without the graphs, too. */
START_TEST(inputs_may_outlive_graphs)
{
    const struct growth *growth = graphs_that_stay(METRIC("pow"));
    const struct finding *finding = report_finding(report, FINDING_GROWTH);
    ck_assert_int_gt(growth->input_save_bytes, 0);
    /* without a backward pass, a variable may keep the graph of the last step */
    ck_assert_int_eq(finding->save_bytes,
                     growth->save_bytes - growth->input_save_bytes - growth->bytes_per_step);
    ck_assert(finding->at_least);
    ck_assert_ptr_nonnull(strstr(finding->next, "Inputs of earlier steps"));
}
END_TEST

/* A log that stores the gradients of each step: a new one is made after zero_grad(), which frees
 * none. */
START_TEST(stored_gradients_are_not_stale)
{
    born(7000, 300, PY("to", TORCH "nn/modules/module.py", 1300) "," SCRIPT);
    for (unsigned step = 0; step < STEPS; step++) {
        born(1, 100, lines[0]);
        born(2000 + step, 300, STACK_BACKWARD);
        capture_free(&capture, 1, 100, STACK_BACKWARD);
        born(2, 8, STACK_STEP);
        capture_free(&capture, 2, 8, STACK_STEP);
    }
    make_report(0);
    const struct growth *growth = &report->growth;
    ck_assert_int_eq(growth->gradient_bytes_per_step, 300);
    ck_assert_uint_eq(growth->gradients.count, 0);
    ck_assert_ptr_null(report_finding(report, FINDING_KEPT_GRADIENTS));
    const struct finding *finding = report_finding(report, FINDING_GROWTH);
    ck_assert_ptr_nonnull(strstr(finding->next, "stores gradients of earlier steps"));
    ck_assert(finding->at_least); /* no step needs those of earlier ones */
    ck_assert_int_eq(finding->save_bytes, growth->gradient_save_bytes);
    ck_assert_int_ge(growth->gradient_save_bytes, 300 * (STEPS - 1));
    /* A hook that frees each gradient after its use frees only that of the last step. */
    const struct finding *gradients = report_finding(report, FINDING_GRADIENTS);
    ck_assert(!gradients || gradients->save_bytes <= 300);
}
END_TEST

TCase *holder_tests(void)
{
    TCase *tests = tcase_create("holder");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_loss_holds_its_graph);
    tcase_add_test(tests, an_accuracy_holds_no_graph);
    tcase_add_test(tests, inputs_may_outlive_graphs);
    tcase_add_test(tests, stored_gradients_are_not_stale);
    return tests;
}
