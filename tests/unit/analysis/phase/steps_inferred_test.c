/* The iterations of a trace without annotations that tell them: by phases, stacks and sizes. */
#include "unit/analysis/phase/steps_fixture.h"

START_TEST(repeated_phases)
{
    for (int i = 0; i < 2; i++) {
        born(1, STACK_FORWARD);
        born(1, STACK_BACKWARD);
        born(1, STACK_FORWARD); /* gradients accumulate: two passes a step */
        born(1, STACK_BACKWARD);
        born(1, STACK_STEP);
        born(1, SCRIPT);
    }
    find();
    ck_assert_int_eq(steps.source, STEPS_OPTIMIZER);
    ck_assert_uint_eq(steps.count, 2);
    expect(0, 0, 0, 4, true);
    expect(1, 1, 5, 10, true);
}
END_TEST

START_TEST(an_optimizer_that_allocates_nothing)
{
    for (int i = 0; i < 2; i++) {
        born(1, STACK_FORWARD);
        born(1, STACK_LOSS);
        born(1, STACK_BACKWARD);
    }
    find();
    ck_assert_int_eq(steps.source, STEPS_BACKWARD);
    ck_assert_uint_eq(steps.count, 2);
    expect(0, 0, 0, 2, true);
    expect(1, 1, 3, 5, true);
}
END_TEST

START_TEST(out_of_memory_leaves_a_step_open)
{
    born(1, STACK_FORWARD);
    born(1, STACK_BACKWARD);
    capture_event_with(&capture, "oom", 0, 4096, STACK_BACKWARD, ",\"device_free\":17");
    find();
    ck_assert_uint_eq(steps.count, 1);
    expect(0, 0, 0, 2, false);
}
END_TEST

START_TEST(inference_repeats_forwards)
{
    for (int i = 0; i < 3; i++) {
        born(1, STACK_FORWARD);
        born(1, SCRIPT);
    }
    find();
    ck_assert_int_eq(steps.source, STEPS_FORWARD);
    ck_assert_uint_eq(steps.count, 3);
    expect(0, 0, 0, 0, true);
    expect(1, 1, 1, 2, true);
    expect(2, 2, 3, 4, true);
}
END_TEST

#define CALL_AT(layer, line)                                                                       \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/" layer ".py", 3) "," CALL "," PY("answer", "/home/u/serve.py",     \
                                                                 line) "," SCRIPT
#define SAMPLE(line)                                                                               \
    CPP("at::_ops::argmax::call(x)") "," PY("answer", "/home/u/serve.py", line) "," SCRIPT

/* The program calls the layers of its model itself; each frees the result of the one before. */
START_TEST(inference_that_calls_layers)
{
    for (int token = 0; token < 6; token++) {
        born(10, CALL_AT("embedding", 10));
        for (int layer = 0; layer < 4; layer++) {
            born(10, CALL_AT("block", 12));
            capture_free(&capture, next - 2, 10, PY("answer", "/home/u/serve.py", 12) "," SCRIPT);
        }
        born(20, CALL_AT("head", 13));
        born(1, SAMPLE(14));
    }
    find();
    ck_assert_int_eq(steps.source, STEPS_FORWARD);
    ck_assert_uint_eq(steps.count, 6);
    ck_assert(steps.have_several_calls);
}
END_TEST

/* The first token of a text is computed at a line of its own; each call is a step. */
START_TEST(inference_that_generates_texts)
{
    for (int text = 0; text < 4; text++) {
        born(10, CALL_AT("model", 10));
        born(1, SAMPLE(11));
        for (int token = 0; token < 4; token++) {
            born(10, CALL_AT("model", 13));
            born(1, SAMPLE(14));
        }
    }
    find();
    ck_assert_uint_eq(steps.count, 20);
    ck_assert(!steps.have_several_calls);
}
END_TEST

START_TEST(a_trace_that_begins_in_the_backward_pass)
{
    born(1, STACK_BACKWARD);
    born(1, STACK_STEP);
    born(1, STACK_FORWARD);
    born(1, STACK_BACKWARD);
    born(1, STACK_STEP);
    find();
    ck_assert_uint_eq(steps.count, 2);
    expect(0, 0, 0, 1, false);
    expect(1, 1, 2, 4, true);
}
END_TEST

START_TEST(no_steps)
{
    born(1, SCRIPT);
    find();
    ck_assert_int_eq(steps.source, STEPS_NONE);
    ck_assert_uint_eq(steps.count, 0);
    ck_assert_uint_eq(steps_of(&steps, 0), NO_STEP);
}
END_TEST

/* Steps of 20 sizes without stacks, each freed in its step but one. They differ by `by` from step
 * to step. */
static void steps_without_stacks(unsigned count, uint64_t by)
{
    born(5000, "");
    for (unsigned step = 0; step < count; step++) {
        uint64_t first = next;
        for (uint64_t i = 0; i < 20; i++)
            born(100 + 8 * i + by * step, "");
        for (uint64_t i = 1; i < 20; i++)
            capture_free(&capture, first + i, 100 + 8 * i + by * step, "");
    }
}

START_TEST(sizes_that_come_back_tell_steps)
{
    steps_without_stacks(6, 0);
    find();
    ck_assert_int_eq(steps.source, STEPS_REPEATS);
    ck_assert_uint_eq(steps.count, 6);
    for (size_t i = 0; i < 5; i++) {
        ck_assert(steps.items[i].complete);
        ck_assert_int_eq(steps.items[i].end_bytes, 5000 + 100 * ((int64_t)i + 1));
    }
    ck_assert(!steps.items[5].complete);
}
END_TEST

START_TEST(sizes_that_change_tell_none)
{
    steps_without_stacks(6, 4);
    find();
    ck_assert_int_ne(steps.source, STEPS_REPEATS);
}
END_TEST

/* Each layer of a forward pass makes the same sizes, and keeps most for the backward pass. */
START_TEST(layers_are_no_steps)
{
    for (unsigned layer = 0; layer < 8; layer++) {
        uint64_t first = next;
        for (uint64_t i = 0; i < 20; i++)
            born(100 + 8 * i, "");
        for (uint64_t i = 0; i < 6; i++)
            capture_free(&capture, first + i, 100 + 8 * i, "");
    }
    find();
    ck_assert_int_ne(steps.source, STEPS_REPEATS);
}
END_TEST

/* SGD makes its state in the first step, and allocates nothing in the others. */
START_TEST(an_optimizer_that_goes_quiet)
{
    for (unsigned step = 0; step < 5; step++) {
        born(10, STACK_FORWARD);
        born(10, STACK_BACKWARD);
        if (step == 0)
            born(10, STACK_STEP);
    }
    find();
    ck_assert_int_eq(steps.source, STEPS_BACKWARD);
    ck_assert_uint_eq(steps.count, 5);
}
END_TEST

TCase *steps_inferred_tests(void)
{
    TCase *tests = tcase_create("steps inferred");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, repeated_phases);
    tcase_add_test(tests, an_optimizer_that_allocates_nothing);
    tcase_add_test(tests, out_of_memory_leaves_a_step_open);
    tcase_add_test(tests, inference_repeats_forwards);
    tcase_add_test(tests, inference_that_calls_layers);
    tcase_add_test(tests, inference_that_generates_texts);
    tcase_add_test(tests, a_trace_that_begins_in_the_backward_pass);
    tcase_add_test(tests, no_steps);
    tcase_add_test(tests, sizes_that_come_back_tell_steps);
    tcase_add_test(tests, sizes_that_change_tell_none);
    tcase_add_test(tests, layers_are_no_steps);
    tcase_add_test(tests, an_optimizer_that_goes_quiet);
    return tests;
}
