/* Categories of memory allocated in the trace. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

static void born(uint64_t addr, const char *frames)
{
    capture_event(&capture, "alloc", addr, addr, frames);
}

static void freed(uint64_t addr, const char *frames)
{
    capture_free(&capture, addr, addr, frames);
}

static void expect(uint64_t addr, enum category category)
{
    enum category found = capture_category(&capture, addr);
    ck_assert_msg(found == category, "%d: %s", (int)addr, category_name(found));
}

START_TEST(one_training_step)
{
    born(1, STACK_FORWARD); /* lives into backward */
    born(2, STACK_FORWARD); /* scratch of the forward */
    freed(2, STACK_FORWARD);
    born(3, STACK_LOSS); /* saved by the loss */
    born(4, STACK_LOSS);
    freed(4, STACK_LOSS);
    born(5, STACK_LOSS);     /* the loss itself: kept by the script */
    born(6, STACK_BACKWARD); /* becomes .grad */
    born(7, STACK_BACKWARD); /* on its way between nodes */
    freed(7, ENGINE);
    born(8, STACK_BACKWARD); /* inside an operator */
    freed(8, CPP("at::_ops::mm::call(x)") "," ENGINE);
    born(9, STACK_BACKWARD); /* inside its own node */
    freed(9, CPP("torch::autograd::generated::MmBackward0::apply(x)") "," ENGINE);
    freed(1, CPP("torch::autograd::generated::ExpBackward0::apply(x)") "," ENGINE);
    freed(3, ENGINE);
    born(10, STACK_STEP); /* made lazily in the first step */
    born(11, STACK_STEP);
    freed(11, STACK_STEP);
    freed(5, SCRIPT);
    capture_load(&capture);
    expect(1, CATEGORY_ACTIVATION);
    expect(2, CATEGORY_TEMPORARY);
    expect(3, CATEGORY_ACTIVATION);
    expect(4, CATEGORY_TEMPORARY);
    expect(5, CATEGORY_ACTIVATION);
    expect(6, CATEGORY_GRADIENT);
    expect(7, CATEGORY_AUTOGRAD_DETAIL);
    expect(8, CATEGORY_TEMPORARY);
    expect(9, CATEGORY_TEMPORARY);
    expect(10, CATEGORY_OPTIMIZER_STATE);
    expect(11, CATEGORY_TEMPORARY);
}
END_TEST

START_TEST(stacks_of_python_alone)
{
    born(1, PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT);
    born(2, PY("_make_grads", TORCH "autograd/__init__.py", 231) "," SCRIPT);
    born(3, ""); /* autograd's threads have no Python stack */
    born(4, "");
    born(6, "");
    freed(4, ""); /* its successor is there: passed on */
    born(7, "");
    freed(7, ""); /* nothing came of it: scratch */
    freed(1, "");
    freed(2, "");
    freed(6, "");
    born(5, STACK_STEP);
    capture_load(&capture);
    expect(1, CATEGORY_ACTIVATION);
    expect(2, CATEGORY_AUTOGRAD_DETAIL);
    expect(3, CATEGORY_GRADIENT);
    expect(4, CATEGORY_AUTOGRAD_DETAIL);
    expect(5, CATEGORY_OPTIMIZER_STATE);
    expect(7, CATEGORY_TEMPORARY);
}
END_TEST

#define COMPILED(graph, function)                                                                  \
    PY("call", "/tmp/torchinductor_u/" graph, 3)                                                   \
    "," PY("forward", "/home/u/model.py",                                                          \
           3) "," PY("__call__", TORCH "_inductor/output_code.py",                                 \
                     7) "," PY(function, TORCH "_functorch/_aot_autograd/runtime_wrappers.py", 9)

/* Frames in the code of torch.compile name the lines of the forward pass in both passes. */
START_TEST(compiled_passes_in_stacks_of_python)
{
    born(1, COMPILED("a.py", "forward") "," CALL "," SCRIPT);
    born(2, PY("_make_grads", TORCH "autograd/__init__.py", 231) "," SCRIPT);
    born(3, COMPILED("b.py", "backward"));
    born(4, COMPILED("b.py", "backward"));
    freed(3, COMPILED("b.py", "backward"));
    freed(1, "");
    freed(2, "");
    born(5, STACK_STEP);
    capture_load(&capture);
    expect(1, CATEGORY_ACTIVATION);
    expect(3, CATEGORY_AUTOGRAD_DETAIL);
    expect(4, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(a_result_after_a_forward_of_python_alone)
{
    born(1, PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT);
    freed(1, SCRIPT);
    born(2, SCRIPT); /* such as logits */
    born(1, PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT);
    freed(1, SCRIPT);
    freed(2, SCRIPT);
    born(3, SCRIPT);
    capture_load(&capture);
    expect(2, CATEGORY_ACTIVATION);
}
END_TEST

#define STACK_AGAIN                                                                                \
    PY("forward", "/home/u/model.py", 3)                                                           \
    "," CALL "," PY("backward", TORCH "utils/checkpoint.py", 320) "," ENGINE

START_TEST(recomputation_is_activation)
{
    born(1, STACK_FORWARD);
    born(2, STACK_AGAIN);
    born(3, STACK_AGAIN);
    freed(3, STACK_AGAIN);
    freed(2, ENGINE);
    freed(1, ENGINE);
    capture_load(&capture);
    expect(2, CATEGORY_ACTIVATION);
    expect(3, CATEGORY_TEMPORARY);
}
END_TEST

#define MM_NODE CPP("torch::autograd::generated::MmBackward0::apply(x)") "," ENGINE
#define IN_MM_NODE                                                                                 \
    CPP("at::_ops::gelu::call(x)")                                                                 \
    "," PY("forward", "/home/u/model.py", 3) "," CALL "," PY(                                      \
        "recompute_fn", TORCH "utils/checkpoint.py",                                               \
        1520) "," PY("unpack_hook", TORCH "utils/checkpoint.py", 1170) "," MM_NODE

/* A node of the backward pass asks for what it needs, which starts the recomputation. Another node
 * of the same name frees it. */
START_TEST(recomputation_starts_in_a_node)
{
    born(1, STACK_FORWARD);
    born(2, IN_MM_NODE);
    born(3, IN_MM_NODE);
    freed(3, IN_MM_NODE);
    born(4, STACK_BACKWARD);
    freed(2, MM_NODE);
    freed(4, ENGINE);
    freed(1, ENGINE);
    capture_load(&capture);
    expect(2, CATEGORY_ACTIVATION);
    expect(3, CATEGORY_TEMPORARY);
}
END_TEST

START_TEST(a_hook_does_not_end_the_backward_pass)
{
    born(1, STACK_FORWARD);
    born(2, STACK_BACKWARD);
    born(3,
         PY("hook", "/home/u/hook.py", 3)); /* shows no engine: another thread, or no C++ frames */
    freed(3, PY("hook", "/home/u/hook.py", 3));
    born(4, STACK_BACKWARD);
    freed(2, ENGINE);
    freed(1, ENGINE);
    capture_load(&capture);
    expect(2, CATEGORY_AUTOGRAD_DETAIL);
    expect(4, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(out_of_memory_in_backward_leaves_doubt)
{
    born(1, STACK_FORWARD);
    born(2, STACK_BACKWARD);
    born(3, CPP("torch::autograd::AccumulateGrad::apply(x)") "," ENGINE);
    capture_event_with(&capture, "oom", 0, 4096, STACK_BACKWARD, ",\"device_free\":17");
    capture_load(&capture);
    expect(1, CATEGORY_ACTIVATION);
    expect(2, CATEGORY_UNKNOWN);
    expect(3, CATEGORY_GRADIENT);
}
END_TEST

#define STACK_BATCH CPP("at::_ops::_to_copy::call(x)") "," SCRIPT

START_TEST(inputs_live_into_a_forward)
{
    born(1, STACK_BATCH);
    born(2, SCRIPT);
    born(3, STACK_FORWARD);
    freed(3, STACK_FORWARD);
    freed(1, SCRIPT);
    freed(2, SCRIPT);
    capture_load(&capture);
    expect(1, CATEGORY_INPUT);
    expect(2, CATEGORY_UNKNOWN); /* nothing is trained, so it may be a result, too */
}
END_TEST

START_TEST(models_are_made_of_parameters)
{
    born(1, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    born(2, PY("convert", TORCH "nn/modules/module.py", 1355) "," SCRIPT);
    born(3, PY("_no_grad_normal_", TORCH "nn/init.py", 20) "," SCRIPT);
    freed(3, SCRIPT);
    born(4, PY("make_param", "/home/u/param.py", 2) "," SCRIPT);
    born(5, STACK_FORWARD);
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER);
    expect(2, CATEGORY_PARAMETER);
    expect(3, CATEGORY_TEMPORARY);
    expect(4, CATEGORY_PARAMETER); /* stays, before a forward without a backward */
}
END_TEST

START_TEST(plain_code_becomes_a_parameter_by_its_gradient)
{
    capture_event(&capture, "alloc", 1, 700, SCRIPT);
    capture_event(&capture, "alloc", 2, 800, SCRIPT);
    capture_event(&capture, "alloc", 3, 800, SCRIPT);
    born(4, STACK_FORWARD);
    capture_event(&capture, "alloc", 5, 700, STACK_BACKWARD);
    capture_event(&capture, "alloc", 6, 800, STACK_BACKWARD);
    freed(4, ENGINE);
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER);
    expect(2, CATEGORY_PARAMETER); /* two of the size, one gradient: the first, and its momentum */
    expect(3, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(without_any_step_nothing_is_told)
{
    born(1, SCRIPT);
    freed(1, SCRIPT);
    born(2, SCRIPT);
    capture_load(&capture);
    expect(1, CATEGORY_UNKNOWN);
    expect(2, CATEGORY_UNKNOWN);
}
END_TEST

#define COPY CPP("at::_ops::_to_copy::call(x)") "," PY("prefetch", "/home/u/serve.py", 5) "," SCRIPT

START_TEST(what_is_copied_after_a_model_is_a_batch)
{
    born(1, COPY); /* may be a weight */
    born(2, PY("cuda", TORCH "nn/modules/module.py", 7) "," SCRIPT);
    born(3, COPY);
    born(4, SCRIPT);
    capture_load(&capture);
    expect(1, CATEGORY_UNKNOWN);
    expect(2, CATEGORY_PARAMETER);
    expect(3, CATEGORY_INPUT);
    expect(4, CATEGORY_UNKNOWN);
}
END_TEST

START_TEST(an_annotation_tells_the_step_without_stacks)
{
    born(1, "");
    capture.time_us++;
    capture_annotate(&capture, "START", "Optimizer.step#AdamW.step", 0);
    born(2, "");
    freed(2, "");
    born(3, "");
    capture_annotate(&capture, "END", "Optimizer.step#AdamW.step", 0);
    born(4, "");
    capture_load(&capture);
    expect(1, CATEGORY_UNKNOWN);
    expect(2, CATEGORY_TEMPORARY);
    expect(3, CATEGORY_OPTIMIZER_STATE); /* in the microsecond of the END */
    expect(4, CATEGORY_UNKNOWN);
}
END_TEST

START_TEST(the_file_may_know)
{
    capture_event_with(&capture, "alloc", 1, 1, SCRIPT, ",\"category\":\"optimizer_state\"");
    capture_event_with(&capture, "alloc", 2, 1, STACK_FORWARD, ",\"category\":\"INPUT\"");
    capture_event_with(&capture, "alloc", 3, 1, STACK_FORWARD, ",\"category\":\"none such\"");
    capture_event_with(&capture, "alloc", 4, 1, STACK_FORWARD, ",\"category\":\"input\\u0000s\"");
    capture_load(&capture);
    expect(1, CATEGORY_OPTIMIZER_STATE);
    expect(2, CATEGORY_INPUT);
    expect(3, CATEGORY_ACTIVATION);
    expect(4, CATEGORY_ACTIVATION);
}
END_TEST

TCase *category_tests(void)
{
    TCase *tests = tcase_create("categories");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, one_training_step);
    tcase_add_test(tests, stacks_of_python_alone);
    tcase_add_test(tests, compiled_passes_in_stacks_of_python);
    tcase_add_test(tests, a_result_after_a_forward_of_python_alone);
    tcase_add_test(tests, recomputation_is_activation);
    tcase_add_test(tests, recomputation_starts_in_a_node);
    tcase_add_test(tests, a_hook_does_not_end_the_backward_pass);
    tcase_add_test(tests, out_of_memory_in_backward_leaves_doubt);
    tcase_add_test(tests, inputs_live_into_a_forward);
    tcase_add_test(tests, models_are_made_of_parameters);
    tcase_add_test(tests, plain_code_becomes_a_parameter_by_its_gradient);
    tcase_add_test(tests, without_any_step_nothing_is_told);
    tcase_add_test(tests, what_is_copied_after_a_model_is_a_batch);
    tcase_add_test(tests, an_annotation_tells_the_step_without_stacks);
    tcase_add_test(tests, the_file_may_know);
    return tests;
}
