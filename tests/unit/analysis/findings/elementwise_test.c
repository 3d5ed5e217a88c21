/* Intermediate results of elementwise operators. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define BLOCK(line)  PY("forward", "/home/u/block.py", line) "," CALL "," SCRIPT
#define MUL(line)    CPP("at::_ops::mul_Tensor::call(x)") "," PY("gelu", "/home/u/gelu.py", line)
#define TANH(line)   CPP("at::_ops::tanh::call(x)") "," PY("gelu", "/home/u/gelu.py", line)
#define PRODUCT      CPP("at::_ops::mm::call(x)") "," BLOCK(2)
#define TORCH_CODE   PY("softplus", TORCH "nn/functional.py", 4) "," BLOCK(7)
#define IN_TORCH(op) CPP("at::_ops::" op "::call(x)") "," TORCH_CODE

static struct capture capture;
static uint64_t made[64], count;

static void create(void)
{
    capture_init(&capture);
    count = 0;
}

static void destroy(void)
{
    capture_release(&capture);
}

static void keep(const char *frames)
{
    made[count++] = capture_alloc(&capture, 100, frames);
}

/* Three results of a function, and the product that takes the last one. */
static void call_function(void)
{
    keep(MUL(3) "," BLOCK(1));
    keep(TANH(4) "," BLOCK(1));
    keep(MUL(5) "," BLOCK(1));
}

static int64_t saving(void)
{
    capture_alloc(&capture, 1, STACK_BACKWARD);
    while (count > 0)
        capture_free(&capture, made[--count], 100, ENGINE);
    capture_alloc(&capture, 1, STACK_STEP);
    return capture_saving(&capture, FINDING_ELEMENTWISE);
}

START_TEST(all_but_the_last_result_of_a_call)
{
    for (int layer = 0; layer < 2; layer++) {
        call_function();
        keep(PRODUCT);
    }
    ck_assert_int_eq(saving(), 2 * 2 * 100);
}
END_TEST

/* Autocast converts the arguments of an operator that is called with three of them. */
START_TEST(arguments_that_autocast_converts)
{
#define CONVERTED(i)                                                                               \
    CPP("at::_ops::_to_copy::call(x)")                                                             \
    "," CPP("at::autocast::cached_cast(x)") "," PY("attend", "/home/u/attend.py", i) "," BLOCK(1)
    keep(CONVERTED(3));
    keep(CONVERTED(4));
    keep(CONVERTED(5));
    keep(PRODUCT);
    ck_assert_int_eq(saving(), -1);
}
END_TEST

START_TEST(calls_in_a_row)
{
    for (int call = 0; call < 3; call++)
        call_function();
    ck_assert_int_eq(saving(), 3 * 2 * 100);
}
END_TEST

/* At the peak, the backward pass has freed the last results of the last call. */
START_TEST(the_rest_of_a_call)
{
    call_function();
    keep(PRODUCT);
    keep(MUL(3) "," BLOCK(1));
    ck_assert_int_eq(saving(), 2 * 100 + 100);
}
END_TEST

START_TEST(a_result_of_another_operator_ends_a_call)
{
    keep(MUL(3) "," BLOCK(1));
    keep(TANH(4) "," BLOCK(1));
    keep(PRODUCT);
    keep(MUL(5) "," BLOCK(1));
    ck_assert_int_eq(saving(), -1);
}
END_TEST

/* relu(x), then a product that nothing keeps, x + product, and the next layer's sum */
START_TEST(a_product_that_is_not_kept_ends_a_call)
{
    keep(MUL(3) "," BLOCK(1));
    keep(TANH(4) "," BLOCK(1));
    capture_free(&capture, capture_alloc(&capture, 50, PRODUCT), 50, PRODUCT);
    keep(MUL(5) "," BLOCK(1));
    ck_assert_int_eq(saving(), -1);
}
END_TEST

/* Layers whose checkpoints keep the sum at the end of each. */
START_TEST(a_sum_per_layer)
{
    for (int layer = 0; layer < 4; layer++)
        keep(CPP("at::_ops::add_Tensor::call(x)") "," BLOCK(8));
    ck_assert_int_eq(saving(), -1);
}
END_TEST

START_TEST(functions_that_other_lines_call)
{
    keep(MUL(3) "," BLOCK(1));
    keep(TANH(4) "," BLOCK(6));
    keep(MUL(5) "," BLOCK(1));
    ck_assert_int_eq(saving(), -1);
}
END_TEST

START_TEST(functions_of_torch)
{
    keep(IN_TORCH("mul_Tensor"));
    keep(IN_TORCH("exp"));
    keep(IN_TORCH("add_Tensor"));
    ck_assert_int_eq(saving(), -1);
}
END_TEST

TCase *elementwise_tests(void)
{
    TCase *tests = tcase_create("elementwise");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, all_but_the_last_result_of_a_call);
    tcase_add_test(tests, arguments_that_autocast_converts);
    tcase_add_test(tests, calls_in_a_row);
    tcase_add_test(tests, the_rest_of_a_call);
    tcase_add_test(tests, a_result_of_another_operator_ends_a_call);
    tcase_add_test(tests, a_product_that_is_not_kept_ends_a_call);
    tcase_add_test(tests, a_sum_per_layer);
    tcase_add_test(tests, functions_that_other_lines_call);
    tcase_add_test(tests, functions_of_torch);
    return tests;
}
