/* The operators of stacks as PyTorch's dispatcher shows them. */
#include "analysis/code/dispatched.h"

#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define PYTHON "," PY("forward", "/home/u/model.py", 3)

static const struct {
    const char *frames, *name;
} stacks[] = {
    {CPP("at::_ops::addmm::redispatch(x)") "," CPP("at::_ops::addmm::call(x)") PYTHON,
     "aten::addmm"},
    /* what an operator calls itself is not shown, nor what decomposes above autograd */
    {CPP("at::_ops::empty_memory_format::redispatch(x)") "," CPP(
         "at::_ops::cudnn_convolution::call(x)") "," CPP("at::_ops::convolution::redispatch("
                                                         "x)") "," CPP("at::_ops::"
                                                                       "convolution::call("
                                                                       "x)") "," CPP("at::_"
                                                                                     "ops::"
                                                                                     "conv2d"
                                                                                     "::"
                                                                                     "call("
                                                                                     "x)") PYTHON,
     "aten::convolution"},
    {CPP("at::_ops::mm::redispatch(x)") "," CPP("at::_ops::matmul::call(x)") "," CPP(
         "at::_ops::linear::call(x)") PYTHON,
     "aten::mm"},
    /* another operator's Python */
    {CPP("at::_ops::mul_Tensor::redispatch(x)") PYTHON "," CPP("at::_ops::mm::redispatch(x)"),
     "aten::mul"},
    {CPP("at::_ops::mm::call(x)") PYTHON, ""},
    {PY("forward", "/home/u/model.py", 3), ""},
};

START_TEST(the_outermost_below_autograd)
{
    struct capture capture;
    struct error err;
    string_id name;
    capture_init(&capture);
    capture_event(&capture, "alloc", 4096, 512, stacks[_i].frames);
    capture_load(&capture);
    ck_assert(dispatched_operator(capture.sites, capture.timeline->trace->stack[0], &name, &err));
    ck_assert_str_eq(symbols_text(capture.snapshot->symbols, name).bytes, stacks[_i].name);
    capture_release(&capture);
}
END_TEST

static unsigned weight(const char *name)
{
    return operator_weight((struct text){name, strlen(name)});
}

START_TEST(arithmetic_weighs_more)
{
    ck_assert_uint_gt(weight("aten::addmm"), 1);
    ck_assert_uint_gt(weight("aten::convolution"), 1);
    ck_assert_uint_gt(weight("aten::_scaled_dot_product_flash_attention"), 1);
    ck_assert_uint_eq(weight("aten::_scaled_dot_product_flash_attention_backward"), 1);
    ck_assert_uint_eq(weight("aten::gelu"), 1);
    ck_assert_uint_eq(weight("aten::native_dropout"), 1);
    ck_assert_uint_eq(weight("other::mm"), 1);
    ck_assert_uint_eq(weight(""), 1);
}
END_TEST

TCase *dispatched_tests(void)
{
    TCase *tests = tcase_create("dispatched");
    tcase_add_loop_test(tests, the_outermost_below_autograd, 0, sizeof(stacks) / sizeof(stacks[0]));
    tcase_add_test(tests, arithmetic_weighs_more);
    return tests;
}
