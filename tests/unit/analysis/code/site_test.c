/* Classification of whole stacks. */
#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

/* Loads one allocation with the frames. */
static const struct stack_facts *facts_of(const char *frames)
{
    struct error err;
    capture_event(&capture, "alloc", 4096, 512, frames);
    capture_load(&capture);
    const struct stack_facts *facts =
        site_stack_facts(capture.sites, capture.timeline->trace->stack[0], &err);
    ck_assert_ptr_nonnull(facts);
    return facts;
}

static void check_label(const struct stack_facts *facts, const char *expected)
{
    struct buffer label = BUFFER_INIT;
    site_label(capture.sites, capture.timeline->trace->stack[0], &facts->site, &label);
    ck_assert_str_eq(label.bytes, expected);
    buffer_release(&label);
}

static void check_op(const struct stack_facts *facts, const char *expected)
{
    ck_assert_str_eq(symbols_text(capture.snapshot->symbols, facts->site.op).bytes, expected);
}

#define UNWINDER CPP("torch::unwind::unwind()") "," CPP("torch::CapturedTraceback::gather(bool)")

START_TEST(the_user_frame_is_found_behind_wrappers)
{
    const struct stack_facts *facts = facts_of(
        UNWINDER "," CPP("at::_ops::bmm::redispatch(x)") "," CPP("at::_ops::bmm::call(x)") "," CPP(
            "at::_ops::einsum::call(x)") "," PY("einsum", TORCH "functional.py",
                                                407) "," PY("einsum",
                                                            "/venv/lib/python3.12/site-packages/"
                                                            "einops/einops.py",
                                                            939) "," PY("forward",
                                                                        "/home/u/model.py",
                                                                        39) "," CPP("_PyEval_"
                                                                                    "EvalFrameDefau"
                                                                                    "lt") "," CALL
                                                                                          "," SCRIPT);
    check_label(facts, "model.py:39 forward");
    check_op(facts, "aten::bmm");
    ck_assert_int_eq(facts->context, CONTEXT_FORWARD);
    ck_assert(!facts->site.has_backward);
}
END_TEST

START_TEST(storage_makers_give_way)
{
    check_op(facts_of(CPP("at::_ops::empty_strided::call(x)") "," CPP(
                 "at::_ops::empty_like::call(x)") "," CPP("at::_ops::clone::call(x)") "," SCRIPT),
             "aten::clone");
}
END_TEST

START_TEST(a_storage_maker_alone_is_named_as_called)
{
    check_op(facts_of(CPP("at::_ops::empty_strided::call(x)") "," CPP(
                 "at::_ops::empty_like::call(x)") "," SCRIPT "," CPP("at::_ops::mm::call(x)")),
             "aten::empty_like");
}
END_TEST

#define VISION    "/venv/lib/python3.12/site-packages/torchvision/transforms/v2/"
#define TRANSFORM PY("forward", VISION "_transform.py", 68) "," CALL
#define CONTAINER PY("forward", TORCH "nn/modules/container.py", 250) "," CALL

/* A transform of torchvision is a module, but prepares batches, unless a model calls it. */
START_TEST(a_transform_is_no_model)
{
    static const char *const frames[] = {
        PY("make_params", VISION "_augment.py", 326) "," TRANSFORM "," SCRIPT,
        TRANSFORM "," TRANSFORM "," SCRIPT,
        TRANSFORM "," CONTAINER "," SCRIPT,
        TRANSFORM "," CONTAINER "," PY("forward", "/home/u/model.py", 39) "," CALL "," SCRIPT,
        CONTAINER "," SCRIPT,
    };
    ck_assert_int_eq(facts_of(frames[_i])->context, _i < 3 ? CONTEXT_OTHER : CONTEXT_FORWARD);
}
END_TEST

START_TEST(backward_without_python)
{
    const struct stack_facts *facts = facts_of(UNWINDER "," STACK_BACKWARD);
    check_label(facts, "MmBackward0 (backward pass, no Python stack)");
    check_op(facts, "aten::mm");
    ck_assert(facts->site.has_backward);
    ck_assert_uint_eq(facts->site.any_python_frame, NO_FRAME);
    ck_assert_int_eq(facts->context, CONTEXT_BACKWARD);
}
END_TEST

/* Some operators of torch are Python. Their lines mean nothing to the user; the node does. */
START_TEST(backward_in_python)
{
    static const struct {
        const char *frames, *label;
    } cases[] = {
        {PY("eager_router", TORCH "_native/registry.py", 1145) "," STACK_BACKWARD,
         "MmBackward0 (backward pass)"},
        {PY("call", "/tmp/torchinductor_u/a.py", 7) "," STACK_BACKWARD, "a.py:7 call"},
        {PY("backward", "/home/u/ops.py", 3) "," STACK_BACKWARD, "ops.py:3 backward"},
    };
    check_label(facts_of(cases[_i].frames), cases[_i].label);
}
END_TEST

START_TEST(a_node_is_the_operator_where_there_is_no_other)
{
    const struct stack_facts *facts =
        facts_of(CPP("torch::autograd::AccumulateGrad::apply(x)") "," ENGINE);
    check_op(facts, "AccumulateGrad");
    ck_assert(facts->accumulates_grad);
}
END_TEST

#define COMPILED                                                                                   \
    PY("call", "/tmp/torchinductor_u/a.py", 7) "," PY("forward", "/home/u/model.py", 3) ","

#define GRAPH  PY("forward", "<eval_with_key>.3", 7) "," CALL ","
#define DYNAMO PY("_fn", TORCH "_dynamo/eval_frame.py", 900)

START_TEST(compiled_code_is_told_apart)
{
    static const struct {
        const char *frames;
        bool is_compiled;
    } cases[] = {
        {COMPILED PY("__call__", TORCH "_inductor/output_code.py", 830), true},
        {COMPILED PY("__call__", TORCH "_inductor/codecache.py", 1480), true},
        {GRAPH PY("runtime_wrapper", TORCH "_functorch/_aot_autograd/runtime_wrappers.py", 9),
         true},
        {GRAPH PY("runtime_wrapper", TORCH "_functorch/aot_autograd.py", 9), true},
        {GRAPH DYNAMO "," PY("forward", "/home/u/model.py", 3), true},
        /* a model that torch.fx traced, and a function that is left as it is */
        {GRAPH CALL "," PY("forward", "/home/u/model.py", 3) "," DYNAMO, false},
        {PY("forward", "/home/u/model.py", 3) "," DYNAMO, false},
        {STACK_FORWARD, false},
    };
    ck_assert_int_eq(facts_of(cases[_i].frames)->is_compiled, cases[_i].is_compiled);
}
END_TEST

START_TEST(labels_of_poor_stacks)
{
    static const struct {
        const char *frames, *label;
    } cases[] = {
        {"", "(no stack recorded)"},
        {CPP("foo()"), "(C++ frames only)"},
        {CPP("at::_ops::mm::call(x)"), "aten::mm (no Python stack)"},
        {CPP("torch::autograd::Engine::thread_main(x)"),
         "autograd engine (backward pass, no Python stack)"},
        {PY("_init_group", TORCH "optim/adam.py", 130) "," PY("step", TORCH "optim/adam.py", 9),
         "adam.py:130 _init_group"},
        {PY("Net.forward", "C:\\\\u\\\\net.py", 0), "net.py Net.forward"},
    };
    check_label(facts_of(cases[_i].frames), cases[_i].label);
}
END_TEST

START_TEST(contexts)
{
    static const struct {
        const char *frames;
        enum context context;
    } cases[] = {
        {SCRIPT, CONTEXT_OTHER},
        {CPP("ncclThread()"), CONTEXT_NONE},
        {STACK_STEP, CONTEXT_OPTIMIZER},
        /* a closure runs the loss, forward and backward inside the optimizer's step */
        {PY("loss", "/home/u/loss.py", 4) "," PY("step", TORCH "optim/adam.py", 230) "," PY(
             "wrapper", TORCH "optim/optimizer.py", 533) "," SCRIPT,
         CONTEXT_OTHER},
        {PY("_init_group", TORCH "optim/adam.py",
            180) "," PY("step", TORCH "optim/adam.py",
                        240) "," PY("wrapper", TORCH "optim/optimizer.py", 533) "," SCRIPT,
         CONTEXT_OPTIMIZER},
        {PY("forward", "/home/u/model.py", 3) "," CALL "," PY("closure", "/home/u/t.py", 2) "," PY(
             "wrapper", TORCH "optim/optimizer.py", 533),
         CONTEXT_FORWARD},
        {PY("zero_grad", TORCH "optim/optimizer.py", 960) "," SCRIPT, CONTEXT_ZERO_GRAD},
        {PY("__init__", TORCH "nn/modules/linear.py", 105) "," PY("__init__", "/home/u/model.py",
                                                                  5) "," SCRIPT,
         CONTEXT_INIT},
        {PY("convert", TORCH "nn/modules/module.py",
            1355) "," PY("_apply", TORCH "nn/modules/module.py", 900) "," SCRIPT,
         CONTEXT_INIT},
        /* weights that are plain tensors */
        {PY("allocate", "/home/u/memory.py", 5) "," PY("init_weight", "/home/u/layers.py",
                                                       9) "," SCRIPT,
         CONTEXT_INIT},
        {PY("Linear._load_weights", "/venv/lib/python3.12/site-packages/engine/linear.py",
            9) "," SCRIPT,
         CONTEXT_INIT},
        /* weights of an adapter that a server adds between requests */
        {PY("cast_adapter_dtype", "/venv/site-packages/peft/tuners/tuners_utils.py",
            2762) "," PY("add_adapter", "/venv/site-packages/peft/peft_model.py", 1162) "," SCRIPT,
         CONTEXT_INIT},
        {PY("_make_grads", TORCH "autograd/__init__.py", 231) "," PY("backward", TORCH "_tensor.py",
                                                                     631) "," SCRIPT,
         CONTEXT_BACKWARD},
        /* checkpointing: with C++ frames, and with Python alone */
        {PY("forward", "/home/u/model.py",
            3) "," CALL "," PY("backward", TORCH "utils/checkpoint.py", 320) "," ENGINE,
         CONTEXT_RECOMPUTE},
        {PY("forward", "/home/u/model.py",
            3) "," CALL "," PY("recompute_fn", TORCH "utils/checkpoint.py",
                               1400) "," PY("unpack_hook", TORCH "utils/checkpoint.py", 1100),
         CONTEXT_RECOMPUTE},
        /* a custom autograd function's own backward */
        {PY("backward", "/home/u/op.py", 9) "," ENGINE, CONTEXT_BACKWARD},
        {PY("forward", "<eval_with_key>.5",
            135) "," PY("backward", TORCH "_functorch/_aot_autograd/runtime_wrappers.py",
                        3552) "," PY("apply_boxed", TORCH "autograd/function.py", 460),
         CONTEXT_BACKWARD},
        {PY("get_param", "/home/u/param.py", 9) "," SCRIPT, CONTEXT_OTHER},
    };
    ck_assert_int_eq(facts_of(cases[_i].frames)->context, cases[_i].context);
}
END_TEST

#define DECORATED PY("decorate_context", TORCH "utils/_contextlib.py", 116)

/* Before PyTorch 2.10, the frame of a decorator does not name the mode. A closure runs with
 * autograd on, although the optimizer's step() is under no_grad. */
START_TEST(decorators_turn_autograd_off)
{
    static const struct {
        const char *frames;
        enum grad_mode mode;
    } cases[] = {
        {PY("generate", "/home/u/model.py", 3) "," DECORATED "," SCRIPT, GRAD_PROBABLY_OFF},
        {PY("loss", "/home/u/loss.py", 4) "," PY("step", TORCH "optim/adam.py", 230) "," DECORATED
                                                                                     "," SCRIPT,
         GRAD_ON},
        {PY("closure", "/home/u/loss.py", 4) "," DECORATED "," PY("step", TORCH "optim/lbfgs.py",
                                                                  330) "," DECORATED "," SCRIPT,
         GRAD_ON},
        {PY("no_grad", TORCH "utils/_contextlib.py", 116) "," SCRIPT, GRAD_NO_GRAD},
        {SCRIPT, GRAD_UNKNOWN},
    };
    ck_assert_int_eq(facts_of(cases[_i].frames)->grad_mode, cases[_i].mode);
}
END_TEST

#define EMPTY       CPP("at::_ops::empty_strided::call(x)") "," CPP("at::_ops::zeros::call(x)")
#define WRAPPER(_n) PY(_n, "/home/u/pool.py", 3)
#define CALLER      PY("forward", "/home/u/model.py", 39)

START_TEST(functions_that_pass_calls_on_give_way_to_their_callers)
{
    static const struct {
        const char *frames, *label;
    } cases[] = {
        {EMPTY "," WRAPPER("allocate") "," CALLER, "model.py:39 forward"},
        {EMPTY "," WRAPPER("Pool.empty_like") "," WRAPPER("_new_buffer") "," CALLER "," CALL,
         "model.py:39 forward"},
        {EMPTY "," WRAPPER("__zeros") "," CPP("_PyEval_EvalFrameDefault") "," CALLER,
         "model.py:39 forward"},
        /* without C++ frames */
        {WRAPPER("full_tensor") "," CALLER, "model.py:39 forward"},
        /* to which PyTorch passes all operators */
        {CPP("at::_ops::mm::call(x)") "," WRAPPER("__torch_dispatch__") "," CALLER,
         "model.py:39 forward"},
        {CPP("at::_ops::mm::call(x)") "," WRAPPER("Watch.__torch_function__") "," CALLER,
         "model.py:39 forward"},
        /* a name alone, another operator, no caller, or a library as the caller */
        {EMPTY "," WRAPPER("new_buffer") "," CALLER, "model.py:39 forward"},
        {EMPTY "," WRAPPER("Arena.create_tensor") "," CALLER, "model.py:39 forward"},
        {EMPTY "," WRAPPER("make_zeros") "," CALLER, "model.py:39 forward"},
        {EMPTY "," WRAPPER("make_buffers") "," CALLER, "pool.py:3 make_buffers"},
        {EMPTY "," WRAPPER("reallocate") "," CALLER, "pool.py:3 reallocate"},
        {EMPTY "," WRAPPER("_like") "," CALLER, "pool.py:3 _like"},
        {CPP("at::_ops::mm::call(x)") "," WRAPPER("allocate") "," CALLER, "pool.py:3 allocate"},
        {EMPTY "," WRAPPER("allocate"), "pool.py:3 allocate"},
        {EMPTY "," WRAPPER("allocate") "," CALL "," CALLER, "pool.py:3 allocate"},
    };
    const struct stack_facts *facts = facts_of(cases[_i].frames);
    check_label(facts, cases[_i].label);
}
END_TEST

START_TEST(workspaces_and_communication)
{
    const struct stack_facts *facts =
        facts_of(CPP("at::cuda::getNewWorkspace()") "," STACK_FORWARD);
    ck_assert(facts->is_workspace);
    ck_assert(!facts->communicates);
}
END_TEST

START_TEST(communication_is_judged_by_the_innermost_code)
{
    const struct stack_facts *facts = facts_of(
        PY("foreach_all_gather", TORCH "distributed/fsdp/_fully_shard/_fsdp_collectives.py",
           150) "," PY("forward", "/home/u/model.py", 3) "," CALL);
    ck_assert(facts->communicates);
}
END_TEST

START_TEST(fsdp_further_out_is_no_communication)
{
    const struct stack_facts *facts =
        facts_of(STACK_FORWARD "," PY("forward", TORCH "distributed/fsdp/_flat_param.py", 850));
    ck_assert(!facts->communicates);
}
END_TEST

TCase *site_tests(void)
{
    TCase *tests = tcase_create("sites");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, the_user_frame_is_found_behind_wrappers);
    tcase_add_test(tests, storage_makers_give_way);
    tcase_add_test(tests, a_storage_maker_alone_is_named_as_called);
    tcase_add_loop_test(tests, a_transform_is_no_model, 0, 5);
    tcase_add_test(tests, backward_without_python);
    tcase_add_loop_test(tests, backward_in_python, 0, 3);
    tcase_add_loop_test(tests, compiled_code_is_told_apart, 0, 8);
    tcase_add_test(tests, a_node_is_the_operator_where_there_is_no_other);
    tcase_add_loop_test(tests, labels_of_poor_stacks, 0, 6);
    tcase_add_loop_test(tests, contexts, 0, 18);
    tcase_add_loop_test(tests, decorators_turn_autograd_off, 0, 5);
    tcase_add_loop_test(tests, functions_that_pass_calls_on_give_way_to_their_callers, 0, 15);
    tcase_add_test(tests, workspaces_and_communication);
    tcase_add_test(tests, communication_is_judged_by_the_innermost_code);
    tcase_add_test(tests, fsdp_further_out_is_no_communication);
    return tests;
}
