/* Buffers that constructors make. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

#define ZEROS  CPP("at::_ops::zeros::call(x)")
#define LINEAR ZEROS "," PY("__init__", TORCH "nn/modules/linear.py", 105)
#define MOVE   ZEROS "," PY("_apply", TORCH "nn/modules/module.py", 1000)
#define NET    PY("__init__", "/home/u/model.py", 20) "," PY("build", "/home/u/train.py", 5)
#define TABLES PY("rotary", "/home/u/model.py", 9)
#define REPLAY PY("__init__", "/home/u/replay.py", 3)
#define AGENT  PY("__init__", "/home/u/agent.py", 7)

/* Two steps of a model with a weight of 1000 bytes. */
static void train(void)
{
    for (int step = 0; step < 2; step++) {
        born(1000, 50, STACK_FORWARD);
        born(2000, 1000, STACK_BACKWARD);
        capture_free(&capture, 1000, 50, ENGINE);
        born(1001, 50, STACK_STEP);
        capture_free(&capture, 1001, 50, STACK_STEP);
        capture_free(&capture, 2000, 1000, SCRIPT);
    }
    capture_load(&capture);
}

static void expect(uint64_t addr, enum category category)
{
    uint8_t reason;
    enum category found = capture_category_why(&capture, addr, &reason);
    ck_assert_msg(found == category, "%d: %s: %s", (int)addr, category_name(found),
                  reason_name(reason));
}

START_TEST(a_buffer_is_made_beside_weights)
{
    born(1, 1000, LINEAR "," NET "," SCRIPT);
    born(2, 3000, ZEROS "," NET "," SCRIPT);
    born(3, 5000, ZEROS "," TABLES "," NET "," SCRIPT);
    born(4, 7000, ZEROS "," PY("Mask.__init__", "/home/u/mask.py", 4) "," NET "," SCRIPT);
    train();
    for (uint64_t addr = 1; addr <= 4; addr++)
        expect(addr, CATEGORY_PARAMETER);
}
END_TEST

START_TEST(weights_of_plain_tensors_tell_a_constructor)
{
    born(1, 1000, ZEROS "," NET "," SCRIPT);
    born(2, 3000, ZEROS "," NET "," SCRIPT);
    train();
    expect(1, CATEGORY_PARAMETER);
    expect(2, CATEGORY_PARAMETER);
}
END_TEST

START_TEST(other_objects_hold_data)
{
    born(1, 1000, LINEAR "," NET "," SCRIPT);
    born(2, 3000, ZEROS "," REPLAY "," SCRIPT);
    train();
    expect(1, CATEGORY_PARAMETER);
    expect(2, CATEGORY_INPUT);
}
END_TEST

/* A constructor of an object that moves a model to the device, or constructs it, may make data as
 * well. */
START_TEST(the_owner_of_a_model_is_none)
{
    born(1, 1000, MOVE "," AGENT "," SCRIPT);
    born(2, 3000, ZEROS "," AGENT "," SCRIPT);
    train();
    expect(1, CATEGORY_PARAMETER);
    expect(2, CATEGORY_INPUT);
}
END_TEST

#define WEIGHTS 8u
#define STATIC  ZEROS "," PY("main", "/home/u/graphs.py", 6) "," SCRIPT

/* A model, and besides it `zeros` blocks at 301, ... of the sizes of its first weights. */
static void train_beside(unsigned zeros, const char *stack)
{
    for (unsigned i = 0; i < WEIGHTS; i++)
        born(101 + i, 1000 + 10 * i, LINEAR "," NET "," SCRIPT);
    for (unsigned i = 0; i < zeros; i++)
        born(301 + i, 1000 + 10 * i, stack);
    for (int step = 0; step < 2; step++) {
        born(1000, 50, STACK_FORWARD);
        for (unsigned i = 0; i < WEIGHTS; i++)
            born(2000 + i, 1000 + 10 * i, STACK_BACKWARD);
        capture_free(&capture, 1000, 50, ENGINE);
        born(1001, 50, STACK_STEP);
        capture_free(&capture, 1001, 50, STACK_STEP);
        for (unsigned i = 0; i < WEIGHTS; i++)
            capture_free(&capture, 2000 + i, 1000 + 10 * i, SCRIPT);
    }
    capture_load(&capture);
}

START_TEST(zeros_for_most_weights_are_states)
{
    train_beside(WEIGHTS, STATIC);
    expect(101, CATEGORY_PARAMETER);
    expect(301, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* A batch is copied into the buffer, which has the size of a weight by chance. */
START_TEST(zeros_of_one_size_are_a_buffer)
{
    train_beside(1, STATIC);
    expect(101, CATEGORY_PARAMETER);
    expect(301, CATEGORY_INPUT);
}
END_TEST

START_TEST(a_model_has_zeros_of_its_own)
{
    train_beside(1, ZEROS "," NET "," SCRIPT);
    expect(101, CATEGORY_PARAMETER);
    expect(301, CATEGORY_PARAMETER);
}
END_TEST

TCase *category_constructors_tests(void)
{
    TCase *tests = tcase_create("buffers that constructors make");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_buffer_is_made_beside_weights);
    tcase_add_test(tests, weights_of_plain_tensors_tell_a_constructor);
    tcase_add_test(tests, other_objects_hold_data);
    tcase_add_test(tests, the_owner_of_a_model_is_none);
    tcase_add_test(tests, zeros_for_most_weights_are_states);
    tcase_add_test(tests, zeros_of_one_size_are_a_buffer);
    tcase_add_test(tests, a_model_has_zeros_of_its_own);
    return tests;
}
