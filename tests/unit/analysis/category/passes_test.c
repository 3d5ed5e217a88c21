/* Categories where passes interrupt one another. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

#define ACCUMULATE CPP("torch::autograd::AccumulateGrad::apply(x)") "," ENGINE
#define HOOK       PY("hook", "/home/u/train.py", 5)
#define STEP_IN_HOOK                                                                               \
    CPP("at::_ops::zeros_like::call(x)")                                                           \
    "," PY("step", TORCH "optim/adam.py", 7) "," HOOK "," ACCUMULATE
#define ZERO_IN_HOOK                                                                               \
    PY("zero_grad", TORCH "optim/optimizer.py", 9)                                                 \
    "," HOOK "," ACCUMULATE
#define REDUCE                                                                                     \
    PY("allocate", TORCH "distributed/fsdp/_fully_shard/_fsdp_collectives.py", 50) "," ENGINE
#define SAVED_DIES CPP("torch::autograd::SavedVariable::reset_data()")
#define NODE_DIES  CPP("torch::autograd::Node::~Node()")
#define STACK_INIT                                                                                 \
    CPP("at::_ops::empty::call(x)") "," PY("__init__", TORCH "nn/modules/linear.py", 90) "," SCRIPT
#define NORM CPP("at::_ops::linalg_vector_norm::call(x)") "," SCRIPT

static void expect(uint64_t addr, enum category category)
{
    uint8_t reason;
    enum category found = capture_category_why(&capture, addr, &reason);
    ck_assert_msg(found == category, "%d: %s: %s", (int)addr, category_name(found),
                  reason_name(reason));
}

/* Two parameters; a hook of each steps an optimizer of its own as soon as the gradient is there. */
static void step_in_hooks(const char *node, const char *step, const char *zero_grad,
                          const char *end)
{
    born(1, 100, STACK_FORWARD);
    born(2, 200, STACK_FORWARD);
    born(3, 300, node);
    for (unsigned i = 0; i < 2; i++) {
        born(10 + i, 1000 + i, node); /* the gradient */
        born(20 + i, 1000 + i, step); /* the state */
        born(30 + i, 1000 + i, step);
        freed(30 + i, 1000 + i, step);
        freed(10 + i, 1000 + i, zero_grad);
    }
    born(4, 400, node);
    freed(3, 300, end);
    freed(2, 200, end);
    freed(1, 100, end);
}

static void expect_step_in_hooks(void)
{
    expect(3, CATEGORY_AUTOGRAD_DETAIL); /* the optimizers did not end the pass */
    expect(11, CATEGORY_GRADIENT);
    expect(21, CATEGORY_OPTIMIZER_STATE);
    expect(31, CATEGORY_TEMPORARY);
}

START_TEST(an_optimizer_may_step_in_a_hook)
{
    step_in_hooks(STACK_BACKWARD, STEP_IN_HOOK, ZERO_IN_HOOK, ENGINE);
    capture_load(&capture);
    expect_step_in_hooks();
}
END_TEST

START_TEST(after_the_hook_a_thread_without_python_goes_on)
{
    step_in_hooks("", PY("step", TORCH "optim/adam.py", 7) "," HOOK,
                  PY("zero_grad", TORCH "optim/optimizer.py", 9) "," HOOK, "");
    capture_load(&capture);
    expect_step_in_hooks();
}
END_TEST

START_TEST(python_of_torch_alone_may_be_a_thread_of_autograd)
{
    born(1, 100, PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT);
    born(2, 300, "");
    for (unsigned i = 0; i < 20; i++) /* more than a hook usually makes */
        born(10 + i, 400, PY("route", TORCH "_native/registry.py", 1145));
    born(3, 300, "");
    for (unsigned i = 0; i < 20; i++)
        freed(10 + i, 400, "");
    freed(2, 300, "");
    freed(1, 100, "");
    born(4, 5, SCRIPT);
    capture_load(&capture);
    expect(2, CATEGORY_AUTOGRAD_DETAIL);
    expect(3, CATEGORY_GRADIENT);
    expect(10, CATEGORY_AUTOGRAD_DETAIL);
}
END_TEST

START_TEST(a_pass_may_be_recorded_for_a_later_one)
{
    born(1, 100, STACK_FORWARD);
    born(2, 1000, STACK_BACKWARD); /* autograd.grad(create_graph=True) */
    born(3, 1000, STACK_BACKWARD);
    born(4, 100, NORM);         /* the penalty */
    born(7, 8, STACK_BACKWARD); /* the gradient of the loss */
    born(5, 1000, STACK_BACKWARD);
    freed(7, 8, ENGINE);
    freed(4, 100, ENGINE);
    freed(2, 1000, SAVED_DIES "," ENGINE);
    freed(1, 100, ENGINE);
    born(6, 16, STACK_STEP);
    freed(5, 1000, PY("zero_grad", TORCH "optim/optimizer.py", 9) "," SCRIPT);
    freed(3, 1000, SCRIPT);
    capture_load(&capture);
    expect(2, CATEGORY_ACTIVATION);
    expect(3, CATEGORY_GRADIENT);
    expect(5, CATEGORY_GRADIENT);
}
END_TEST

/* What a pass leaves may be freed by autograd's thread, which holds its results, in the next one.
 */
START_TEST(a_thread_may_hold_gradients)
{
    born(1, 100, STACK_FORWARD);
    born(2, 1000, STACK_BACKWARD); /* autograd.grad(retain_graph=True) */
    born(3, 2000, STACK_BACKWARD);
    born(4, 3000, NORM);
    born(7, 8, STACK_BACKWARD); /* the gradient of the other loss */
    freed(2, 1000, ENGINE);
    born(5, 1000, STACK_BACKWARD);
    freed(7, 8, ENGINE);
    freed(1, 100, ENGINE);
    born(6, 16, STACK_STEP);
    freed(4, 3000, SCRIPT);
    freed(5, 1000, SCRIPT);
    freed(3, 2000, SCRIPT);
    capture_load(&capture);
    expect(2, CATEGORY_GRADIENT);
    expect(3, CATEGORY_GRADIENT);
}
END_TEST

#define PYTHON_FORWARD PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT
#define PYTHON_ROOT    PY("_make_grads", TORCH "autograd/__init__.py", 233) "," SCRIPT

/* A pass of a thread of autograd, of which Python shows only the gradient of the loss. It leaves
 * the outputs at `first` and `first` + 1. */
static void thread_pass(uint64_t first)
{
    born(90, 8, PYTHON_ROOT);
    born(first, 1000, "");
    born(first + 1, 1000, "");
    freed(90, 8, "");
}

START_TEST(python_stacks_suffice_to_find_a_recorded_pass)
{
    born(1, 500, PYTHON_FORWARD);
    thread_pass(10); /* it frees nothing that was saved */
    born(2, 100, SCRIPT);
    born(3, 1000, SCRIPT); /* an inner step, on the way to the next loss */
    born(4, 500, PYTHON_FORWARD);
    thread_pass(20);
    born(30, 1000, "");
    freed(4, 500, "");
    freed(3, 1000, "");
    freed(2, 100, "");
    freed(10, 1000, "");
    freed(1, 500, "");
    born(6, 16, PY("step", TORCH "optim/adam.py", 7) "," SCRIPT);
    freed(11, 1000, SCRIPT);
    capture_load(&capture);
    expect(10, CATEGORY_ACTIVATION);
    expect(3, CATEGORY_ACTIVATION);
    expect(20, CATEGORY_GRADIENT);
    expect(30, CATEGORY_GRADIENT);
}
END_TEST

/* Each pass retains the graph, and the program drops it: a Newton step with Hessian-vector
 * products. What has the size of no weight was saved by autograd.grad(create_graph=True). */
START_TEST(a_graph_that_no_pass_frees_keeps_what_the_pass_saved)
{
    capture_block(&capture, 99, 1000, "");
    for (unsigned i = 0; i < 2; i++) {
        born(1, 500, PYTHON_FORWARD);
        born(2, 300, PYTHON_FORWARD);
        born(90, 8, PYTHON_ROOT);
        born(3, 300, ""); /* saved */
        born(4, 1000, "");
        freed(90, 8, "");
        born(5, 16, SCRIPT);
        freed(5, 16, SCRIPT);
        if (i == 1)
            break;
        for (uint64_t addr = 1; addr <= 4; addr++)
            freed(addr, (const uint64_t[]){500, 300, 300, 1000}[addr - 1], SCRIPT);
    }
    capture_load(&capture);
    expect(3, CATEGORY_ACTIVATION);
    expect(4, CATEGORY_GRADIENT);
}
END_TEST

/* FSDP2: the gradients of a rank are views of the buffer that a reduce-scatter fills. */
START_TEST(a_buffer_that_zero_grad_frees_holds_gradients)
{
    for (unsigned i = 0; i < 2; i++) {
        born(1, 500, STACK_FORWARD);
        born(2, 800, REDUCE);
        born(3 + 10 * i, 400, REDUCE); /* the trace ends before the second one is freed */
        freed(1, 500, ENGINE);
        freed(2, 800, ENGINE);
        born(4, 16, STACK_STEP);
        freed(4, 16, STACK_STEP);
        if (i == 0)
            freed(3, 400, PY("zero_grad", TORCH "optim/optimizer.py", 9) "," SCRIPT);
    }
    capture_load(&capture);
    expect(2, CATEGORY_COMMUNICATION);
    expect(3, CATEGORY_GRADIENT);
    expect(13, CATEGORY_GRADIENT);
}
END_TEST

/* torch.nn.DataParallel sends the batch and the weights to the other devices in its forward(). */
START_TEST(replicas_are_no_activations)
{
#define PARALLEL(name, line)                                                                       \
    PY(name, TORCH "nn/parallel/comm.py", line)                                                    \
    "," PY("forward", TORCH "nn/parallel/_functions.py", 20) "," CALL "," SCRIPT
    for (unsigned step = 0; step < 2; step++) {
        born(1, 300, CPP("at::_ops::_to_copy::call(x)") "," PARALLEL("scatter", 209));
        born(2, 800, CPP("at::_ops::empty::call(x)") "," PARALLEL("broadcast_coalesced", 67));
        born(3, 500, STACK_FORWARD);
        freed(3, 500, ENGINE);
        freed(2, 800, SCRIPT);
        freed(1, 300, SCRIPT);
    }
    capture_load(&capture);
    expect(1, CATEGORY_INPUT);
    expect(2, CATEGORY_COMMUNICATION);
    expect(3, CATEGORY_ACTIVATION);
}
END_TEST

START_TEST(a_thread_may_drop_the_last_graph_when_the_next_pass_begins)
{
    for (uint64_t i = 0; i < 3; i++) {
        born(1, 500, PYTHON_FORWARD);
        thread_pass(10 + 2 * i); /* gradients of each sample, by torch.func */
        if (i > 0)
            freed(11, 1000, SCRIPT);
        freed(1, 500, SCRIPT);
    }
    capture_load(&capture);
    expect(12, CATEGORY_GRADIENT);
}
END_TEST

#define OTHER_NODE                                                                                 \
    CPP("at::_ops::mul::call(x)")                                                                  \
    "," CPP("torch::autograd::generated::MulBackward0::apply(x)") "," ENGINE
#define NODE_ENDS CPP("torch::autograd::generated::MmBackward0::apply(x)") "," ENGINE

/* Layers that are alike have nodes of the same name. */
START_TEST(a_later_node_of_the_same_name_is_another)
{
    born(1, 300, STACK_FORWARD);
    born(2, 500, STACK_BACKWARD);
    born(3, 600, STACK_BACKWARD);
    freed(3, 600, NODE_ENDS);
    born(4, 500, OTHER_NODE);
    freed(2, 500, NODE_ENDS);
    freed(4, 500, NODE_ENDS);
    freed(1, 300, NODE_ENDS);
    capture_load(&capture);
    expect(2, CATEGORY_AUTOGRAD_DETAIL);
    expect(3, CATEGORY_TEMPORARY);
}
END_TEST

#define OWN_ENDS PY("backward", "/home/u/train.py", 6) "," ENGINE

/* The backward() of a function may solve an equation again, whose states are no gradients. */
START_TEST(a_function_may_compute_anything_in_its_backward_pass)
{
    const char *own = CPP("at::_ops::sub_Tensor::call(x)") "," PY(
        "backward", "/home/u/train.py", 5) "," CPP("torch::autograd::PyNode::apply(x)") "," ENGINE;
    born(1, 300, STACK_FORWARD);
    born(2, 500, STACK_BACKWARD);
    born(3, 500, own);
    born(4, 700, STACK_BACKWARD);
    freed(2, 500, ENGINE);
    freed(3, 500, OWN_ENDS);
    freed(4, 700, ENGINE);
    freed(1, 300, ENGINE);
    capture_load(&capture);
    capture_expect(&capture, 2, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_HIGH);
    capture_expect(&capture, 3, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_MEDIUM);
}
END_TEST

#define TRANSFORM(line)                                                                            \
    PY("grad_and_value_impl", TORCH "_functorch/eager_transforms.py", line)                        \
    "," PY("fn", TORCH "_functorch/vmap.py", 56) "," SCRIPT
#define FUNCTION       PY("loss", "/home/u/train.py", 3) "," TRANSFORM(1492)
#define TRANSFORM_PASS PY("_make_grads", TORCH "autograd/__init__.py", 233) "," TRANSFORM(1518)

/* torch.func.grad() in Python stacks: main frees a little, and the thread the graph, in which the
 * pass has saved something. */
START_TEST(a_transform_computes_gradients_of_a_function)
{
    born(1, 1000, SCRIPT); /* the weight */
    for (uint64_t step = 0; step < 2; step++) {
        born(2, 300, FUNCTION);
        born(3, 8, TRANSFORM_PASS);
        born(4, 500, "");
        born(6, 600, "");
        freed(6, 600, "");
        born(10 + step, 1000, "");
        freed(3, 8, TRANSFORM(1518));
        freed(4, 500, "");
        freed(2, 300, "");
        born(5, 1000, SCRIPT);
        freed(5, 1000, SCRIPT);
        freed(10 + step, 1000, SCRIPT);
    }
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER);
    expect(2, CATEGORY_ACTIVATION);
    expect(4, CATEGORY_ACTIVATION);
    expect(6, CATEGORY_TEMPORARY);
    expect(10, CATEGORY_GRADIENT);
}
END_TEST

/* The main program goes on before a thread of autograd drops the graph of the pass. C++ frames show
 * that the pass has saved nothing in it. */
static void drop_late(const char *backward, const char *thread, enum category dropped)
{
    born(1, 1000, SCRIPT);
    for (uint64_t step = 0; step < 2; step++) {
        born(2, 300, FUNCTION);
        born(3, 8, TRANSFORM_PASS);
        born(4, 500, backward);
        born(5, 1000, backward);
        for (uint64_t i = 20; i < 30; i++)
            born(i, 1000 + i, PY("update", "/home/u/train.py", 5) "," SCRIPT);
        freed(4, 500, thread);
        freed(2, 300, thread);
        freed(3, 8, thread);
        for (uint64_t i = 20; i < 30; i++)
            freed(i, 1000 + i, PY("update", "/home/u/train.py", 5) "," SCRIPT);
        freed(5, 1000, SCRIPT);
    }
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER);
    expect(4, dropped);
    expect(5, CATEGORY_GRADIENT);
}

START_TEST(a_thread_may_drop_a_graph_late)
{
    drop_late(STACK_BACKWARD, ENGINE, CATEGORY_AUTOGRAD_DETAIL);
}
END_TEST

START_TEST(a_thread_without_stacks_may_drop_a_graph_late)
{
    drop_late("", "", CATEGORY_ACTIVATION);
}
END_TEST

/* A program without autograd holds each gradient until the next one replaces it. */
START_TEST(a_gradient_that_the_next_one_replaces_counts_once)
{
    born(1, 1000, SCRIPT);
    born(2, 1000, SCRIPT); /* its momentum */
    for (uint64_t step = 0; step < 3; step++) {
        born(3, 300, PY("forward", "/home/u/net.py", 3) "," SCRIPT);
        born(10 + step, 1000, PY("backward", "/home/u/net.py", 5) "," SCRIPT);
        if (step > 0)
            freed(9 + step, 1000, PY("backward", "/home/u/net.py", 5) "," SCRIPT);
        freed(3, 300, PY("backward", "/home/u/net.py", 6) "," SCRIPT);
        born(4, 16, STACK_STEP);
        freed(4, 16, STACK_STEP);
    }
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER);
    expect(2, CATEGORY_OPTIMIZER_STATE);
    expect(11, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(memory_may_run_out_in_a_backward_pass)
{
    born(1, 1000, SCRIPT);
    born(2, 300, STACK_FORWARD);
    born(3, 500, STACK_BACKWARD); /* the gradient of the loss's input */
    born(4, 1000, STACK_BACKWARD);
    capture_event(&capture, "oom", 0, 9999, STACK_BACKWARD);
    capture_load(&capture);
    expect(2, CATEGORY_ACTIVATION);
    expect(3, CATEGORY_AUTOGRAD_DETAIL);
    expect(4, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(what_a_graph_saved_is_no_gradient)
{
    born(1, 100, STACK_FORWARD);
    born(2, 1000, STACK_BACKWARD); /* saved by autograd.grad(create_graph=True) */
    born(3, 1000, STACK_BACKWARD); /* saved, and used by the same pass */
    freed(3, 1000, SAVED_DIES "," ENGINE);
    born(4, 1000, STACK_BACKWARD); /* .grad of a tensor that a node keeps */
    freed(1, 100, ENGINE);
    born(5, 16, STACK_STEP);
    freed(2, 1000, SAVED_DIES "," NODE_DIES "," SCRIPT); /* no backward pass came */
    freed(4, 1000, NODE_DIES "," SCRIPT);
    capture_load(&capture);
    expect(2, CATEGORY_ACTIVATION);
    expect(3, CATEGORY_ACTIVATION);
    expect(4, CATEGORY_GRADIENT);
}
END_TEST

/* Weights have the sizes 1000 and 2000. A pass leaves a gradient and another tensor, which may be
 * saved for torch.autograd.grad(). */
START_TEST(what_has_the_size_of_no_weight_is_a_doubtful_gradient)
{
    born(10, 1000, STACK_INIT);
    born(11, 2000, STACK_INIT);
    born(1, 100, STACK_FORWARD);
    born(2, 1000, STACK_BACKWARD);
    born(3, 700, STACK_BACKWARD);
    freed(1, 100, ENGINE);
    born(5, 16, STACK_STEP);
    born(6, 100, STACK_FORWARD);
    freed(3, 700, SCRIPT);
    freed(2, 1000, SCRIPT);
    capture_load(&capture);
    capture_expect(&capture, 2, CATEGORY_GRADIENT, CONFIDENCE_HIGH);
    capture_expect(&capture, 3, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

TCase *category_passes_tests(void)
{
    TCase *tests = tcase_create("categories where passes interrupt one another");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, an_optimizer_may_step_in_a_hook);
    tcase_add_test(tests, after_the_hook_a_thread_without_python_goes_on);
    tcase_add_test(tests, python_of_torch_alone_may_be_a_thread_of_autograd);
    tcase_add_test(tests, a_pass_may_be_recorded_for_a_later_one);
    tcase_add_test(tests, a_thread_may_hold_gradients);
    tcase_add_test(tests, python_stacks_suffice_to_find_a_recorded_pass);
    tcase_add_test(tests, a_graph_that_no_pass_frees_keeps_what_the_pass_saved);
    tcase_add_test(tests, a_buffer_that_zero_grad_frees_holds_gradients);
    tcase_add_test(tests, replicas_are_no_activations);
    tcase_add_test(tests, a_thread_may_drop_the_last_graph_when_the_next_pass_begins);
    tcase_add_test(tests, a_later_node_of_the_same_name_is_another);
    tcase_add_test(tests, a_function_may_compute_anything_in_its_backward_pass);
    tcase_add_test(tests, a_transform_computes_gradients_of_a_function);
    tcase_add_test(tests, a_thread_may_drop_a_graph_late);
    tcase_add_test(tests, a_thread_without_stacks_may_drop_a_graph_late);
    tcase_add_test(tests, a_gradient_that_the_next_one_replaces_counts_once);
    tcase_add_test(tests, memory_may_run_out_in_a_backward_pass);
    tcase_add_test(tests, what_a_graph_saved_is_no_gradient);
    tcase_add_test(tests, what_has_the_size_of_no_weight_is_a_doubtful_gradient);
    return tests;
}
