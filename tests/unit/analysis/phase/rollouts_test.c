/* Iterations of reinforcement learning, which have several optimizer steps each. */
#include "unit/analysis/phase/steps_fixture.h"

#define OP(name, line)                                                                             \
    CPP("at::_ops::" name "::call(x)") "," PY("<module>", "/home/u/train.py", line)
#define STACK_BUFFER OP("empty", 1)
#define STACK_RESULT OP("stack", 2)
#define STACK_PART   OP("index", 3)
#define STACK_COPY   OP("_to_copy", 4)

#define STEPS 3

static void freed(uint64_t addr, uint64_t size, const char *frames)
{
    capture_free(&capture, addr, size, frames);
}

/* A minibatch, the passes, and the optimizer. */
static void step(const char *batch)
{
    uint64_t at = next;
    born(2000, batch);
    born(500, STACK_FORWARD);
    born(300, STACK_FORWARD);
    born(400, STACK_BACKWARD);
    freed(at + 2, 300, ENGINE);
    freed(at + 1, 500, ENGINE);
    annotate("START", "Optimizer.step#Adam.step");
    born(50, STACK_STEP);
    freed(at + 4, 50, STACK_STEP);
    annotate("END", "Optimizer.step#Adam.step");
    freed(at + 3, 400, SCRIPT);
    freed(at, 2000, SCRIPT);
}

/* Forward passes without gradients, `count` in a row, with a result each that is kept for a while.
 */
static void passes(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t at = next;
        born(500, STACK_FORWARD);
        freed(at, 500, STACK_FORWARD);
        born(10, STACK_RESULT);
        freed(at + 1, 10, SCRIPT);
    }
}

/* Four iterations. The buffers of the one before are freed once the new ones are full. */
static void train(const char *buffer, uint64_t bytes, const char *batch)
{
    uint64_t last = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t at = next;
        born(bytes, buffer);
        passes(6);
        if (i > 0)
            freed(last, bytes, SCRIPT);
        last = at;
        for (unsigned k = 0; k < STEPS; k++)
            step(batch);
    }
    find();
}

START_TEST(an_iteration_has_a_rollout)
{
    train(STACK_BUFFER, 6000, STACK_PART);
    ck_assert_int_eq(steps.source, STEPS_ANNOTATION);
    ck_assert(!steps.one_optimizer_step);
    ck_assert_uint_eq(steps.count, 4);
    ck_assert_uint_eq(steps_complete(&steps), 4);
}
END_TEST

/* Epochs with an evaluation after each, which keeps its results until the next one is over. */
START_TEST(an_evaluation_is_no_rollout)
{
    train(STACK_RESULT, 6000, STACK_COPY);
    ck_assert_uint_ge(steps.count, 4 * STEPS);
}
END_TEST

START_TEST(a_rollout_collects_as_much_as_a_batch)
{
    train(STACK_RESULT, 1500, STACK_PART);
    ck_assert_uint_ge(steps.count, 4 * STEPS);
}
END_TEST

TCase *rollouts_tests(void)
{
    TCase *tests = tcase_create("rollouts");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, an_iteration_has_a_rollout);
    tcase_add_test(tests, an_evaluation_is_no_rollout);
    tcase_add_test(tests, a_rollout_collects_as_much_as_a_batch);
    return tests;
}
