/* Adversarial training: gradients of the generator that the loss of the critic makes. */
#include <string.h>

#include "analysis/gradients/idle_gradients.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define STEPS     4
#define CRITIC    8000 /* a parameter; the critic has one more of the generator's size */
#define GENERATOR 24000
#define SAVED     200000
#define RESULT    3000 /* of the generator, which the critic saves */
#define INIT      PY("_apply", TORCH "nn/modules/module.py", 900) "," SCRIPT
#define CALLED(line, layer)                                                                        \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/model.py", layer) "," CALL "," PY("run", "/home/u/train.py",        \
                                                                 line) "," SCRIPT
#define ZERO(line)                                                                                 \
    PY("zero_grad", TORCH "optim/optimizer.py", 1000)                                              \
    "," PY("run", "/home/u/train.py", line) "," SCRIPT

enum programs {
    NOT_DETACHED,
    DETACHED,
    SKIPPED, /* both losses train both; the second optimizer skips its first step */
    PROGRAMS,
};

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

static void passing(uint64_t size, const char *frames)
{
    capture_free(&capture, born(size, frames), size, frames);
}

/* Makes a gradient, or adds to it. */
static void add_to(uint64_t *gradient, uint64_t size)
{
    if (*gradient)
        passing(size, STACK_BACKWARD);
    else
        *gradient = born(size, STACK_BACKWARD);
}

static void zero(uint64_t *gradient, uint64_t size, const char *frames)
{
    if (*gradient)
        capture_free(&capture, *gradient, size, frames);
    *gradient = 0;
}

/* Each of two states has a line of its own. */
static void step_of(uint64_t size, bool *has_state)
{
    static const char *const lines[] = {STACK_STEP,
                                        PY("step", "/home/u/optimizer.py", 8) "," PY(
                                            "wrapper", TORCH "optim/optimizer.py", 533) "," SCRIPT};
    for (unsigned i = 0; i < 2; i++)
        if (*has_state)
            passing(size, lines[i]);
        else
            born(size, lines[i]);
    *has_state = true;
}

struct program {
    uint64_t of_critic[2], of_generator[2];
    bool critic_has_state[2], generator_has_state[2];
};

static void zero_critic(struct program *program)
{
    zero(&program->of_critic[0], CRITIC, ZERO(15));
    zero(&program->of_critic[1], GENERATOR, ZERO(15));
}

static void zero_generator(struct program *program)
{
    for (unsigned i = 0; i < 2; i++)
        zero(&program->of_generator[i], GENERATOR, ZERO(29));
}

static void critic_step(struct program *program, bool through, bool steps_both)
{
    uint64_t saved[2] = {0};
    for (unsigned i = 0; through && i < 2; i++)
        saved[i] = born(SAVED, CALLED(20, 3));
    uint64_t fake = born(RESULT, CALLED(20, 4)), own = born(500, CALLED(21, 13));
    passing(24, STACK_BACKWARD);
    uint64_t from = born(7000, STACK_BACKWARD);
    add_to(&program->of_critic[0], CRITIC);
    capture_free(&capture, own, 500, STACK_BACKWARD);
    add_to(&program->of_critic[1], GENERATOR);
    capture_free(&capture, fake, RESULT, STACK_BACKWARD);
    for (unsigned i = 0; through && i < 2; i++) {
        add_to(&program->of_generator[i], GENERATOR);
        capture_free(&capture, saved[i], SAVED, STACK_BACKWARD);
    }
    capture_free(&capture, from, 7000, STACK_BACKWARD);
    step_of(CRITIC, &program->critic_has_state[0]);
    step_of(GENERATOR, &program->critic_has_state[1]);
    passing(600, SCRIPT);
    for (unsigned i = 0; steps_both && i < 2; i++)
        step_of(GENERATOR, &program->generator_has_state[i]);
}

static void generator_step(struct program *program)
{
    uint64_t saved = born(SAVED / 2, CALLED(30, 3)), own = born(500, CALLED(31, 13));
    zero_generator(program);
    passing(24, STACK_BACKWARD);
    add_to(&program->of_critic[0], CRITIC);
    capture_free(&capture, own, 500, STACK_BACKWARD);
    add_to(&program->of_critic[1], GENERATOR);
    for (unsigned i = 0; i < 2; i++)
        add_to(&program->of_generator[i], GENERATOR);
    capture_free(&capture, saved, SAVED / 2, STACK_BACKWARD);
    for (unsigned i = 0; i < 2; i++)
        step_of(GENERATOR, &program->generator_has_state[i]);
}

static void train(enum programs kind)
{
    struct program program = {0};
    for (unsigned i = 0; i < 3; i++)
        born(GENERATOR, INIT);
    born(CRITIC, INIT);
    for (unsigned step = 0; step < STEPS; step++) {
        zero_critic(&program);
        if (kind == SKIPPED)
            zero_generator(&program);
        critic_step(&program, kind != DETACHED, kind == SKIPPED && step > 0);
        if (kind != SKIPPED)
            generator_step(&program);
    }
}

START_TEST(discarded_gradients)
{
    train((enum programs)_i);
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    const struct idle_gradients *idle = &report->growth.idle;
    const struct finding *finding = report_finding(report, FINDING_IDLE_GRADIENTS);
    ck_assert_int_eq(idle->reason, _i == DETACHED ? IDLE_UNKNOWN : IDLE_DISCARDED);
    ck_assert_int_eq(idle->pass_bytes, _i == NOT_DETACHED ? 2 * SAVED : 0);
    ck_assert_int_eq(finding != NULL, _i == NOT_DETACHED);
    if (finding) {
        ck_assert_uint_eq(idle->count, 2);
        ck_assert_int_eq(idle->bytes, 2 * GENERATOR);
        ck_assert(finding->at_least);
        ck_assert_ptr_nonnull(strstr(finding->what, "is called at train.py:20 run"));
        ck_assert_ptr_nonnull(strstr(finding->next, "fake = generator(noise).detach()"));
    }
    device_report_destroy(report);
}
END_TEST

TCase *discarded_gradients_tests(void)
{
    TCase *tests = tcase_create("discarded gradients");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, discarded_gradients, NOT_DETACHED, PROGRAMS);
    return tests;
}
