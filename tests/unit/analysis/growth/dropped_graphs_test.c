/* Autograd graphs that no backward pass uses, and what turning autograd off would save. */
#include "analysis/growth/dropped_graphs.h"

#include <stdio.h>
#include <string.h>

#include "analysis/growth/early_ends.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_report.h"

#define NET(line) PY("forward", "/home/u/net.py", line) "," CALL "," SCRIPT
#define LAYER(line)                                                                                \
    CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/layer.py", line) "," CALL "," NET(20)
#define PYTHON_LAYER(line) PY("forward", "/home/u/layer.py", line) "," CALL "," NET(20)
#define RESULT             CPP("at::_ops::mm::call(x)") "," NET(21)
#define GRAPH_DIES                                                                                 \
    CPP("torch::autograd::SavedVariable::reset_data()")                                            \
    "," CPP("torch::autograd::Node::~Node()") "," SCRIPT

static const char *const layers[] = {LAYER(1), LAYER(2), LAYER(3), LAYER(4), LAYER(5)};
static const char *const python_layers[] = {PYTHON_LAYER(1), PYTHON_LAYER(2), PYTHON_LAYER(3),
                                            PYTHON_LAYER(4), PYTHON_LAYER(5)};

static const char *const others[] = {LAYER(11), LAYER(12), LAYER(13), LAYER(14), LAYER(15)};

/* Two layers in a loop, each with five tensors of 100; then a result of 50. */
static void forward(const char *const stacks[5])
{
    for (uint64_t turn = 0; turn < 2; turn++)
        for (uint64_t i = 0; i < 5; i++)
            capture_event(&capture, "alloc", 100 + 10 * turn + i, 100, stacks[i]);
    capture_event(&capture, "alloc", 200, 50, RESULT);
}

static void drop(const char *frames)
{
    capture_free(&capture, 200, 50, SCRIPT);
    for (uint64_t turn = 0; turn < 2; turn++)
        for (uint64_t i = 0; i < 5; i++)
            capture_free(&capture, 100 + 10 * turn + i, 100, frames);
}

static const struct finding *find(enum finding_kind kind)
{
    if (!report) {
        capture_load(&capture);
        report = capture_report(&capture, 0);
    }
    return report_finding(report, kind);
}

START_TEST(a_graph_that_is_dropped)
{
    forward(layers);
    drop(GRAPH_DIES);
    const struct finding *finding = find(FINDING_NO_GRAD);
    ck_assert_ptr_nonnull(finding);
    ck_assert_uint_eq(report->dropped.count, 10);
    ck_assert_int_eq(report->dropped.at_peak_bytes, 1000);
    /* Each tensor of the first turn is replaced in the second, but that of the last line: at most
     * six of them would live at once. */
    ck_assert_int_eq(finding->save_bytes, 1050 - 600);
    ck_assert(finding->at_least && !finding->at_most);
    ck_assert_ptr_null(find(FINDING_ACTIVATIONS));
    /* the code that can turn autograd off, not the model's */
    ck_assert_ptr_nonnull(strstr(finding->what, "the largest part at train.py:9"));
    ck_assert_ptr_null(strstr(finding->what, "layer.py"));
}
END_TEST

/* Losses that are stored with their graphs, until the program ends: the finding on growth covers
 * them. Graphs of other lines at the peak are another finding. */
START_TEST(dropped_graphs_that_grow)
{
    for (uint64_t step = 0; step < 5; step++) {
        char name[32];
        snprintf(name, sizeof(name), "ProfilerStep#%u", (unsigned)step);
        capture.time_us++;
        capture_annotate(&capture, "START", name, 0);
        for (uint64_t i = 0; i < 5; i++)
            capture_event(&capture, "alloc", 1000 + 10 * step + i, 100, layers[i]);
        capture_event(&capture, "alloc", 2000 + step, 4, RESULT);
        if (_i == 1 && step == 4)
            forward(others);
        capture.time_us++;
        capture_annotate(&capture, "END", name, 0);
    }
    if (_i == 1)
        drop(GRAPH_DIES);
    for (uint64_t step = 0; step < 5; step++) {
        capture_free(&capture, 2000 + step, 4, SCRIPT);
        for (uint64_t i = 0; i < 5; i++)
            capture_free(&capture, 1000 + 10 * step + i, 100, GRAPH_DIES);
    }
    const struct finding *growth = find(FINDING_GROWTH);
    ck_assert_ptr_nonnull(growth);
    /* four are left over, and a variable may still keep the last of them */
    ck_assert_int_eq(growth->save_bytes, 3 * 504);
    ck_assert_int_eq(strstr(growth->next,
                            "run the calls that make them, and no others, under torch.no_grad()") !=
                         NULL,
                     _i == 0);
    ck_assert_int_eq(find(FINDING_NO_GRAD) == NULL, _i == 0);
}
END_TEST

/* Two lines grow, so that no graph is certain to be stored; their sum would be an upper bound. Yet
 * torch.no_grad() surely saves more, because the last step also keeps what it drops itself. */
START_TEST(dropped_graphs_that_save_more_than_what_grows)
{
    const unsigned steps = 5, passing = 20;
    for (uint64_t step = 0; step < steps; step++) {
        char name[32];
        snprintf(name, sizeof(name), "ProfilerStep#%u", (unsigned)step);
        capture.time_us++;
        capture_annotate(&capture, "START", name, 0);
        for (uint64_t i = 0; i < 2; i++)
            capture_event(&capture, "alloc", 1000 + 10 * step + i, 100, layers[i]);
        capture_event(&capture, "alloc", 2000, 50, RESULT);
        for (uint64_t i = 0; i < passing; i++)
            capture_event(&capture, "alloc", 3000 + i, 100, layers[i % 2]);
        capture_event(&capture, "alloc", 2001, 50, RESULT);
        capture_free(&capture, 2000, 50, SCRIPT);
        capture_free(&capture, 2001, 50, SCRIPT);
        for (uint64_t i = 0; i < passing; i++)
            capture_free(&capture, 3000 + i, 100, GRAPH_DIES);
        capture.time_us++;
        capture_annotate(&capture, "END", name, 0);
    }
    const struct finding *growth = find(FINDING_GROWTH);
    ck_assert_ptr_nonnull(growth);
    ck_assert_int_ne(report->growth.graph, GRAPH_KEPT);
    ck_assert_int_gt(report->dropped.save_bytes, report->growth.most_bytes);
    ck_assert_int_eq(growth->save_bytes, report->dropped.save_bytes);
    ck_assert(growth->at_least);
    ck_assert(!growth->at_most);
}
END_TEST

#define WEIGHT PY("_apply", TORCH "nn/modules/module.py", 900) "," SCRIPT
#define CAST                                                                                       \
    CPP("at::_ops::_to_copy::call(x)")                                                             \
    "," CPP("at::autocast::cached_cast(c10::ScalarType)") "," CPP(                                 \
        "at::_ops::linear::call(x)") "," NET(20)
#define LEAVE                                                                                      \
    CPP("at::autocast::clear_cache()")                                                             \
    "," PY("__exit__", TORCH "amp/autocast_mode.py", 349) "," SCRIPT

/* The graph keeps the copy of a weight that autocast makes. Without a graph, autocast keeps it
 * until its region ends: after the second call, or before it. The graph does not keep that of the
 * bias. */
START_TEST(dropped_graphs_under_autocast)
{
    const bool ends_early = _i == 1;
    const int64_t copy = 5000, calls = 1000 + 2000, results = 4 * 100; /* of four layers */
    capture_event(&capture, "alloc", 50, 10000, WEIGHT);
    capture_event(&capture, "alloc", 60, 30, WEIGHT);
    capture_event(&capture, "alloc", 80, 15, CAST);
    capture_event(&capture, "alloc", 70, (uint64_t)copy, CAST);
    forward(layers);
    capture_event(&capture, "alloc", 90, 8, SCRIPT); /* the call has returned */
    if (ends_early)
        capture_free(&capture, 80, 15, LEAVE);
    for (uint64_t i = 0; i < 20; i++)
        capture_event(&capture, "alloc", 300 + i, 100, others[i % 5]);
    capture_event(&capture, "alloc", 95, 8000, RESULT); /* so that the second call needs more */
    capture_free(&capture, 95, 8000, RESULT);
    if (!ends_early)
        capture_free(&capture, 80, 15, LEAVE);
    for (uint64_t i = 0; i < 20; i++)
        capture_free(&capture, 300 + i, 100, GRAPH_DIES);
    drop(GRAPH_DIES);
    capture_free(&capture, 70, (uint64_t)copy, GRAPH_DIES);
    const struct finding *finding = find(FINDING_NO_GRAD);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(capture_category(&capture, 70), CATEGORY_CAST_CACHE);
    ck_assert_int_eq(report->dropped.at_peak_bytes, copy + calls);
    ck_assert_int_eq(finding->save_bytes, calls - results + (ends_early ? copy : 0));
}
END_TEST

START_TEST(a_graph_that_is_dropped_without_cpp_frames)
{
    forward(python_layers);
    drop(SCRIPT);
    ck_assert_ptr_nonnull(find(FINDING_NO_GRAD));
}
END_TEST

#define BLOCK(layer)                                                                               \
    PY("forward", TORCH "nn/modules/" layer ".py", 130)                                            \
    "," CALL "," PY("forward", TORCH "nn/modules/container.py", 250) "," CALL "," SCRIPT

/* Layers that torch.nn.Sequential calls in a loop have the same Python frames. Without autograd,
 * the pass frees the results of most of them, and a list may keep the others. */
START_TEST(a_graph_of_layers_in_a_loop)
{
    static const char *const loop[] = {BLOCK("linear"), BLOCK("activation")};
    for (uint64_t i = 0; i < 20; i++) {
        capture_event(&capture, "alloc", 100 + i, 100, loop[i % 2]);
        if (_i > 0 && i % 2 == 1)
            capture_free(&capture, 100 + i - 1, 100, loop[1]);
    }
    for (uint64_t i = _i > 0 ? 1 : 0; i<20; i += _i> 0 ? 2 : 1)
        capture_free(&capture, 100 + i, 100, SCRIPT);
    ck_assert_int_eq(find(FINDING_NO_GRAD) != NULL, _i == 0);
}
END_TEST

START_TEST(tensors_freed_by_the_pass_are_no_graph)
{
    for (uint64_t i = 0; i < 5; i++)
        capture_event(&capture, "alloc", 100 + i, 100, layers[i]);
    for (uint64_t i = 0; i < 5; i++)
        capture_free(&capture, 100 + i, 100, NET(20));
    capture_event(&capture, "alloc", 200, 50, RESULT);
    capture_free(&capture, 200, 50, SCRIPT);
    ck_assert_ptr_null(find(FINDING_NO_GRAD));
    ck_assert_ptr_null(find(FINDING_ACTIVATIONS));
    ck_assert_uint_eq(report->dropped.count, 0);
}
END_TEST

/* A head of the model that the loss does not use is dropped with its part of the graph. */
START_TEST(an_unused_part_of_a_training_graph)
{
    forward(layers);
    capture_event(&capture, "alloc", 300, 100, STACK_BACKWARD);
    for (uint64_t i = 0; i < 5; i++) {
        capture_free(&capture, 100 + i, 100, ENGINE);
        capture_free(&capture, 110 + i, 100, i == 4 ? GRAPH_DIES : ENGINE);
    }
    capture_event(&capture, "alloc", 400, 10, STACK_STEP);
    ck_assert_ptr_null(find(FINDING_NO_GRAD));
    ck_assert_ptr_nonnull(find(FINDING_ACTIVATIONS));
}
END_TEST

/* A teacher's graph dies before the backward pass of the model in training. */
START_TEST(a_graph_that_is_dropped_before_the_backward_pass)
{
    forward(layers);
    drop(GRAPH_DIES);
    for (uint64_t i = 0; i < 5; i++)
        capture_event(&capture, "alloc", 300 + i, 90, layers[i]);
    capture_event(&capture, "alloc", 400, 10, STACK_BACKWARD);
    for (uint64_t i = 0; i < 5; i++)
        capture_free(&capture, 300 + i, 90, ENGINE);
    capture_event(&capture, "alloc", 500, 10, STACK_STEP);
    ck_assert_ptr_nonnull(find(FINDING_NO_GRAD));
    ck_assert_uint_eq(report->dropped.count, 10);
    ck_assert_int_eq(report->dropped.at_peak_bytes, 1000);
}
END_TEST

#define STUDENT                                                                                    \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/student.py", 3) "," CALL "," PY("<module>", "/home/u/train.py", 12)
#define SAVED_DIES CPP("torch::autograd::SavedVariable::reset_data()") "," ENGINE

/* A teacher with its graph, and a student whose backward pass makes `before` tensors before it
 * frees one. */
static void distil(uint64_t before)
{
    forward(layers);
    for (uint64_t i = 0; i < 5; i++)
        capture_event(&capture, "alloc", 300 + i, 900, STUDENT);
    for (uint64_t i = 0; i < before; i++)
        capture_event(&capture, "alloc", 400 + i, 10, STACK_BACKWARD);
    for (uint64_t i = 0; i < 5; i++)
        capture_free(&capture, 300 + i, 900, SAVED_DIES);
    capture_event(&capture, "alloc", 500, 10, STACK_STEP);
    drop(GRAPH_DIES);
}

#define CODEBOOK(line)                                                                             \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/codebook.py", line) "," CALL "," NET(20)

static const char *const codebook[] = {CODEBOOK(1), CODEBOOK(2), CODEBOOK(3), CODEBOOK(4),
                                       CODEBOOK(5)};

/* Its line is named, not that of the call that also makes what the backward pass needs. */
START_TEST(a_graph_that_is_dropped_within_a_model_in_training)
{
    for (uint64_t i = 0; i < 5; i++)
        capture_event(&capture, "alloc", 300 + i, 90, layers[i]);
    forward(codebook);
    drop(GRAPH_DIES);
    capture_event(&capture, "alloc", 400, 10, STACK_BACKWARD);
    for (uint64_t i = 0; i < 5; i++)
        capture_free(&capture, 300 + i, 90, SAVED_DIES);
    capture_event(&capture, "alloc", 500, 10, STACK_STEP);
    const struct finding *finding = find(FINDING_NO_GRAD);
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_nonnull(strstr(finding->what, "codebook.py:"));
    ck_assert_ptr_null(strstr(finding->what, "train.py"));
}
END_TEST

/* One line calls the model twice, and a backward pass uses the second result. No line inside of the
 * model tells the calls apart. */
START_TEST(a_graph_that_is_dropped_by_a_line_with_two_calls)
{
    forward(layers);
    for (uint64_t i = 0; i < 5; i++)
        capture_event(&capture, "alloc", 300 + i, 90, layers[i]);
    drop(GRAPH_DIES);
    capture_event(&capture, "alloc", 400, 10, STACK_BACKWARD);
    for (uint64_t i = 0; i < 5; i++)
        capture_free(&capture, 300 + i, 90, SAVED_DIES);
    capture_event(&capture, "alloc", 500, 10, STACK_STEP);
    const struct finding *finding = find(FINDING_NO_GRAD);
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_nonnull(strstr(finding->what, "train.py:9"));
    ck_assert_ptr_nonnull(strstr(finding->next, "only the call that none uses"));
}
END_TEST

/* A variable keeps a teacher's graph over the backward pass, which leaves it alone. */
START_TEST(a_graph_that_the_backward_pass_leaves_alone)
{
    distil(1);
    ck_assert_ptr_nonnull(find(FINDING_NO_GRAD));
    ck_assert_uint_eq(report->dropped.count, 10);
}
END_TEST

/* The student is called right after the teacher, so that both are in one forward pass, and its
 * backward pass frees more than the teacher's graph holds. The last graph is still there when the
 * recording ends. */
START_TEST(a_call_that_the_backward_pass_leaves_alone)
{
    for (int step = 0; step < 2; step++) {
        forward(layers);
        for (uint64_t i = 0; i < 5; i++)
            capture_event(&capture, "alloc", 300 + i, 900, STUDENT);
        capture_event(&capture, "alloc", 350, 10, SCRIPT);
        capture_event(&capture, "alloc", 360, 900, STUDENT);
        capture_event(&capture, "alloc", 400, 10, STACK_BACKWARD);
        for (uint64_t i = 0; i < 5; i++)
            capture_free(&capture, 300 + i, 900, SAVED_DIES);
        capture_free(&capture, 360, 900, SAVED_DIES);
        capture_event(&capture, "alloc", 500 + (uint64_t)step, 10, STACK_STEP);
        if (step == 0)
            drop(GRAPH_DIES);
    }
    const struct finding *finding = find(FINDING_NO_GRAD);
    ck_assert_ptr_nonnull(finding);
    ck_assert_uint_eq(report->dropped.count, 20);
    ck_assert_int_eq(finding->save_bytes, 1000);
}
END_TEST

#define RENDER(layer, line)                                                                        \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/net.py", layer) "," CALL "," PY(                                    \
        "render", "/home/u/train.py", 5) "," PY("<module>", "/home/u/train.py", line)

/* A list stores what an evaluation with autograd on returns, and so its graphs. The same function
 * calls the model in training. Without a graph, only results of the last layer stay. */
START_TEST(graphs_that_a_list_stores)
{
    static const char *const evaluation[] = {RENDER(1, 30), RENDER(2, 30), RENDER(3, 30),
                                             RENDER(4, 30), RENDER(5, 30)};
    for (uint64_t turn = 0; turn < 10; turn++)
        for (uint64_t i = 0; i < 5; i++) {
            uint64_t at = 1000 + 10 * turn + i;
            capture_event(&capture, "alloc", at, 100, evaluation[i]);
            if (_i == 1 && i > 0)
                capture_free(&capture, at - 1, 100, evaluation[i]);
        }
    capture_event(&capture, "alloc", 1, 10, CPP("at::_ops::rand::call(x)") "," SCRIPT);
    for (uint64_t i = 0; i < 5; i++)
        capture_event(&capture, "alloc", 300 + i, 900, RENDER(1, 20));
    capture_event(&capture, "alloc", 400, 10, STACK_BACKWARD);
    for (uint64_t i = 0; i < 5; i++)
        capture_free(&capture, 300 + i, 900, SAVED_DIES);
    capture_event(&capture, "alloc", 500, 10, STACK_STEP);
    const struct finding *finding = find(FINDING_NO_GRAD);
    ck_assert_int_eq(finding != NULL, _i == 0);
    if (_i == 0)
        ck_assert_uint_eq(report->dropped.count, 50);
}
END_TEST

/* The list stores the graphs of many calls before the backward pass. When memory runs out later, in
 * a call of the same line, the calls before it count, and that line is one that trains nothing. */
START_TEST(graphs_that_a_list_stores_until_memory_runs_out)
{
    static const char *const evaluation[] = {RENDER(1, 30), RENDER(2, 30), RENDER(3, 30),
                                             RENDER(4, 30), RENDER(5, 30)};
    for (uint64_t turn = 0; turn < 15; turn++) {
        if (turn == 12) {
            for (uint64_t i = 0; i < 5; i++)
                capture_event(&capture, "alloc", 300 + i, 90, layers[i]);
            capture_event(&capture, "alloc", 400, 10, STACK_BACKWARD);
            for (uint64_t i = 0; i < 5; i++)
                capture_free(&capture, 300 + i, 90, SAVED_DIES);
            capture_event(&capture, "alloc", 500, 10, STACK_STEP);
        }
        for (uint64_t i = 0; i < 10; i++)
            capture_event(&capture, "alloc", 1000 + 10 * turn + i, 100, evaluation[i % 5]);
        capture_event(&capture, "alloc", 2000 + turn, 4, CPP("at::_ops::rand::call(x)") "," SCRIPT);
    }
    capture_event(&capture, "alloc", 3000, 20, RENDER(6, 30));
    capture_event(&capture, "oom", 50, 5000, RENDER(7, 30));
    const struct finding *finding = find(FINDING_NO_GRAD);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(report->dropped.at_peak_bytes, 15 * 1000);
    ck_assert_ptr_null(strstr(finding->next, "only the call that none uses"));
}
END_TEST

/* What it makes first may belong to a backward pass with retain_graph=True through that graph. */
START_TEST(a_backward_pass_that_begins_to_free_late)
{
    distil(40);
    ck_assert_ptr_null(find(FINDING_NO_GRAD));
    ck_assert_uint_eq(report->dropped.count, 0);
}
END_TEST

/* The last evaluation is still there when the recording ends. */
START_TEST(a_graph_that_the_trace_ends_with)
{
    forward(layers);
    drop(GRAPH_DIES);
    capture_event(&capture, "alloc", 1, 100, STUDENT);
    capture_event(&capture, "alloc", 2, 100, STACK_BACKWARD);
    capture_free(&capture, 1, 100, SAVED_DIES);
    capture_event(&capture, "alloc", 3, 100, STACK_STEP);
    forward(layers);
    ck_assert_ptr_nonnull(find(FINDING_NO_GRAD));
    ck_assert_uint_eq(report->dropped.count, 20);
}
END_TEST

/* A loop over layers makes all of them with one stack. What comes after the result that the program
 * keeps is dropped at once; the rest of the graph stays, and may serve a backward pass. */
START_TEST(a_graph_whose_last_layers_are_dropped)
{
    for (uint64_t i = 0; i < 10; i++)
        capture_event(&capture, "alloc", 100 + i, 100, LAYER(1));
    for (uint64_t i = 6; i < 10; i++)
        capture_free(&capture, 100 + i, 100, GRAPH_DIES);
    capture_event(&capture, "alloc", 2, 100, STACK_BACKWARD);
    capture_event(&capture, "alloc", 3, 100, STACK_STEP);
    find(FINDING_NO_GRAD);
    ck_assert_uint_eq(report->dropped.count, 4);
}
END_TEST

/* backward(retain_graph=True) uses the graph and frees nothing of it. The loss between the model
 * and its second head is plain code, so the forward pass has two parts. */
START_TEST(a_graph_that_is_retained)
{
    forward(layers);
    capture_event(&capture, "alloc", 300, 20, SCRIPT);
    capture_event(&capture, "alloc", 301, 100, RESULT);
    capture_event(&capture, "alloc", 400, 10, STACK_BACKWARD);
    capture_event(&capture, "alloc", 500, 10, STACK_STEP);
    drop(GRAPH_DIES);
    ck_assert_ptr_null(find(FINDING_NO_GRAD));
    ck_assert_uint_eq(report->dropped.count, 0);
}
END_TEST

/* torch.autograd.grad() with create_graph=True frees nothing of the graph that it goes through. */
START_TEST(a_pass_that_is_differentiated)
{
    forward(layers);
    capture_event(&capture, "alloc", 300, 100, STACK_BACKWARD);
    drop(GRAPH_DIES);
    capture_free(&capture, 300, 100, SCRIPT);
    ck_assert_ptr_null(find(FINDING_NO_GRAD));
    ck_assert_uint_eq(report->dropped.count, 0);
}
END_TEST

/* Two passes, one for each head, go through the graph of a trunk, which is dropped after them. */
START_TEST(a_graph_that_several_passes_share)
{
    forward(layers);
    capture_event(&capture, "alloc", 300, 100, SCRIPT);
    capture_event(&capture, "alloc", 301, 10, STACK_FORWARD); /* the heads */
    for (uint64_t i = 0; i < 2; i++)
        capture_event(&capture, "alloc", 400 + i, 100, STACK_BACKWARD);
    capture_free(&capture, 301, 10, ENGINE);
    capture_event(&capture, "alloc", 500, 10, STACK_STEP);
    drop(GRAPH_DIES);
    ck_assert_ptr_null(find(FINDING_NO_GRAD));
    ck_assert_uint_eq(report->dropped.count, 0);
}
END_TEST

/* How much lower the peak is if only a graph holds what each line makes, of 100 each. */
static struct early_saving saving_of(const char *const *lines, size_t count)
{
    uint8_t category[64], is_held[64];
    struct early_saving saving;
    struct error err;
    memset(category, CATEGORY_ACTIVATION, sizeof(category));
    memset(is_held, 1, sizeof(is_held));
    const struct categories categories = {.of_lifetime = category};
    for (size_t i = 0; i < count; i++)
        capture_event(&capture, "alloc", 10 + i, 100, lines[i]);
    capture_load(&capture);
    ck_assert(early_ends_save(capture.timeline, capture.sites, &categories, is_held, NULL, &saving,
                              &err));
    return saving;
}

/* A model may keep the results of all layers, but what a layer computes on the way is local. */
START_TEST(results_of_layers_may_be_kept)
{
    const char *const lines[] = {LAYER(1), LAYER(2), LAYER(3), LAYER(1), LAYER(2), LAYER(3),
                                 LAYER(1), LAYER(2), LAYER(3), NET(21),  SCRIPT};
    struct early_saving saving = saving_of(lines, 11);
    /* At the third layer, and still when NET(21) allocates: the results of two layers, and all
     * three of a layer. Afterwards, the model has returned its last result. */
    ck_assert_int_eq(saving.least_bytes, 1100 - 500);
    ck_assert_int_eq(saving.most_bytes, 1100 - 100);
}
END_TEST

#define ONE_LINE PY("forward", "/home/u/layer.py", 1) "," CALL "," NET(20)
#define OTHER    PY("forward", "/home/u/other.py", 1) "," CALL "," NET(20)

/* The program may keep a list of the results of all layers after the model has returned. */
START_TEST(results_of_layers_may_be_kept_in_a_list)
{
    const char *const lines[] = {NET(19),  ONE_LINE, OTHER,   ONE_LINE, OTHER,
                                 ONE_LINE, OTHER,    NET(21), SCRIPT,   SCRIPT};
    ck_assert_int_eq(saving_of(lines, 10).least_bytes, 0);
}
END_TEST

#define SEQUENTIAL(file, line)                                                                     \
    PY("forward", file, line)                                                                      \
    "," CALL "," PY("forward", TORCH "nn/modules/container.py", 250) "," CALL "," NET(20)

/* Sequential passes the result of each module on to the next, and keeps none. */
START_TEST(results_in_sequential)
{
    const char *const lines[] = {
        SEQUENTIAL("/home/u/a.py", 1), SEQUENTIAL("/home/u/b.py", 1), SEQUENTIAL("/home/u/a.py", 1),
        SEQUENTIAL("/home/u/b.py", 1), SEQUENTIAL("/home/u/a.py", 1), SEQUENTIAL("/home/u/b.py", 1),
    };
    ck_assert_int_eq(saving_of(lines, 6).least_bytes, 600 - 200);
}
END_TEST

#define NORM                                                                                       \
    CPP("at::_ops::layer_norm::call(x)") "," PY("forward", "/home/u/norm.py", 1) "," LAYER(3)

/* What a line makes is an argument of the function that it calls then: norm(a + b). */
START_TEST(an_argument_is_no_result)
{
    const char *const lines[] = {LAYER(1), LAYER(3), NORM,     LAYER(1), LAYER(3),
                                 NORM,     LAYER(1), LAYER(3), NORM};
    ck_assert_int_eq(saving_of(lines, 9).least_bytes, 900 - 500);
}
END_TEST

/* Another thread has calls of its own. */
START_TEST(stacks_of_another_thread)
{
    static const char other[] = PY("run", "/usr/lib/python3.11/threading.py",
                                   1) "," PY("_bootstrap", "/usr/lib/python3.11/threading.py", 2);
    const char *const lines[] = {LAYER(1), other, LAYER(2), other, LAYER(3), other};
    ck_assert_int_eq(saving_of(lines, 6).least_bytes, 0);
}
END_TEST

/* Two layers with a cache of keys each, which a concatenation makes anew for each of four tokens.
 * Those of a token are needed while the next one is computed. */
START_TEST(a_cache_that_generation_needs)
{
    static const char concatenates[] = CPP("at::_ops::cat::call(x)") "," NET(7);
    uint8_t category[8], is_held[8];
    struct early_saving saving;
    struct error err;
    memset(category, CATEGORY_KV_CACHE, sizeof(category));
    memset(is_held, 1, sizeof(is_held));
    const struct categories categories = {.of_lifetime = category};
    for (uint64_t i = 0; i < 8; i++)
        capture_event(&capture, "alloc", 10 + i, 100 * (i / 2 + 1), concatenates);
    capture_load(&capture);
    ck_assert(early_ends_save(capture.timeline, capture.sites, &categories, is_held, NULL, &saving,
                              &err));
    ck_assert_int_eq(saving.least_bytes, 2 * (100 + 200));
}
END_TEST

/* An evaluation between training steps. */
START_TEST(an_evaluation_without_no_grad)
{
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 100, STACK_BACKWARD);
    capture_free(&capture, 1, 100, ENGINE);
    capture_event(&capture, "alloc", 3, 100, STACK_STEP);
    forward(layers);
    drop(GRAPH_DIES);
    const struct finding *finding = find(FINDING_NO_GRAD);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 450);
    ck_assert_ptr_null(find(FINDING_ACTIVATIONS));
}
END_TEST

/* The graph holds the results of a line that several layers share, not the program. */
START_TEST(layers_of_an_evaluation_without_no_grad)
{
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 100, STACK_BACKWARD);
    capture_free(&capture, 1, 100, ENGINE);
    capture_event(&capture, "alloc", 3, 100, STACK_STEP);
    for (uint64_t i = 0; i < 6; i++)
        capture_event(&capture, "alloc", 100 + i, 100, layers[i % 2]);
    for (uint64_t i = 0; i < 6; i++)
        capture_free(&capture, 100 + i, 100, GRAPH_DIES);
    ck_assert_ptr_nonnull(find(FINDING_NO_GRAD));
    ck_assert_ptr_null(find(FINDING_LAYER_RESULTS));
}
END_TEST

/* The exception ends the pass, and the program that catches it frees what the pass had saved. */
START_TEST(a_pass_that_ran_out_of_memory)
{
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 100, STACK_BACKWARD);
    capture_free(&capture, 1, 100, ENGINE);
    capture_event(&capture, "alloc", 3, 100, STACK_STEP);
    forward(layers);
    capture_event(&capture, "oom", 50, 5000, LAYER(1));
    drop(GRAPH_DIES);
    ck_assert_ptr_null(find(FINDING_NO_GRAD));
    const struct finding *finding = find(FINDING_ACTIVATIONS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 1050);
}
END_TEST

#define INFERENCE PY("inference_mode", TORCH "utils/_contextlib.py", 158) "," SCRIPT
#define SILENT    CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/net.py", 1) "," INFERENCE

START_TEST(results_under_a_decorator)
{
    for (uint64_t i = 0; i < 20; i++)
        capture_event(&capture, "alloc", 100 + i, 100, SILENT);
    ck_assert_ptr_null(find(FINDING_ACTIVATIONS));
    ck_assert_int_eq(report->findings.without_grad_bytes, 2000);
    ck_assert_int_eq(report->findings.inference_mode_bytes, 2000);
}
END_TEST

TCase *dropped_graphs_tests(void)
{
    TCase *tests = tcase_create("dropped graphs");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_graph_that_is_dropped);
    tcase_add_loop_test(tests, dropped_graphs_that_grow, 0, 2);
    tcase_add_test(tests, dropped_graphs_that_save_more_than_what_grows);
    tcase_add_loop_test(tests, dropped_graphs_under_autocast, 0, 2);
    tcase_add_test(tests, a_graph_that_is_dropped_without_cpp_frames);
    tcase_add_loop_test(tests, a_graph_of_layers_in_a_loop, 0, 2);
    tcase_add_test(tests, tensors_freed_by_the_pass_are_no_graph);
    tcase_add_test(tests, an_unused_part_of_a_training_graph);
    tcase_add_test(tests, a_graph_that_is_dropped_before_the_backward_pass);
    tcase_add_test(tests, a_graph_that_is_dropped_within_a_model_in_training);
    tcase_add_test(tests, a_graph_that_is_dropped_by_a_line_with_two_calls);
    tcase_add_test(tests, a_graph_that_the_backward_pass_leaves_alone);
    tcase_add_test(tests, a_call_that_the_backward_pass_leaves_alone);
    tcase_add_loop_test(tests, graphs_that_a_list_stores, 0, 2);
    tcase_add_test(tests, graphs_that_a_list_stores_until_memory_runs_out);
    tcase_add_test(tests, a_backward_pass_that_begins_to_free_late);
    tcase_add_test(tests, a_graph_that_the_trace_ends_with);
    tcase_add_test(tests, a_graph_whose_last_layers_are_dropped);
    tcase_add_test(tests, a_graph_that_is_retained);
    tcase_add_test(tests, a_pass_that_is_differentiated);
    tcase_add_test(tests, a_graph_that_several_passes_share);
    tcase_add_test(tests, a_cache_that_generation_needs);
    tcase_add_test(tests, results_of_layers_may_be_kept);
    tcase_add_test(tests, results_of_layers_may_be_kept_in_a_list);
    tcase_add_test(tests, results_in_sequential);
    tcase_add_test(tests, an_argument_is_no_result);
    tcase_add_test(tests, stacks_of_another_thread);
    tcase_add_test(tests, an_evaluation_without_no_grad);
    tcase_add_test(tests, layers_of_an_evaluation_without_no_grad);
    tcase_add_test(tests, a_pass_that_ran_out_of_memory);
    tcase_add_test(tests, results_under_a_decorator);
    return tests;
}
