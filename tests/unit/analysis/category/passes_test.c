/* Categories where passes interrupt one another, and where plain code does a phase's work. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define ACCUMULATE CPP("torch::autograd::AccumulateGrad::apply(x)") "," ENGINE
#define HOOK       PY("hook", "/home/u/train.py", 5)
#define STEP_IN_HOOK                                                                               \
    CPP("at::_ops::zeros_like::call(x)")                                                           \
    "," PY("step", TORCH "optim/adam.py", 7) "," HOOK "," ACCUMULATE
#define ZERO_IN_HOOK                                                                               \
    PY("zero_grad", TORCH "optim/optimizer.py", 9)                                                 \
    "," HOOK "," ACCUMULATE
#define SAVED_DIES CPP("torch::autograd::SavedVariable::reset_data()")
#define NODE_DIES  CPP("torch::autograd::Node::~Node()")
#define NORM       CPP("at::_ops::linalg_vector_norm::call(x)") "," SCRIPT

static struct capture capture;

static void create(void)
{
    capture_init(&capture);
}

static void destroy(void)
{
    capture_release(&capture);
}

static void born(uint64_t addr, uint64_t size, const char *frames)
{
    capture_event(&capture, "alloc", addr, size, frames);
}

static void freed(uint64_t addr, uint64_t size, const char *frames)
{
    capture_free(&capture, addr, size, frames);
}

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

#define TRANSFORM(line)                                                                            \
    PY("grad_and_value_impl", TORCH "_functorch/eager_transforms.py", line)                        \
    "," PY("fn", TORCH "_functorch/vmap.py", 56) "," SCRIPT
#define FUNCTION       PY("loss", "/home/u/train.py", 3) "," TRANSFORM(1492)
#define TRANSFORM_PASS PY("_make_grads", TORCH "autograd/__init__.py", 233) "," TRANSFORM(1518)

/* torch.func.grad() in Python stacks: main frees a little, and the thread the graph. */
START_TEST(a_transform_computes_gradients_of_a_function)
{
    born(1, 1000, SCRIPT); /* the weight */
    for (uint64_t step = 0; step < 2; step++) {
        born(2, 300, FUNCTION);
        born(3, 8, TRANSFORM_PASS);
        born(4, 500, "");
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
    expect(4, CATEGORY_AUTOGRAD_DETAIL);
    expect(10, CATEGORY_GRADIENT);
}
END_TEST

/* The main program goes on before a thread of autograd drops the graph of the pass. */
static void drop_late(const char *backward, const char *thread)
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
    expect(4, CATEGORY_AUTOGRAD_DETAIL);
    expect(5, CATEGORY_GRADIENT);
}

START_TEST(a_thread_may_drop_a_graph_late)
{
    drop_late(STACK_BACKWARD, ENGINE);
}
END_TEST

START_TEST(a_thread_without_stacks_may_drop_a_graph_late)
{
    drop_late("", "");
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

START_TEST(plain_code_between_modules_is_saved)
{
    born(1, 100, SCRIPT); /* a batch */
    born(2, 200, STACK_FORWARD);
    born(3, 300, STACK_LOSS); /* computed of the first model's result */
    born(4, 400, STACK_LOSS); /* prepared for the second model */
    born(5, 200, STACK_FORWARD);
    born(6, 1000, STACK_BACKWARD);
    freed(5, 200, SAVED_DIES "," ENGINE);
    freed(3, 300, SAVED_DIES "," ENGINE);
    freed(2, 200, SAVED_DIES "," ENGINE);
    freed(1, 100, SAVED_DIES "," ENGINE);
    freed(4, 400, ENGINE);
    capture_load(&capture);
    expect(1, CATEGORY_INPUT);
    expect(3, CATEGORY_ACTIVATION);
    expect(4, CATEGORY_INPUT);
}
END_TEST

/* backward(retain_graph=True) frees nothing; the graph dies when its loss is computed anew. */
START_TEST(plain_code_between_modules_is_saved_by_a_retained_graph)
{
    for (uint64_t step = 0; step < 2; step++) {
        uint64_t next = 10 * step;
        born(next + 2, 200, STACK_FORWARD);
        born(next + 3, 300, STACK_LOSS);
        born(next + 5, 200, STACK_FORWARD);
        if (step > 0) {
            freed(5, 200, SAVED_DIES "," SCRIPT);
            freed(3, 300, SAVED_DIES "," SCRIPT);
            freed(2, 200, SAVED_DIES "," SCRIPT);
        }
        born(next + 6, 1000, STACK_BACKWARD);
    }
    capture_load(&capture);
    expect(3, CATEGORY_ACTIVATION);
}
END_TEST

/* The loss of two results: what the backward pass frees shows that it belongs to the forward. */
START_TEST(the_loss_is_no_input)
{
    for (unsigned step = 0; step < 2; step++) {
        born(1, 100, SCRIPT); /* a batch */
        born(2, 200, STACK_FORWARD);
        if (step > 0)
            freed(3, 300, SCRIPT);
        born(3, 300, STACK_LOSS); /* held by a variable */
        born(4, 400, STACK_LOSS);
        born(5, 1000, STACK_BACKWARD);
        freed(4, 400, ENGINE);
        freed(2, 200, ENGINE);
        freed(1, 100, SCRIPT);
    }
    capture_load(&capture);
    expect(1, CATEGORY_INPUT);
    expect(3, CATEGORY_ACTIVATION);
    expect(4, CATEGORY_ACTIVATION);
}
END_TEST

START_TEST(gradients_are_added_up_in_plain_code)
{
    capture_block(&capture, 90, 1000, "");
    for (unsigned pass = 0; pass < 2; pass++) {
        born(1, 100, STACK_FORWARD);
        born(2, 1000, STACK_BACKWARD);
        freed(1, 100, ENGINE);
        if (pass == 0) {
            born(3, 2000, SCRIPT); /* in fp32, until zero_grad frees it */
            born(4, 2000, SCRIPT); /* until plain code frees it after the step */
        }
        freed(2, 1000, SCRIPT);
    }
    born(5, 16, STACK_STEP);
    freed(5, 16, STACK_STEP);
    freed(3, 2000, PY("zero_grad", TORCH "optim/optimizer.py", 960) "," SCRIPT);
    freed(4, 2000, SCRIPT);
    capture_load(&capture);
    expect(3, CATEGORY_GRADIENT);
    expect(4, CATEGORY_GRADIENT);
}
END_TEST

#define CAT CPP("at::_ops::cat::call(x)") "," SCRIPT

START_TEST(gradients_may_be_joined_in_one_vector)
{
    born(1, 100, STACK_FORWARD);
    born(10, 8192, STACK_BACKWARD); /* of a head */
    born(11, 6144, STACK_BACKWARD);
    born(12, 4096, STACK_BACKWARD);
    freed(1, 100, ENGINE);
    born(20, 6144 + 4096, CAT); /* of the layers that several heads share */
    born(21, 9999, CAT);
    freed(12, 4096, SCRIPT);
    freed(11, 6144, SCRIPT);
    born(2, 100, STACK_FORWARD);
    freed(21, 9999, SCRIPT);
    freed(20, 6144 + 4096, SCRIPT);
    born(13, 8192, STACK_BACKWARD);
    freed(2, 100, ENGINE);
    born(22, 6144 + 4096, CAT); /* the size is known now */
    born(3, 100, STACK_FORWARD);
    freed(22, 6144 + 4096, SCRIPT);
    capture_load(&capture);
    expect(20, CATEGORY_GRADIENT);
    expect(21, CATEGORY_INPUT);
    expect(22, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(gradients_may_be_copied_for_the_step)
{
    capture_block(&capture, 90, 1000, "");
    born(1, 100, STACK_FORWARD);
    born(2, 1000, STACK_BACKWARD);
    freed(1, 100, ENGINE);
    born(3, 2000, SCRIPT); /* in fp32 */
    born(4, 3000, SCRIPT); /* not of a gradient's size */
    born(5, 16, STACK_STEP);
    freed(3, 2000, SCRIPT);
    freed(4, 3000, SCRIPT);
    capture_load(&capture);
    expect(3, CATEGORY_GRADIENT);
    expect(4, CATEGORY_UNKNOWN);
    expect(90, CATEGORY_PARAMETER); /* its gradient is the pass's */
}
END_TEST

START_TEST(an_update_may_need_other_sizes_in_between)
{
    born(1, 100, STACK_FORWARD);
    born(2, 1000, STACK_BACKWARD);
    born(3, 1200, STACK_BACKWARD);
    freed(1, 100, ENGINE);
    for (unsigned i = 0; i < 2; i++) {
        born(10 + i, 1000 + 200 * i, SCRIPT); /* momentum */
        born(20 + i, 90000, SCRIPT);
        freed(20 + i, 90000, SCRIPT);
    }
    born(4, 50, STACK_FORWARD);
    capture_load(&capture);
    expect(10, CATEGORY_OPTIMIZER_STATE);
    expect(11, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(zero_grad_may_free_a_batch)
{
    for (uint64_t i = 0; i < 2; i++) {
        born(1 + i, 5000, CPP("at::_ops::_to_copy::call(x)") "," SCRIPT);
        born(10, 100, STACK_FORWARD);
        if (i > 0) /* the sparse gradient refers to the indices */
            freed(1, 5000, PY("zero_grad", TORCH "optim/optimizer.py", 9) "," SCRIPT);
        born(20 + i, 300, STACK_BACKWARD);
        freed(10, 100, ENGINE);
        born(30 + i, 16, STACK_STEP);
    }
    capture_load(&capture);
    expect(1, CATEGORY_INPUT);
}
END_TEST

START_TEST(buffers_of_plain_code_are_inputs)
{
    born(1, 7000, SCRIPT); /* filled in later; no gradient has its size */
    born(2, 1000, SCRIPT);
    for (unsigned step = 0; step < 2; step++) {
        born(10 + step, 700, SCRIPT);
        if (step > 0)
            freed(9 + step, 700, SCRIPT);
        born(20 + step, 800, SCRIPT); /* such a block is never freed */
        born(3, 100, STACK_FORWARD);
        born(30 + step, 1000, STACK_BACKWARD);
        freed(3, 100, ENGINE);
    }
    capture_load(&capture);
    expect(1, CATEGORY_INPUT);
    expect(2, CATEGORY_PARAMETER);
    expect(10, CATEGORY_INPUT);
    expect(11, CATEGORY_INPUT); /* never freed, but others of its size are */
    expect(21, CATEGORY_UNKNOWN);
}
END_TEST

/* A variable holds what the script computes between two modules until the next iteration. */
static void pass_in_two_parts(uint64_t between, const char *freed_by)
{
    born(1, 100, STACK_FORWARD);
    born(between, 500, CPP("at::_ops::stack::call(x)") "," SCRIPT);
    if (between > 50)
        freed(between - 1, 500, SCRIPT);
    born(3, 300, STACK_FORWARD);
    born(4, 400, STACK_BACKWARD);
    born(6, 600, STACK_BACKWARD);
    freed(3, 300, ENGINE);
    freed(6, 600, ENGINE);
    freed(1, 100, freed_by);
    born(5, 50, STACK_STEP);
    freed(5, 50, STACK_STEP);
    freed(4, 400, SCRIPT);
}

START_TEST(code_between_parts_of_a_forward_computes)
{
    for (unsigned step = 0; step < 3; step++)
        pass_in_two_parts(50 + step, ENGINE);
    capture_load(&capture);
    expect(51, CATEGORY_ACTIVATION);
}
END_TEST

/* As after rollouts, which keep nothing for a backward pass. */
START_TEST(code_after_another_forward_makes_a_batch)
{
    for (unsigned step = 0; step < 3; step++)
        pass_in_two_parts(50 + step, SCRIPT);
    capture_load(&capture);
    expect(51, CATEGORY_INPUT);
}
END_TEST

/* Other code updates the weight and draws a batch; the latter has another size. */
START_TEST(a_batch_may_follow_an_update)
{
    born(2, 400, SCRIPT);
    for (unsigned step = 0; step < 3; step++) {
        born(1, 100, STACK_FORWARD);
        born(4, 400, STACK_BACKWARD);
        freed(1, 100, ENGINE);
        for (unsigned i = 0; i < 3; i++) {
            born(7 + i, 400, CPP("at::_ops::mul::call(x)") "," SCRIPT);
            freed(7 + i, 400, SCRIPT);
        }
        born(50 + step, 90, CPP("at::_ops::randn::call(x)") "," SCRIPT);
        born(6, 400, CPP("at::_ops::mul::call(x)") "," SCRIPT);
        if (step > 0)
            freed(49 + step, 90, SCRIPT);
        freed(6, 400, SCRIPT);
        freed(4, 400, SCRIPT);
    }
    capture_load(&capture);
    expect(7, CATEGORY_TEMPORARY);
    expect(51, CATEGORY_INPUT);
}
END_TEST

/* As for gradients of several losses that are not to conflict. */
START_TEST(a_script_may_join_gradients_between_passes)
{
    for (unsigned step = 0; step < 2; step++) {
        born(1, 100, STACK_FORWARD);
        born(2, 200, STACK_FORWARD);
        born(10, 3000, STACK_BACKWARD);
        born(11, 2000, STACK_BACKWARD);
        freed(2, 200, ENGINE);
        born(12, 5000, CPP("at::_ops::cat::call(x)") "," SCRIPT);
        born(13, 700, STACK_BACKWARD);
        born(14, 800, STACK_BACKWARD);
        freed(1, 100, ENGINE);
        born(5, 50, STACK_STEP);
        freed(5, 50, STACK_STEP);
        for (unsigned i = 10; i < 15; i++)
            freed(i,
                  i == 10   ? 3000
                  : i == 11 ? 2000
                  : i == 12 ? 5000
                  : i == 13 ? 700
                            : 800,
                  SCRIPT);
    }
    capture_load(&capture);
    expect(12, CATEGORY_GRADIENT);
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
    tcase_add_test(tests, a_thread_may_drop_the_last_graph_when_the_next_pass_begins);
    tcase_add_test(tests, a_transform_computes_gradients_of_a_function);
    tcase_add_test(tests, a_thread_may_drop_a_graph_late);
    tcase_add_test(tests, a_thread_without_stacks_may_drop_a_graph_late);
    tcase_add_test(tests, a_gradient_that_the_next_one_replaces_counts_once);
    tcase_add_test(tests, memory_may_run_out_in_a_backward_pass);
    tcase_add_test(tests, what_a_graph_saved_is_no_gradient);
    tcase_add_test(tests, plain_code_between_modules_is_saved);
    tcase_add_test(tests, plain_code_between_modules_is_saved_by_a_retained_graph);
    tcase_add_test(tests, the_loss_is_no_input);
    tcase_add_test(tests, gradients_are_added_up_in_plain_code);
    tcase_add_test(tests, gradients_may_be_joined_in_one_vector);
    tcase_add_test(tests, gradients_may_be_copied_for_the_step);
    tcase_add_test(tests, an_update_may_need_other_sizes_in_between);
    tcase_add_test(tests, zero_grad_may_free_a_batch);
    tcase_add_test(tests, buffers_of_plain_code_are_inputs);
    tcase_add_test(tests, code_between_parts_of_a_forward_computes);
    tcase_add_test(tests, code_after_another_forward_makes_a_batch);
    tcase_add_test(tests, a_batch_may_follow_an_update);
    tcase_add_test(tests, a_script_may_join_gradients_between_passes);
    return tests;
}
