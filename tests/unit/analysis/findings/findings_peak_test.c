/* Findings on what is live at the peak: derivatives, recomputed activations, all pairs, gradients
 * of tables. */
#include <string.h>

#include "base/units.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define LINE(line) PY("loss", "/home/u/loss.py", line) "," SCRIPT
#define SUB        CPP("at::_ops::sub_Tensor::call(x)") "," LINE(3)
#define POW        CPP("at::_ops::pow_Tensor_Scalar::call(x)") "," LINE(4)
#define PREDICTION CPP("at::_ops::addmm::call(x)") "," LINE(1)
#define TARGET     CPP("at::_ops::randn::call(x)") "," LINE(2)
#define LOOKUP     CPP("at::_ops::index_select::call(x)") "," LINE(5)
#define SAVED_DIES CPP("torch::autograd::SavedVariable::reset_data()") "," ENGINE
#define TABLE_GRADIENT                                                                             \
    CPP("at::_ops::zeros::call(x)")                                                                \
    "," CPP("torch::autograd::generated::EmbeddingBackward0::apply(x)") "," ENGINE
#define TANH_DERIVATIVE                                                                            \
    CPP("at::_ops::mul_Tensor::call(x)")                                                           \
    "," CPP("torch::autograd::generated::TanhBackward0::apply(x)") "," ENGINE

static struct capture capture;
static uint64_t made[64], sizes[64], count;

static void create(void)
{
    capture_init(&capture);
    count = 0;
}

static void destroy(void)
{
    capture_release(&capture);
}

static void keep(uint64_t size, const char *frames)
{
    made[count] = capture_alloc(&capture, size, frames);
    sizes[count++] = size;
}

/* A backward pass that frees everything kept, and the optimizer's step. */
static void free_kept(void)
{
    capture_alloc(&capture, 1, STACK_BACKWARD);
    while (count-- > 0)
        capture_free(&capture, made[count], sizes[count], SAVED_DIES);
    capture_alloc(&capture, 1, STACK_STEP);
}

static int64_t saving(enum finding_kind kind)
{
    free_kept();
    return capture_saving(&capture, kind);
}

/* A forward pass, and derivatives that the loss is made of, three times as large. */
static void keep_derivatives(void)
{
    keep(1000, STACK_FORWARD);
    for (int i = 0; i < 3; i++)
        keep(1000, TANH_DERIVATIVE);
    keep(8, POW);
    keep(8, SUB);
}

START_TEST(derivatives_outweigh_the_forward_pass)
{
    keep_derivatives();
    ck_assert_int_ge(saving(FINDING_DERIVATIVES), 4000);
}
END_TEST

START_TEST(derivatives_take_the_place_of_activations)
{
    keep_derivatives();
    ck_assert_int_eq(saving(FINDING_ACTIVATIONS), -1);
}
END_TEST

/* A node of the backward pass, without a line, holds more than any line. What the finding saves is
 * what it says is held. */
START_TEST(derivatives_of_no_line)
{
    struct buffer held = BUFFER_INIT;
    char size[UNITS_TEXT_SIZE];
    keep_derivatives();
    free_kept();
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    const struct finding *finding = report_finding(report, FINDING_DERIVATIVES);
    ck_assert_ptr_nonnull(finding);
    buffer_printf(&held, "hold %s,", units_bytes(size, finding->save_bytes, UNIT_AUTO));
    ck_assert_ptr_nonnull(strstr(finding->what, held.bytes));
    ck_assert_ptr_null(strstr(finding->what, "the largest part"));
    device_report_destroy(report);
    buffer_release(&held);
}
END_TEST

#define SAVED_DIES_LATER CPP("torch::autograd::SavedVariable::reset_data()") "," SCRIPT

/* The first of two backward passes keeps the graph for the second, which goes through the last
 * layer only. The variable with the loss holds the rest until the step is over. */
static int64_t saving_of_shared_graph(enum finding_kind kind)
{
    uint64_t layers[4];
    for (int i = 0; i < 4; i++)
        layers[i] = capture_alloc(&capture, 1000, STACK_FORWARD);
    keep(500, STACK_FORWARD);
    keep(8, STACK_LOSS);
    for (int i = 0; i < 3; i++)
        keep(500, TANH_DERIVATIVE);
    keep(8, POW);
    keep(8, SUB);
    free_kept();
    for (int i = 0; i < 4; i++)
        capture_free(&capture, layers[i], 1000, SAVED_DIES_LATER);
    return capture_saving(&capture, kind);
}

START_TEST(activations_that_several_passes_share)
{
    ck_assert_int_ge(saving_of_shared_graph(FINDING_ACTIVATIONS), 4000);
}
END_TEST

START_TEST(derivatives_beside_a_shared_graph)
{
    ck_assert_int_eq(saving_of_shared_graph(FINDING_DERIVATIVES), -1);
}
END_TEST

START_TEST(few_derivatives)
{
    for (int i = 0; i < 3; i++)
        keep(1000, STACK_FORWARD);
    keep(1000, TANH_DERIVATIVE);
    keep(8, STACK_LOSS);
    ck_assert_int_eq(saving(FINDING_DERIVATIVES), -1);
}
END_TEST

#define RECOMPUTED                                                                                 \
    CPP("at::_ops::gelu::call(x)")                                                                 \
    "," PY("forward", "/home/u/model.py", 5) "," PY("recompute_fn", TORCH "utils/checkpoint.py",   \
                                                    9) "," PY("unpack_hook",                       \
                                                              TORCH "utils/checkpoint.py", 8)

/* A checkpoint that keeps one tensor, computes others again, and backward passes through them. */
static int64_t saving_beside(unsigned kept, enum finding_kind kind)
{
    for (unsigned i = 0; i < kept; i++)
        keep(1000, STACK_FORWARD);
    keep(8, STACK_LOSS);
    capture_alloc(&capture, 1, STACK_BACKWARD);
    for (int i = 0; i < 3; i++)
        keep(1000, RECOMPUTED);
    return saving(kind);
}

START_TEST(one_checkpoint_around_the_model)
{
    ck_assert_int_eq(saving_beside(1, _i == 0 ? FINDING_RECOMPUTED : FINDING_ACTIVATIONS),
                     _i == 0 ? 3000 : -1);
}
END_TEST

START_TEST(small_checkpoints)
{
    ck_assert_int_eq(saving_beside(9, FINDING_RECOMPUTED), -1);
}
END_TEST

#define TRANSFORMED                                                                                \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," LINE(7) "," PY("grad_impl", TORCH "_functorch/eager_transforms.py", 3) "," SCRIPT

/* Checkpoints do not work in torch.func. */
START_TEST(activations_of_a_function_that_is_transformed)
{
    for (int i = 0; i < 3; i++)
        keep(1000, TRANSFORMED);
    ck_assert_int_ge(saving(FINDING_DERIVATIVES), 3000);
}
END_TEST

START_TEST(a_target_without_the_last_dimension)
{
    keep(4096, PREDICTION);
    keep(4096, TARGET);
    keep(4096 * 1024, SUB);
    keep(4096 * 1024, POW);
    ck_assert_int_eq(saving(FINDING_ALL_PAIRS), 2 * 4096 * 1024);
}
END_TEST

/* What is combined with the one operand may be a constant. */
START_TEST(values_of_one_tensor)
{
    keep(4096, PREDICTION);
    keep(4096 * 1024, SUB);
    ck_assert_int_eq(saving(FINDING_ALL_PAIRS), -1);
}
END_TEST

START_TEST(pairs_of_vectors)
{
    keep(1024 * 64 * 4, PREDICTION);
    keep(1024 * 1024 * 64 * 4, SUB);
    ck_assert_int_eq(saving(FINDING_ALL_PAIRS), 1024 * 1024 * 64 * 4);
}
END_TEST

/* x - bias: as many rows as values in a row */
START_TEST(an_operand_is_as_large)
{
    keep(4096, PREDICTION);
    keep(4096, TARGET);
    keep(4096 * 1024, PREDICTION);
    keep(4096 * 1024, SUB);
    ck_assert_int_eq(saving(FINDING_ALL_PAIRS), -1);
}
END_TEST

/* The gradient of a table of `size` bytes, which the optimizer takes, after a lookup of `looked_up`
 * bytes. */
static int64_t table_saving(uint64_t size, uint64_t looked_up)
{
    capture_alloc(&capture, size, PY("__init__", TORCH "nn/modules/sparse.py", 105) "," SCRIPT);
    keep(looked_up, LOOKUP);
    keep(8, STACK_LOSS);
    uint64_t gradient = capture_alloc(&capture, 100000, TABLE_GRADIENT);
    while (count-- > 0)
        capture_free(&capture, made[count], sizes[count], ENGINE);
    capture_alloc(&capture, 1, STACK_STEP);
    capture_free(&capture, gradient, 100000, STACK_STEP);
    return capture_saving(&capture, FINDING_TABLE_GRADIENTS);
}

START_TEST(gradients_of_tables)
{
    ck_assert_int_eq(table_saving(100000, 1000), 100000);
}
END_TEST

START_TEST(tables_of_which_a_step_uses_half)
{
    ck_assert_int_eq(table_saving(100000, 50000), -1);
}
END_TEST

/* The gradient holds the rows of a batch, in a table with sparse=True. */
START_TEST(sparse_gradients_of_tables)
{
    ck_assert_int_eq(table_saving(150000, 1000), -1);
}
END_TEST

#define LSTM_LAYER                                                                                 \
    CPP("at::_ops::_cudnn_rnn::call(x)")                                                           \
    "," PY("forward", "/venv/lib/python3.11/site-packages/torch/nn/modules/rnn.py",                \
           1124) "," STACK_FORWARD

/* A checkpoint would make the largest activation again, in one piece. A recurrent layer has another
 * remedy, too. */
START_TEST(one_activation_is_most)
{
    static const struct {
        uint64_t size;
        const char *frames;
        bool is_one, is_recurrent;
    } cases[] = {{900, STACK_FORWARD, true, false},
                 {900, LSTM_LAYER, true, true},
                 {100, LSTM_LAYER, false, false}};
    keep(cases[_i].size, cases[_i].frames);
    for (int i = 0; i < 3; i++)
        keep(100, STACK_FORWARD);
    free_kept();
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    const struct finding *finding = report_finding(report, FINDING_ACTIVATIONS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(strstr(finding->next, "`memsnap suggest`") == NULL, cases[_i].is_one);
    ck_assert_int_eq(strstr(finding->next, "smaller batch") != NULL, cases[_i].is_one);
    ck_assert_int_eq(strstr(finding->next, "state.detach()") != NULL, cases[_i].is_recurrent);
    device_report_destroy(report);
}
END_TEST

TCase *findings_peak_tests(void)
{
    TCase *tests = tcase_create("findings at the peak");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, derivatives_outweigh_the_forward_pass);
    tcase_add_test(tests, derivatives_take_the_place_of_activations);
    tcase_add_test(tests, derivatives_of_no_line);
    tcase_add_test(tests, activations_that_several_passes_share);
    tcase_add_test(tests, derivatives_beside_a_shared_graph);
    tcase_add_test(tests, few_derivatives);
    tcase_add_test(tests, activations_of_a_function_that_is_transformed);
    tcase_add_loop_test(tests, one_checkpoint_around_the_model, 0, 2);
    tcase_add_test(tests, small_checkpoints);
    tcase_add_test(tests, a_target_without_the_last_dimension);
    tcase_add_test(tests, values_of_one_tensor);
    tcase_add_test(tests, pairs_of_vectors);
    tcase_add_test(tests, an_operand_is_as_large);
    tcase_add_test(tests, gradients_of_tables);
    tcase_add_test(tests, tables_of_which_a_step_uses_half);
    tcase_add_test(tests, sparse_gradients_of_tables);
    tcase_add_loop_test(tests, one_activation_is_most, 0, 3);
    return tests;
}
