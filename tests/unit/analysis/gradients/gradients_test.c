/* Gradients that are kept too long. */
#include "analysis/growth/growth.h"

#include <limits.h>
#include <string.h>

#include "analysis/gradients/gradient_cycles.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_growth.h"

#define ACCUMULATE CPP("torch::autograd::AccumulateGrad::apply(x)") "," ENGINE
#define STACK_ZERO                                                                                 \
    PY("zero_grad", TORCH "optim/optimizer.py", 900) "," PY("main", "/home/u/train.py", 8)

/* A step: an input of 40 for the forward pass, a gradient of 100, and the optimizer. `zero` says
 * where the gradient of the previous step is freed. */
enum zero { ZERO_AT_END, ZERO_BEFORE_BACKWARD, ZERO_NEVER };

static void train_with(unsigned steps, enum zero zero, bool optimizer_allocates)
{
    born(9, 100, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (unsigned step = 0; step < steps; step++) {
        born(1, 40, STACK_FORWARD);
        if (zero == ZERO_BEFORE_BACKWARD && step > 0)
            freed(2, 100, STACK_ZERO);
        if (step == 0 || zero != ZERO_NEVER)
            born(2, 100, STACK_BACKWARD);
        born(4, 20, STACK_BACKWARD);
        freed(4, 20, ENGINE);
        freed(1, 40, ENGINE);
        if (optimizer_allocates) {
            born(3, 10, STACK_STEP);
            freed(3, 10, STACK_STEP);
        }
        if (zero == ZERO_AT_END)
            freed(2, 100, STACK_ZERO);
    }
}

static void train(unsigned steps, enum zero zero)
{
    train_with(steps, zero, true);
}

START_TEST(gradients_freed_in_time)
{
    train(3, ZERO_AT_END);
    ck_assert_uint_eq(find()->gradients.count, 0);
}
END_TEST

START_TEST(gradients_freed_after_the_forward)
{
    train(3, ZERO_BEFORE_BACKWARD);
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->gradients.count, 1);
    ck_assert_int_eq(growth->gradients.bytes, 100);
    ck_assert_uint_eq(growth->gradients.passes, 2);
    ck_assert(!growth->gradients.stay);
    ck_assert_int_eq(growth->gradients.save_bytes, 0); /* the peak is in the backward pass */
    ck_assert_int_eq(row_of("(gradients)")->fit.kind, GROWTH_KEPT_GRADIENTS);
}
END_TEST

/* The last forward pass, with the peak, runs out of memory, or the trace just ends in it. Only then
 * might zero_grad() still have freed the gradients in time. */
START_TEST(gradients_beside_a_forward_pass_that_fails)
{
    train(3, ZERO_BEFORE_BACKWARD);
    born(5, 400, STACK_FORWARD);
    born(6, 400, STACK_FORWARD);
    if (_i == 0)
        capture_event(&capture, "oom", 0, 400, STACK_FORWARD);
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->gradients.passes, _i == 0 ? 3 : 2);
    ck_assert_int_eq(growth->gradients.save_bytes, _i == 0 ? 100 : 0);
}
END_TEST

/* torch.nn.DataParallel adds up the gradients of two weights in one buffer, which zero_grad()
 * frees. With `_i`, the program does: it may be a result of the program's own. */
START_TEST(gradients_of_several_weights)
{
    born(8, 60, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    born(9, 100, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (unsigned step = 0; step < 3; step++) {
        born(1, 40, STACK_FORWARD);
        if (step > 0)
            freed(2, 160, _i == 0 ? STACK_ZERO : SCRIPT);
        born(2, 160, STACK_BACKWARD);
        freed(1, 40, ENGINE);
        born(3, 10, STACK_STEP);
        freed(3, 10, STACK_STEP);
    }
    ck_assert_int_eq(find()->gradients.bytes, _i == 0 ? 160 : 0);
}
END_TEST

/* A recording that begins late and lasts until the program ends: the weight is older than the
 * trace, and freed after training. */
START_TEST(gradients_of_weights_that_the_end_frees)
{
    for (unsigned step = 0; step < 3; step++) {
        born(1, 40, STACK_FORWARD);
        if (step > 0)
            freed(2, 100, STACK_ZERO);
        born(2, 100, STACK_BACKWARD);
        freed(1, 40, ENGINE);
        born(3, 10, STACK_STEP);
        freed(3, 10, STACK_STEP);
    }
    freed(2, 100, STACK_ZERO);
    freed(9, 100, SCRIPT);
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->gradients.count, 1);
    ck_assert_int_eq(growth->gradients.bytes, 100);
}
END_TEST

/* Each step also makes the gradient of an input, which has the size of a weight. The next forward
 * pass frees both when it sets the variable again. */
static void train_with_input(bool zeroes)
{
    born(9, 100, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (unsigned step = 0; step < 3; step++) {
        uint64_t at = 20 + step;
        born(1, 40, STACK_FORWARD);
        if (step > 0)
            freed(at - 1, 100, zeroes ? SCRIPT : STACK_ZERO);
        born(2, 100, STACK_BACKWARD);
        born(at, 100, STACK_BACKWARD);
        freed(1, 40, ENGINE);
        born(3, 10, STACK_STEP);
        freed(3, 10, STACK_STEP);
        freed(2, 100, zeroes ? STACK_ZERO : SCRIPT);
    }
}

START_TEST(gradients_of_inputs)
{
    train_with_input(true);
    ck_assert_uint_eq(find()->gradients.count, 0);
}
END_TEST

/* The gradient of a second model, whose zero_grad() comes later. */
START_TEST(gradients_zeroed_after_the_forward)
{
    train_with_input(false);
    ck_assert_uint_eq(find()->gradients.count, 1);
}
END_TEST

/* A forward pass without modules, and frees without stacks: `zero` as for train(). */
static void train_functional(enum zero zero)
{
    born(9, 100, SCRIPT);
    for (unsigned step = 0; step < 3; step++) {
        if (zero == ZERO_AT_END && step > 0)
            capture_free(&capture, 2, 100, "");
        born(1, 40, SCRIPT);
        born(5, 10, SCRIPT);
        if (zero == ZERO_BEFORE_BACKWARD && step > 0)
            capture_free(&capture, 2, 100, "");
        born(2, 100, STACK_BACKWARD);
        freed(5, 10, ENGINE);
        freed(1, 40, ENGINE);
        born(3, 10, STACK_STEP);
        freed(3, 10, STACK_STEP);
    }
}

START_TEST(gradients_freed_after_an_inferred_forward)
{
    train_functional(ZERO_BEFORE_BACKWARD);
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->gradients.count, 1);
    ck_assert_int_eq(growth->gradients.bytes, 100);
    ck_assert_uint_eq(growth->gradients.passes, 2);
}
END_TEST

START_TEST(gradients_freed_before_an_inferred_forward)
{
    train_functional(ZERO_AT_END);
    ck_assert_uint_eq(find()->gradients.count, 0);
}
END_TEST

/* SGD and fused optimizers allocate nothing, so no event shows that they ran. */
START_TEST(gradients_of_an_optimizer_that_allocates_nothing)
{
    train_with(4, ZERO_BEFORE_BACKWARD, false);
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->gradients.count, 1);
    ck_assert_int_eq(growth->gradients.bytes, 100);
    ck_assert_uint_eq(growth->gradients.passes, 3);
}
END_TEST

START_TEST(gradients_that_may_accumulate)
{
    train_with(4, ZERO_NEVER, false);
    ck_assert_uint_eq(find()->gradients.count, 0);
}
END_TEST

START_TEST(gradients_that_stay)
{
    train(3, ZERO_NEVER);
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->gradients.count, 1);
    ck_assert_uint_eq(growth->gradients.passes, 2);
    ck_assert(growth->gradients.stay);
}
END_TEST

/* Without stacks and annotations, what looks like an optimizer step may be anything between two
 * backward passes whose gradients accumulate. */
START_TEST(cycles_need_a_sure_optimizer_step)
{
    static const uint8_t evidence[] = {PHASE_BY_STACK, PHASE_BY_ANNOTATION, PHASE_BY_LIFETIMES};
    struct phase_run runs[] = {
        {.first = 0, .phase = PHASE_FORWARD},
        {.first = 1, .phase = PHASE_BACKWARD},
        {.first = 2, .phase = PHASE_OPTIMIZER, .evidence = evidence[_i]},
        {.first = 3, .phase = PHASE_FORWARD},
        {.first = 4, .phase = PHASE_BACKWARD},
    };
    const struct phases phases = {.runs = runs, .count = sizeof(runs) / sizeof(runs[0])};
    struct cycles cycles;
    struct error err;
    for (uint64_t addr = 0; addr < phases.count; addr++)
        born(addr, 10, "");
    capture_load(&capture);
    ck_assert(cycles_find(&cycles, capture.timeline, &phases, false, &err));
    ck_assert_uint_eq(cycles.count, evidence[_i] == PHASE_BY_LIFETIMES ? 1 : 2);
    cycles_release(&cycles);
}
END_TEST

/* Two models with an optimizer each, as in a GAN: what one has been trained with lives through a
 * cycle of the other, until zero_grad frees it. */
START_TEST(gradients_that_wait_for_their_turn)
{
    born(9, 100, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (unsigned step = 0; step < 6; step++) {
        uint64_t model = step % 2;
        if (step > 1)
            freed(20 + model, 100, STACK_ZERO);
        born(1, 40, STACK_FORWARD);
        born(20 + model, 100, STACK_BACKWARD);
        freed(1, 40, ENGINE);
        born(3, 10, STACK_STEP);
        freed(3, 10, STACK_STEP);
    }
    const struct growth *growth = find();
    ck_assert_uint_gt(growth->gradients.count, 0);
    ck_assert(!growth->gradients.stay);
}
END_TEST

/* A result of torch.autograd.grad(): 300 where the parameter has 100. */
START_TEST(derivatives_that_the_program_keeps)
{
    born(9, 100, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (unsigned step = 0; step < 4; step++) {
        born(1, 40, STACK_FORWARD);
        born(20 + step, 300, STACK_BACKWARD);
        freed(1, 40, ENGINE);
        born(3, 10, STACK_STEP);
        freed(3, 10, STACK_STEP);
        if (step > 0)
            freed(19 + step, 300, SCRIPT);
    }
    ck_assert_uint_eq(find()->gradients.count, 0);
}
END_TEST

/* A result of torch.autograd.grad() for the second weight, which has no other gradient. The next
 * step's result takes its place in the variable, or the program sets it to None before. */
static void train_beside_a_variable(bool replaces)
{
    born(8, 100, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    born(9, 300, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (unsigned step = 0; step < 4; step++) {
        born(1, 40, STACK_FORWARD);
        if (step > 0)
            freed(9 + step, 100, STACK_ZERO);
        born(10 + step, 100, STACK_BACKWARD);
        if (step > 0 && !replaces)
            freed(19 + step, 300, SCRIPT);
        born(20 + step, 300, STACK_BACKWARD);
        if (step > 0 && replaces)
            freed(19 + step, 300, SCRIPT);
        freed(1, 40, ENGINE);
        born(3, 10, STACK_STEP);
        freed(3, 10, STACK_STEP);
    }
}

START_TEST(gradients_that_a_variable_holds)
{
    train_beside_a_variable(true);
    const struct growth *growth = find();
    ck_assert_int_eq(growth->gradients.bytes, 100);
    ck_assert_uint_eq(growth->gradients.passes, 3);
    ck_assert_uint_eq(report->kept.at_peak_bytes, 300);
}
END_TEST

/* Such as `weight.grad = None`. */
START_TEST(gradients_that_the_program_sets_to_none)
{
    train_beside_a_variable(false);
    ck_assert_int_eq(find()->gradients.bytes, 400);
    ck_assert_uint_eq(report->kept.at_peak_bytes, 0);
}
END_TEST

/* Two backward passes a step, of which the first leaves to the second what it needs. The first
 * makes a tensor of the size of the weight: a gradient that later passes add to, or what
 * autograd.grad(create_graph=True) returns to a variable. */
static void train_in_two_passes(bool adds)
{
    born(9, 100, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (unsigned step = 0; step < 4; step++) {
        born(1, 400, STACK_FORWARD);
        born(5, 20, STACK_BACKWARD);
        born(20 + step, 100, STACK_BACKWARD);
        freed(5, 20, ENGINE);
        if (step > 0)
            freed(20 + step - !adds, 100, adds ? ACCUMULATE : SCRIPT);
        born(6, 10, STACK_FORWARD);
        born(4, 20, STACK_BACKWARD);
        born(7, 20, STACK_BACKWARD);
        freed(7, 20, ENGINE);
        freed(4, 20, ENGINE);
        freed(6, 10, ENGINE);
        freed(1, 400, ENGINE);
        born(3, 10, STACK_STEP);
        freed(3, 10, STACK_STEP);
    }
}

START_TEST(gradients_of_a_pass_that_keeps_its_graph)
{
    train_in_two_passes(true);
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->gradients.count, 1);
    ck_assert_uint_eq(growth->gradients.passes, 3);
}
END_TEST

START_TEST(derivatives_of_the_size_of_a_weight)
{
    train_in_two_passes(false);
    ck_assert_uint_eq(find()->gradients.count, 0);
}
END_TEST

#define STACK_LBFGS                                                                                \
    CPP("at::_ops::sub_Tensor::call(x)")                                                           \
    "," PY("step", TORCH "optim/lbfgs.py", 7) "," PY("wrapper", TORCH "optim/optimizer.py",        \
                                                     533) "," SCRIPT

#define STACK_HOOK                                                                                 \
    CPP("at::_ops::clone::call(x)") "," PY("<lambda>", "/home/u/train.py", 5) "," ENGINE

/* store[name] = gradient.clone() in a hook */
START_TEST(copies_that_a_hook_makes)
{
    born(9, 100, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (unsigned step = 0; step < 4; step++) {
        born(1, 40, STACK_FORWARD);
        born(2, 100, STACK_BACKWARD);
        born(20 + step, 100, STACK_HOOK);
        if (step > 0)
            freed(19 + step, 100, STACK_HOOK);
        freed(1, 40, ENGINE);
        born(3, 10, STACK_STEP);
        freed(3, 10, STACK_STEP);
        freed(2, 100, SCRIPT);
    }
    ck_assert_uint_eq(find()->gradients.count, 0);
}
END_TEST

/* history_size limits what LBFGS keeps. */
START_TEST(history_of_lbfgs)
{
    for (unsigned step = 0; step < 5; step++) {
        born(1, 40, STACK_FORWARD);
        born(2, 10, STACK_BACKWARD);
        freed(1, 40, ENGINE);
        born(20 + step, 300, STACK_LBFGS);
        freed(2, 10, SCRIPT);
    }
    ck_assert_uint_eq(find()->growing, 0);
}
END_TEST

#define STACK_STATE(file)                                                                          \
    CPP("at::_ops::zeros_like::call(x)")                                                           \
    "," PY("step", file, 7) "," PY("wrapper", TORCH "optim/optimizer.py", 533) "," SCRIPT

/* In some of the steps, the optimizer makes a state. */
static void train_more(unsigned steps, bool (*makes)(unsigned step), const char *stack)
{
    for (unsigned step = 0; step < steps; step++) {
        born(1, 40, STACK_FORWARD);
        born(2, 10, STACK_BACKWARD);
        freed(1, 40, ENGINE);
        if (makes(step))
            born(20 + step, 300, stack);
        else
            freed(2, 10, STACK_STEP);
        if (makes(step))
            freed(2, 10, SCRIPT);
    }
}

static bool every_third(unsigned step)
{
    return step % 3 == 0;
}

static bool all(unsigned step)
{
    return step < UINT_MAX;
}

/* More and more layers are trained. */
START_TEST(states_of_weights_that_are_trained_later)
{
    train_more(13, every_third, STACK_STATE(TORCH "optim/adam.py"));
    ck_assert_uint_eq(find()->growing, 0);
}
END_TEST

START_TEST(states_that_a_custom_optimizer_piles_up)
{
    train_more(8, all, STACK_STATE("/home/u/optimizer.py"));
    ck_assert_uint_eq(find()->growing, 1);
}
END_TEST

/* The peak, in the second forward pass, needs no gradient of the first step. */
START_TEST(gradients_at_the_peak)
{
    train(1, ZERO_NEVER);
    born(5, 500, STACK_FORWARD);
    freed(5, 500, STACK_FORWARD);
    born(1, 40, STACK_FORWARD);
    born(4, 20, STACK_BACKWARD);
    freed(4, 20, ENGINE);
    freed(1, 40, ENGINE);
    const struct growth *growth = find();
    ck_assert_int_eq(report->peak.active_bytes, 700);
    ck_assert_int_eq(growth->gradients.save_bytes, 100);
}
END_TEST

/* Two high passes and a third one precede the step. */
static void train_in_passes(bool adds)
{
    train(1, ZERO_NEVER);
    for (int pass = 0; pass < 3; pass++) {
        born(1, 40, STACK_FORWARD);
        if (pass == 2)
            freed(2, 100, STACK_ZERO);
        born(4, pass < 2 ? 500 : 20, STACK_BACKWARD);
        freed(4, pass < 2 ? 500 : 20, ENGINE);
        if (adds && pass < 2)
            born(5, 100, STACK_BACKWARD);
        if (adds && pass < 2)
            freed(5, 100, ACCUMULATE);
        if (pass == 2)
            born(2, 100, STACK_BACKWARD);
        freed(1, 40, ENGINE);
    }
    born(3, 10, STACK_STEP);
    freed(3, 10, STACK_STEP);
}

/* The first of two passes before the next step adds to the gradient and so needs it. The second
 * pass, which is as high, would have a gradient in any case. */
START_TEST(gradients_that_an_earlier_pass_needs)
{
    train_in_passes(true);
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->gradients.count, 1);
    ck_assert_int_eq(growth->gradients.save_bytes, 0);
}
END_TEST

/* Passes that only compute gradients of the input do not need it. */
START_TEST(gradients_that_no_earlier_pass_needs)
{
    train_in_passes(false);
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->gradients.count, 1);
    ck_assert_int_eq(growth->gradients.save_bytes, 100);
}
END_TEST

static void pass_of_model(uint64_t gradient, uint64_t size, uint64_t scratch, bool zeroes)
{
    born(1, 40, STACK_FORWARD);
    if (zeroes)
        freed(gradient, size, STACK_ZERO);
    born(gradient, size, STACK_BACKWARD);
    born(4, scratch, STACK_BACKWARD);
    freed(4, scratch, ENGINE);
    freed(1, 40, ENGINE);
    born(3, 10, STACK_STEP);
    freed(3, 10, STACK_STEP);
}

/* Two models in turn: the pass of the first, in which the peak is, does not need the gradient of
 * the second, which zero_grad() frees before its own pass only. */
START_TEST(gradients_of_another_model)
{
    born(8, 100, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    born(9, 300, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (int step = 0; step < 3; step++) {
        pass_of_model(10, 100, 500, step > 0);
        pass_of_model(11, 300, 20, step > 0);
    }
    const struct growth *growth = find();
    ck_assert_int_eq(report->peak.active_bytes, 1340);
    ck_assert_int_eq(growth->gradients.save_bytes, 300);
}
END_TEST

/* The passes of both models hold the gradients of the other, and peak at nearly the same height. */
START_TEST(gradients_of_two_models)
{
    born(8, 100, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    born(9, 300, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (int step = 0; step < 3; step++) {
        pass_of_model(10, 100, 500, step > 0);
        pass_of_model(11, 300, 490, step > 0);
    }
    const struct growth *growth = find();
    ck_assert_int_eq(report->peak.active_bytes, 1340);
    ck_assert_int_eq(growth->gradients.save_bytes, 1340 - 1230);
}
END_TEST

/* The pass of the second model goes through the first, as in a GAN. */
static void train_in_turns(bool zeroes_first)
{
    born(8, 100, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    born(9, 300, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (int step = 0; step < 3; step++) {
        if (zeroes_first && step > 0)
            freed(10, 100, STACK_ZERO);
        pass_of_model(10, 100, 500, !zeroes_first && step > 0);
        pass_of_model(11, 300, 20, step > 0);
    }
}

/* The first optimizer's zero_grad() comes before its forward pass, and has to stay there. */
START_TEST(gradients_beside_a_call_in_time)
{
    train_in_turns(true);
    const struct growth *growth = find();
    ck_assert_int_eq(growth->gradients.save_bytes, 300);
    ck_assert(growth->gradients.other_calls);
    const struct finding *kept = report_finding(report, FINDING_KEPT_GRADIENTS);
    ck_assert_ptr_nonnull(kept);
    ck_assert_ptr_nonnull(strstr(kept->next, "keep those that the program has"));
}
END_TEST

START_TEST(gradients_without_a_call_in_time)
{
    train_in_turns(false);
    ck_assert(!find()->gradients.other_calls);
}
END_TEST

/* With mixed precision, the scaled loss is made once zero_grad() has run, as is a loss of its own.
 */
START_TEST(gradients_freed_before_the_loss)
{
    born(9, 100, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (int step = 0; step < 3; step++) {
        born(1, 600, STACK_FORWARD);
        born(4, 20, STACK_FORWARD);
        freed(4, 20, STACK_FORWARD);
        if (step > 0)
            freed(2, 100, STACK_ZERO);
        born(5, 10, STACK_FORWARD);
        born(2, 100, STACK_BACKWARD);
        freed(5, 10, ENGINE);
        freed(1, 600, ENGINE);
        born(3, 10, STACK_STEP);
        freed(3, 10, STACK_STEP);
    }
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->gradients.count, 1);
    ck_assert_uint_eq(growth->gradients.passes, 2);
}
END_TEST

START_TEST(gradients_that_accumulate)
{
    born(9, 100, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (int i = 0; i < 3; i++) {
        born(1, 40, STACK_FORWARD);
        if (i == 0)
            born(2, 100, STACK_BACKWARD);
        born(4, 20, STACK_BACKWARD);
        freed(4, 20, ENGINE);
        freed(1, 40, ENGINE);
    }
    born(3, 10, STACK_STEP);
    freed(3, 10, STACK_STEP);
    ck_assert_uint_eq(find()->gradients.count, 0);
}
END_TEST

TCase *growth_gradients_tests(void)
{
    TCase *tests = tcase_create("growth_gradients");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, gradients_freed_in_time);
    tcase_add_test(tests, gradients_freed_after_the_forward);
    tcase_add_loop_test(tests, gradients_beside_a_forward_pass_that_fails, 0, 2);
    tcase_add_test(tests, gradients_of_weights_that_the_end_frees);
    tcase_add_loop_test(tests, gradients_of_several_weights, 0, 2);
    tcase_add_test(tests, gradients_of_inputs);
    tcase_add_test(tests, gradients_zeroed_after_the_forward);
    tcase_add_test(tests, gradients_freed_after_an_inferred_forward);
    tcase_add_test(tests, gradients_freed_before_an_inferred_forward);
    tcase_add_test(tests, gradients_of_an_optimizer_that_allocates_nothing);
    tcase_add_test(tests, gradients_that_may_accumulate);
    tcase_add_test(tests, gradients_that_stay);
    tcase_add_test(tests, gradients_that_wait_for_their_turn);
    tcase_add_test(tests, derivatives_that_the_program_keeps);
    tcase_add_test(tests, gradients_of_a_pass_that_keeps_its_graph);
    tcase_add_test(tests, derivatives_of_the_size_of_a_weight);
    tcase_add_test(tests, gradients_that_a_variable_holds);
    tcase_add_test(tests, gradients_that_the_program_sets_to_none);
    tcase_add_test(tests, copies_that_a_hook_makes);
    tcase_add_test(tests, history_of_lbfgs);
    tcase_add_test(tests, states_of_weights_that_are_trained_later);
    tcase_add_test(tests, states_that_a_custom_optimizer_piles_up);
    tcase_add_test(tests, gradients_at_the_peak);
    tcase_add_test(tests, gradients_that_an_earlier_pass_needs);
    tcase_add_test(tests, gradients_that_no_earlier_pass_needs);
    tcase_add_test(tests, gradients_beside_a_call_in_time);
    tcase_add_test(tests, gradients_without_a_call_in_time);
    tcase_add_test(tests, gradients_freed_before_the_loss);
    tcase_add_test(tests, gradients_of_another_model);
    tcase_add_test(tests, gradients_of_two_models);
    tcase_add_test(tests, gradients_that_accumulate);
    tcase_add_loop_test(tests, cycles_need_a_sure_optimizer_step, 0, 3);
    return tests;
}
