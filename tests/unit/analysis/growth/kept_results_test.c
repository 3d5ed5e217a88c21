/* Results of earlier steps that variables hold. */
#include "analysis/growth/kept_results.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define STEPS  3
#define LOGITS 500
#define AT(n)  PY("<module>", "/home/u/train.py", n)
#define MODEL                                                                                      \
    CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/model.py", 3) "," CALL "," AT(4)

#define INSIDE                                                                                     \
    CPP("at::_ops::exp::call(x)") "," PY("forward", "/home/u/model.py", 2) "," CALL "," AT(4)

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

/* logits = model(x); loss.backward(); optimizer.step(). The variable `logits` is assigned again,
 * deleted at the end of the step, or stored in a list. The forward pass begins with `scratch`
 * bytes. */
static void train(uint64_t scratch, bool deletes, bool stores, bool stops_early)
{
    uint64_t held = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t needed = born(scratch, INSIDE);
        capture_free(&capture, needed, scratch, INSIDE);
        if (stops_early && i + 1 == STEPS)
            return;
        uint64_t logits = born(LOGITS, MODEL);
        if (held && !stores)
            capture_free(&capture, held, LOGITS, AT(4));
        uint64_t gradient = born(10, STACK_BACKWARD);
        capture_free(&capture, gradient, 10, STACK_STEP);
        born(1, STACK_STEP);
        if (deletes)
            capture_free(&capture, logits, LOGITS, STACK_STEP);
        held = deletes ? 0 : logits;
    }
}

static void expect(uint64_t at_peak_bytes, int64_t save_bytes)
{
    struct device_report *report;
    capture_load(&capture);
    report = capture_report(&capture, 10);
    ck_assert_uint_eq(report->kept.at_peak_bytes, at_peak_bytes);
    ck_assert_int_eq(report->kept.save_bytes, save_bytes);
    device_report_destroy(report);
}

START_TEST(a_variable_is_set_again)
{
    train(2000, false, false, false); /* at the peak: 2000, 500 and the states */
    expect(LOGITS, LOGITS);
}
END_TEST

START_TEST(what_is_saved_ends_with_another_peak)
{
    train(300, false, false, false); /* both logits at once, or one with the gradient */
    expect(LOGITS, LOGITS - 10);
}
END_TEST

#define SCORES CPP("at::_ops::cat::call(x)") "," AT(8)

/* A step that keeps nothing. */
static void train_once(void)
{
    uint64_t batch = born(30, CPP("at::_ops::_to_copy::call(x)") "," AT(3));
    uint64_t saved = born(2000, MODEL);
    uint64_t gradient = born(10, STACK_BACKWARD);
    capture_free(&capture, saved, 2000, ENGINE);
    capture_free(&capture, born(5, STACK_STEP), 5, STACK_STEP);
    capture_free(&capture, gradient, 10, STACK_STEP);
    capture_free(&capture, batch, 30, AT(3));
}

/* Two parts, whose scores go to the variable `held`, unless a list stores them; returns it. */
static uint64_t evaluate(uint64_t held, bool stores)
{
    for (unsigned part = 0; part < 2; part++) {
        capture_free(&capture, born(40, MODEL), 40, AT(7));
        uint64_t scores = born(LOGITS, SCORES);
        if (held && !stores)
            capture_free(&capture, held, LOGITS, AT(8));
        held = scores;
    }
    return held;
}

/* An evaluation after two steps leaves its scores in a variable for the next epoch, until the next
 * evaluation. With `_i`, the program deletes them. */
START_TEST(an_evaluation_leaves_its_last_result)
{
    uint64_t held = 0;
    for (unsigned epoch = 0; epoch < 3; epoch++) {
        train_once();
        train_once();
        held = evaluate(held, false);
        if (_i == 1) {
            capture_free(&capture, held, LOGITS, AT(9));
            held = 0;
        }
    }
    expect(_i == 0 ? LOGITS : 0, _i == 0 ? LOGITS : 0);
}
END_TEST

/* Memory runs out before a second evaluation sets the variable again. The parts of the first one
 * show that it is a variable. */
START_TEST(an_evaluation_that_no_other_follows)
{
    train_once();
    train_once();
    evaluate(0, _i == 1);
    train_once();
    born(2000, MODEL);
    capture_event(&capture, "oom", 0, 4000, MODEL);
    expect(_i == 0 ? LOGITS : 0, _i == 0 ? LOGITS : 0);
}
END_TEST

/* The peak lies in the evaluation, whose scores are as large as all that a step needs. With `_i`,
 * each pass begins without those of the one before, or a list stores them. */
START_TEST(an_evaluation_holds_its_results_during_its_next_pass)
{
    enum { SET_AGAIN, DELETED, STORED, LARGE = 3000 };
    uint64_t held = 0;
    train_once();
    for (unsigned part = 0; part < 3; part++) {
        if (held && _i == DELETED)
            capture_free(&capture, held, LARGE, AT(9));
        capture_free(&capture, born(40, MODEL), 40, AT(7));
        uint64_t scores = born(LARGE, SCORES);
        if (held && _i == SET_AGAIN)
            capture_free(&capture, held, LARGE, AT(8));
        held = scores;
    }
    train_once();
    train_once();
    expect(_i == SET_AGAIN ? LARGE : 0, _i == SET_AGAIN ? LARGE - 30 : 0); /* a batch beside it */
}
END_TEST

START_TEST(a_deleted_variable_keeps_nothing)
{
    train(2000, true, false, false);
    expect(0, 0);
}
END_TEST

START_TEST(a_list_is_no_variable)
{
    train(2000, false, true, false);
    expect(0, 0);
}
END_TEST

START_TEST(the_last_step_may_end_before_it_sets_the_variable)
{
    train(2000, false, false, true);
    expect(LOGITS, LOGITS);
}
END_TEST

/* tokens = [pick(model(x)) for each x]: the function frees its list when it returns, together with
 * the last result. */
START_TEST(a_list_that_a_function_keeps)
{
    uint64_t results[STEPS];
    for (unsigned call = 0; call < 2; call++) {
        for (unsigned i = 0; i < STEPS; i++) {
            uint64_t needed = born(2000, INSIDE);
            capture_free(&capture, needed, 2000, INSIDE);
            results[i] = born(LOGITS, MODEL);
            uint64_t picked = born(8, AT(5));
            capture_free(&capture, picked, 8, AT(5));
        }
        for (unsigned i = 0; i < STEPS; i++)
            capture_free(&capture, results[i], LOGITS, AT(7));
    }
    expect(0, 0);
}
END_TEST

#define GRAPH_DIES                                                                                 \
    CPP("torch::autograd::SavedVariable::reset_data()")                                            \
    "," CPP("torch::autograd::Node::~Node()") "," AT(4)

/* loss.backward(retain_graph=True) frees nothing: the graph dies when `loss` is set again. */
START_TEST(a_graph_that_a_variable_keeps)
{
    uint64_t saved = 0, loss = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t inner = born(2000, INSIDE), result = born(LOGITS, MODEL);
        if (loss) {
            capture_free(&capture, loss, LOGITS, AT(4));
            capture_free(&capture, saved, 2000, GRAPH_DIES);
        }
        uint64_t gradient = born(10, STACK_BACKWARD);
        capture_free(&capture, gradient, 10, STACK_STEP);
        born(1, STACK_STEP);
        saved = inner;
        loss = result;
    }
    expect(2000 + LOGITS, 2000 + LOGITS - 10);
}
END_TEST

/* result = f(x): a variable of f() is freed when f() returns. */
START_TEST(variables_of_a_function_that_returns)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t variable = born(2000, INSIDE);
        uint64_t gradient = born(10, STACK_BACKWARD);
        capture_free(&capture, gradient, 10, STACK_STEP);
        born(1, STACK_STEP);
        uint64_t returned = born(LOGITS, MODEL);
        capture_free(&capture, variable, 2000, AT(4));
        if (result)
            capture_free(&capture, result, LOGITS, AT(4));
        result = returned;
    }
    expect(LOGITS, LOGITS - 10 + 1); /* without it, the peak is where the gradient is */
}
END_TEST

#define BATCHES 3 /* whose gradients a step accumulates */

/* The trace ends in the middle of the second batch of the last step. */
enum accumulation { SET_AGAIN, DELETED, NEEDED_TWICE, STOPS_EARLY };

static void backward_of_batch(uint64_t *gradient)
{
    if (*gradient)
        capture_free(&capture, born(10, STACK_BACKWARD), 10, STACK_BACKWARD);
    else
        *gradient = born(10, STACK_BACKWARD);
}

/* for each batch: maps = backbone(x), which needs memory of its own; the backward pass of a loss
 * over them. The peak lies in the forward pass of the second batch of the last step. */
static void accumulate(enum accumulation kind)
{
    uint64_t held = 0, gradient = 0;
    for (unsigned i = 0; i < STEPS * BATCHES; i++) {
        bool is_peak = i == (STEPS - 1) * BATCHES + 1;
        uint64_t scratch = is_peak ? 2000 : 100;
        uint64_t needed = born(scratch, INSIDE);
        if (is_peak && kind == STOPS_EARLY)
            return;
        capture_free(&capture, needed, scratch, INSIDE);
        uint64_t maps = born(LOGITS, MODEL);
        if (held)
            capture_free(&capture, held, LOGITS, AT(4));
        backward_of_batch(&gradient);
        if (kind == NEEDED_TWICE) {
            uint64_t again = born(2500, INSIDE);
            capture_free(&capture, again, 2500, INSIDE);
            backward_of_batch(&gradient);
        }
        if (kind == DELETED)
            capture_free(&capture, maps, LOGITS, AT(6));
        held = kind == DELETED ? 0 : maps;
        if (i % BATCHES == BATCHES - 1) {
            capture_free(&capture, gradient, 10, STACK_STEP);
            gradient = 0;
            born(1, STACK_STEP);
        }
    }
}

/* The last result of a batch stays up to that of the next one, of the same step. */
START_TEST(a_batch_of_an_accumulation_is_set_again)
{
    struct device_report *report;
    uint64_t waits = _i == SET_AGAIN || _i == STOPS_EARLY ? LOGITS : 0;
    accumulate((enum accumulation)_i);
    capture_load(&capture);
    report = capture_report(&capture, 10);
    ck_assert_uint_eq(report->kept.at_peak_bytes, waits);
    ck_assert_uint_eq(report->kept.in_step_bytes, waits);
    ck_assert_int_eq(report->kept.save_bytes, (int64_t)waits);
    ck_assert(!report->kept.of_evaluation);
    device_report_destroy(report);
}
END_TEST

TCase *kept_results_tests(void)
{
    TCase *tests = tcase_create("kept results");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_variable_is_set_again);
    tcase_add_test(tests, what_is_saved_ends_with_another_peak);
    tcase_add_loop_test(tests, an_evaluation_leaves_its_last_result, 0, 2);
    tcase_add_loop_test(tests, an_evaluation_that_no_other_follows, 0, 2);
    tcase_add_loop_test(tests, an_evaluation_holds_its_results_during_its_next_pass, 0, 3);
    tcase_add_test(tests, a_deleted_variable_keeps_nothing);
    tcase_add_test(tests, a_list_is_no_variable);
    tcase_add_test(tests, the_last_step_may_end_before_it_sets_the_variable);
    tcase_add_test(tests, a_list_that_a_function_keeps);
    tcase_add_test(tests, a_graph_that_a_variable_keeps);
    tcase_add_test(tests, variables_of_a_function_that_returns);
    tcase_add_loop_test(tests, a_batch_of_an_accumulation_is_set_again, 0, STOPS_EARLY + 1);
    return tests;
}
