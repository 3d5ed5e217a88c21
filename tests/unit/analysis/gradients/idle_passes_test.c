/* Forward passes of models that are not trained, but whose gradients are computed. */
#include <string.h>

#include "analysis/gradients/idle_gradients.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define STEPS   4
#define TRAINED 8000
#define FROZEN  24000
#define SAVED   50000 /* by the pass of the model that is not trained */
#define RESULT  3000  /* of its last layer, which the loss needs */
#define BETWEEN 6000  /* the gradient of its input, or of the loss */
#define INIT    PY("_apply", TORCH "nn/modules/module.py", 900) "," SCRIPT
#define CALLED(line, layer)                                                                        \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/model.py", layer) "," CALL "," PY("run", "/home/u/train.py",        \
                                                                 line) "," SCRIPT
#define TEACHER 20
#define STUDENT 30

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

static void passing(uint64_t size, const char *frames)
{
    capture_free(&capture, born(size, frames), size, frames);
}

/* How the backward pass goes. */
enum order {
    STUDENT_FIRST, /* the teacher's part comes last */
    TEACHER_FIRST, /* the student's part follows, of a gradient that the loss has for it */
    CHAINED,       /* the student's part follows, of the gradient of the teacher's input */
};

/* The backward pass of the teacher; its gradient is made in the first step, and added to later. */
static void teach(unsigned step, uint64_t saved, bool chained, uint64_t *input)
{
    if (step == 0)
        born(64, STACK_BACKWARD);
    else
        passing(64, STACK_BACKWARD);
    capture_free(&capture, saved, SAVED, STACK_BACKWARD);
    if (chained)
        *input = born(BETWEEN, STACK_BACKWARD);
    if (step == 0)
        born(FROZEN, STACK_BACKWARD);
    else
        passing(FROZEN, STACK_BACKWARD);
}

static uint64_t learn(uint64_t activation, uint64_t input)
{
    if (input) {
        uint64_t next = born(700, STACK_BACKWARD);
        capture_free(&capture, input, BETWEEN, STACK_BACKWARD);
        passing(900, STACK_BACKWARD);
        capture_free(&capture, next, 700, STACK_BACKWARD);
    }
    uint64_t gradient = born(TRAINED, STACK_BACKWARD);
    capture_free(&capture, activation, 500, STACK_BACKWARD);
    return gradient;
}

static void train(enum order order)
{
    uint64_t gradient = 0, input = 0;
    born(TRAINED, INIT);
    born(FROZEN, INIT);
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t saved = born(SAVED, CALLED(TEACHER, 3));
        uint64_t result = born(RESULT, CALLED(TEACHER, 4));
        uint64_t activation = born(500, CALLED(STUDENT, 3));
        if (gradient)
            capture_free(&capture, gradient, TRAINED, SCRIPT);
        passing(24, STACK_BACKWARD);
        capture_free(&capture, result, RESULT, STACK_BACKWARD);
        if (order == STUDENT_FIRST)
            gradient = learn(activation, 0);
        teach(step, saved, order == CHAINED, &input);
        if (order != STUDENT_FIRST)
            gradient = learn(activation, input);
        for (unsigned i = 0; i < 2; i++)
            if (step == 0)
                born(TRAINED, STACK_STEP);
            else
                passing(TRAINED, STACK_STEP);
    }
}

/* The result stays, since the student's loss reads it. */
START_TEST(a_pass_for_idle_gradients_alone)
{
    train((enum order)_i);
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    const struct idle_gradients *idle = &report->growth.idle;
    bool is_alone = _i != CHAINED;
    ck_assert_int_eq(idle->reason, IDLE_UNTRAINED);
    ck_assert_int_eq(idle->pass_bytes, is_alone ? SAVED : 0);
    if (is_alone)
        ck_assert_int_ge(idle->save_bytes, SAVED);
    else
        ck_assert_int_le(idle->save_bytes, FROZEN + 64);
    const struct finding *finding = report_finding(report, FINDING_IDLE_GRADIENTS);
    ck_assert_ptr_nonnull(finding);
    const struct finding *all = report_finding(report, FINDING_ACTIVATIONS);
    ck_assert_ptr_nonnull(all);
    ck_assert(finding < all); /* one line of code, and certain */
    ck_assert_int_eq(
        strstr(finding->what, "called at train.py:20 run, called at train.py:9") != NULL, is_alone);
    ck_assert_int_eq(strstr(finding->next, "torch.no_grad()") != NULL, is_alone);
    device_report_destroy(report);
}
END_TEST

TCase *idle_passes_tests(void)
{
    TCase *tests = tcase_create("passes for idle gradients");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, a_pass_for_idle_gradients_alone, STUDENT_FIRST, CHAINED + 1);
    return tests;
}
