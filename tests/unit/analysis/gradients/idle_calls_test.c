/* Forward passes for idle gradients alone, called on the line that also calls a trained model. */
#include <string.h>

#include "analysis/gradients/idle_gradients.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define STEPS   4
#define LAYERS  3 /* of each model; each saves its input, but that of the first is the batch */
#define TRAINED 8000
#define FROZEN  24000
#define SAVED   50000
#define BETWEEN 6000 /* the gradient between two layers */
#define RESULT  3000 /* the gradient of a model's result, which the loss makes */
#define INIT    PY("_apply", TORCH "nn/modules/module.py", 900) "," SCRIPT
#define LINE(layer)                                                                                \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/model.py", layer) "," CALL                                          \
                                                 "," PY("run", "/home/u/train.py", 20) "," SCRIPT

/* How the two models show. */
enum programs {
    OWN_LINES,  /* each has lines of its own */
    SAME_LINES, /* both are of one class */
    CHAINED,    /* own lines; the trained model computes the input of the other */
    SHARED,     /* own lines; the other's only layer has the input of a trained layer */
    PROGRAMS,
};

static const char student_line[] = LINE(13), teacher_line[] = LINE(3);

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

static void passing(uint64_t size, const char *frames)
{
    capture_free(&capture, born(size, frames), size, frames);
}

static void go_forward(uint64_t saved[LAYERS], const char *line)
{
    for (unsigned i = 1; i < LAYERS; i++)
        saved[i] = born(SAVED, line);
}

static void release(uint64_t saved)
{
    capture_free(&capture, saved, SAVED, STACK_BACKWARD);
}

/* Gradients of a weight and its bias, for which a part of the bias's is made on the way. Idle ones
 * are made in the first step, and added to later. */
static void gradients(bool is_idle, unsigned step, uint64_t made[2])
{
    const uint64_t sizes[] = {is_idle ? FROZEN : TRAINED, 32};
    for (unsigned i = 0; i < 2; i++) {
        if (!is_idle || step == 0)
            made[i] = born(sizes[i], STACK_BACKWARD);
        else
            passing(sizes[i], STACK_BACKWARD);
        passing(BETWEEN - 1000, STACK_BACKWARD);
    }
}

static void zero(const uint64_t made[2])
{
    capture_free(&capture, made[0], TRAINED, SCRIPT);
    capture_free(&capture, made[1], 32, SCRIPT);
}

/* The backward pass of a model, whose result has the gradient `result`. Returns the gradient of its
 * input, if that has one. */
static uint64_t go_back(bool is_idle, unsigned step, const uint64_t saved[LAYERS], uint64_t result,
                        bool has_input, uint64_t made[2 * LAYERS])
{
    uint64_t size = RESULT;
    for (unsigned i = LAYERS; i-- > 0;) {
        uint64_t next_size = i > 0 ? BETWEEN : RESULT;
        uint64_t next = i > 0 || has_input ? born(next_size, STACK_BACKWARD) : 0;
        gradients(is_idle, step, made + 2 * i);
        if (i > 0)
            release(saved[i]);
        capture_free(&capture, result, size, STACK_BACKWARD);
        result = next;
        size = next_size;
    }
    return result;
}

static void forward(enum programs program, uint64_t student[LAYERS], uint64_t teacher[LAYERS])
{
    if (program == SHARED)
        teacher[0] = born(SAVED, teacher_line);
    go_forward(student, student_line);
    if (program != SHARED)
        go_forward(teacher, program == SAME_LINES ? student_line : teacher_line);
}

/* The student's gradients are `made`. */
static void backward(enum programs program, unsigned step, const uint64_t student[LAYERS],
                     const uint64_t teacher[LAYERS], uint64_t made[2 * LAYERS])
{
    uint64_t ignored[2 * LAYERS];
    passing(24, STACK_BACKWARD);
    uint64_t of_student = program == CHAINED ? 0 : born(RESULT, STACK_BACKWARD);
    if (program != SHARED) {
        uint64_t of_teacher = born(RESULT, STACK_BACKWARD);
        uint64_t input = go_back(true, step, teacher, of_teacher, program == CHAINED, ignored);
        of_student = program == CHAINED ? input : of_student;
    }
    go_back(false, step, student, of_student, false, made);
    if (program == SHARED) {
        gradients(true, step, ignored);
        release(teacher[0]);
    }
}

static void train(enum programs program)
{
    uint64_t made[2 * LAYERS], student[LAYERS], teacher[LAYERS];
    for (unsigned i = 0; i < LAYERS; i++) {
        born(TRAINED, INIT);
        born(FROZEN, INIT);
    }
    for (unsigned step = 0; step < STEPS; step++) {
        forward(program, student, teacher);
        for (unsigned i = 0; step > 0 && i < LAYERS; i++)
            zero(made + 2 * i);
        backward(program, step, student, teacher, made);
        for (unsigned i = 0; i < 2 * LAYERS; i++)
            if (step == 0)
                born(TRAINED, STACK_STEP);
            else
                passing(TRAINED, STACK_STEP);
    }
}

START_TEST(models_that_one_line_calls)
{
    train((enum programs)_i);
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    const struct idle_gradients *idle = &report->growth.idle;
    const struct finding *finding = report_finding(report, FINDING_IDLE_GRADIENTS);
    bool is_told = _i == OWN_LINES;
    ck_assert_int_eq(idle->reason, IDLE_UNTRAINED);
    ck_assert_int_eq(idle->pass_bytes, is_told ? (LAYERS - 1) * SAVED : 0);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(strstr(finding->what, "in code such as model.py:3 forward, called at "
                                           "train.py:20 run") != NULL,
                     is_told);
    ck_assert_int_eq(strstr(finding->next, "torch.no_grad()") != NULL, is_told);
    device_report_destroy(report);
}
END_TEST

TCase *idle_calls_tests(void)
{
    TCase *tests = tcase_create("calls of passes for idle gradients");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, models_that_one_line_calls, OWN_LINES, PROGRAMS);
    return tests;
}
