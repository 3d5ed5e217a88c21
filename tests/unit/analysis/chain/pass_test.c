/* Which pass a chain is made from. */
#include "unit/analysis/chain/pass.h"

/* The pass is taken from the step with the peak. It is neither a larger pass of another step nor
 * the validation before it. */
START_TEST(the_pass_is_that_of_the_peak)
{
    for (int i = 0; i < 3; i++)
        block("t9 m53", 8);
    backward(1);
    capture_event(&capture, "alloc", 1, 1000, STACK_STEP);
    pass_by(50, "t9 m53");
    pass_by(50, "t9 m54");
    for (int i = 0; i < 2; i++)
        block("t9 m53", 8);
    backward(1);
    capture_event(&capture, "alloc", 2, 1000, STACK_STEP);
    build();
    ck_assert_uint_eq(chain.count, 2);
    ck_assert(chain.at_peak);
    ck_assert(chain.has_step);
    ck_assert_int_eq(chain.step, 1);
}
END_TEST

/* Gradients of three passes are accumulated. The peak of the second pass is the highest. */
START_TEST(passes_of_one_model_are_alike)
{
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < 3; i++)
            block("t9 m53", 8);
        backward(pass == 1 ? 100 : 1);
    }
    keep(5, "t9 m60");
    backward(1);
    capture_event(&capture, "alloc", 1, 1, STACK_STEP);
    build();
    ck_assert_uint_eq(chain.count, 3);
    ck_assert_uint_eq(chain.other_count, 3);
    ck_assert_uint_lt(chain.others[0].end, chain.first + 1);
    ck_assert_uint_lt(chain.end - 1, chain.others[1].first);
    ck_assert(chain.others[0].alike && chain.others[1].alike && !chain.others[2].alike);
    ck_assert_uint_eq(chain.step_first, 0);
}
END_TEST

/* Augmentation in some steps, a condition that others drop, or a loss that runs now and then: the
 * layers stay the same, though the first line that keeps something does not. The line that calls
 * the model may be another one, too. */
START_TEST(passes_of_one_model_may_differ_around_its_layers)
{
    static const char *const before[] = {"t5", "t7 m50", "t9 m51"};
    static const char *const layers[] = {"t9 m53", "t7 m53", "t9 m53"};
    static const char *const loss[] = {"t10", "t10", "t11"};
    for (int pass = 0; pass < 3; pass++) {
        keep(10, before[pass]);
        for (int i = 0; i < 3; i++)
            block(layers[pass], 8);
        keep(30, loss[pass]);
        backward(pass == 1 ? 100 : 1);
    }
    capture_event(&capture, "alloc", 1, 1, STACK_STEP);
    build();
    ck_assert_uint_eq(chain.other_count, 2);
    ck_assert(chain.others[0].alike && chain.others[1].alike);
}
END_TEST

static bool count_visit(void *context, const struct forward_chain *visited, struct error *err)
{
    (void)err;
    ck_assert_int_eq(visited->absence, CHAIN_FOUND);
    ++*(size_t *)context;
    return true;
}

/* A generator and a discriminator: the second pass runs the layers of the first, and as many of
 * another model. A plan for these layers changes both passes, but one says little about the peak of
 * the other. */
START_TEST(a_pass_with_another_model_is_not_alike)
{
    for (int i = 0; i < 3; i++)
        block("t9 m53", 8);
    backward(1);
    for (int i = 0; i < 3; i++)
        keep(50, "t12 q7");
    for (int i = 0; i < 3; i++)
        block("t13 m53", 8);
    backward(100);
    capture_event(&capture, "alloc", 1, 1, STACK_STEP);
    build();
    ck_assert_uint_eq(chain.other_count, 1);
    ck_assert(!chain.others[0].alike);
    size_t visits = 0;
    struct error err;
    ck_assert(
        forward_chain_visit(&chain, capture.timeline, capture.sites, count_visit, &visits, &err));
    ck_assert_uint_eq(visits, 2);
}
END_TEST

static void step_of(int blocks, uint64_t output)
{
    static uint64_t address = 1;
    for (int i = 0; i < blocks; i++)
        block("t9 m53", output);
    backward(1);
    capture_event(&capture, "alloc", address++, 1, STACK_STEP);
}

/* A larger batch makes the same calls. */
START_TEST(steps_may_make_other_calls)
{
    step_of(8, 8);
    step_of(5, 8);
    step_of(8, 4);
    step_of(5, 12);
    step_of(8, 8);
    step_of(8, 9);
    build();
    ck_assert_int_eq(chain.step, 5);
    ck_assert_uint_eq(chain.other_steps, 5);
    ck_assert_uint_eq(chain.unlike_steps, 2);
    ck_assert(!chain.unlike_apart);
}
END_TEST

/* In the first stage of a training a part of the model is frozen, so that fewer layers keep
 * something. */
START_TEST(stages_are_no_steps_that_differ)
{
    for (int i = 0; i < 6; i++)
        step_of(i < 3 ? 5 : 8, i < 3 ? 12 : 8);
    build();
    ck_assert_uint_eq(chain.other_steps, 5);
    ck_assert_uint_eq(chain.unlike_steps, 3);
    ck_assert(chain.unlike_apart);
}
END_TEST

/* A second loss needs what the backward pass of the first keeps. If that pass saves what it
 * computes (create_graph=True), what follows is no second loss of the same forward pass. */
START_TEST(a_backward_pass_may_keep_the_graph)
{
    for (unsigned step = 0; step < 3; step++) {
        for (int i = 0; i < 3; i++)
            block("t9 m53", 8);
        capture_event(&capture, "alloc", 1, 300, STACK_BACKWARD);
        capture_event(&capture, "alloc", 2, 300, STACK_BACKWARD);
        capture_free(&capture, 1, 300, STACK_BACKWARD);
        if (_i == 0)
            capture_free(&capture, 2, 300, STACK_BACKWARD);
        keep(5, "t9 m60");
        backward(100);
        if (_i == 1)
            capture_free(&capture, 2, 300,
                         CPP("torch::autograd::SavedVariable::reset_data()") "," STACK_BACKWARD);
        capture_event(&capture, "alloc", 10 + step, 1, STACK_STEP);
    }
    build();
    ck_assert_uint_eq(chain.count, _i == 0 ? 3 : 1);
    if (_i == 0)
        expect(0, "model.py:53 forward [0]", 58, 8);
    else
        expect(0, "model.py:60 forward", 5, 5);
}
END_TEST

#define LAYER(line)                                                                                \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/layer.py", line) "," CALL "," PY("forward", "/home/u/net.py",       \
                                                                20) "," CALL "," SCRIPT
#define GRAPH_DIES                                                                                 \
    CPP("torch::autograd::SavedVariable::reset_data()")                                            \
    "," CPP("torch::autograd::Node::~Node()") "," SCRIPT

/* backward(retain_graph=True) leaves what the layers saved to the next forward pass. */
START_TEST(a_graph_that_is_retained_is_in_no_pass)
{
    static const char *const layers[] = {LAYER(1), LAYER(2), LAYER(3), LAYER(4), LAYER(5)};
    uint64_t graphs[3][5];
    for (size_t step = 0; step < 3; step++) {
        for (size_t i = 0; i < 5; i++)
            graphs[step][i] = capture_alloc(&capture, 100, layers[i]);
        for (size_t i = 0; step > 0 && i < 5; i++)
            capture_free(&capture, graphs[step - 1][i], 100, GRAPH_DIES);
        for (size_t i = 0; i < 5; i++) {
            uint64_t computes = capture_alloc(&capture, 10, STACK_BACKWARD);
            capture_free(&capture, computes, 10, STACK_BACKWARD);
        }
        capture_alloc(&capture, 1, STACK_STEP);
    }
    build();
    ck_assert_int_eq(chain.absence, CHAIN_NO_ACTIVATIONS);
    ck_assert_int_eq(chain.retained_bytes, 400); /* a variable may hold the last result */
}
END_TEST

static void expect_absence(enum chain_absence absence)
{
    build();
    ck_assert_int_eq(chain.absence, absence);
    ck_assert_uint_eq(chain.count, 0);
}

START_TEST(inference_keeps_nothing)
{
    for (int i = 0; i < 3; i++)
        pass_by(10, "t9 m53");
    expect_absence(CHAIN_NO_BACKWARD);
}
END_TEST

START_TEST(without_stacks_there_are_no_layers)
{
    for (uint64_t i = 1; i < 9; i++)
        capture_event(&capture, "alloc", i, 10, "");
    for (uint64_t i = 8; i > 0; i--)
        capture_free(&capture, i, 10, "");
    expect_absence(CHAIN_NO_STACKS);
}
END_TEST

START_TEST(an_empty_trace_has_none)
{
    expect_absence(CHAIN_NO_STACKS);
}
END_TEST

START_TEST(a_pass_may_run_out_of_memory)
{
    for (int i = 0; i < 3; i++)
        block("t9 m53", 8);
    capture_event(&capture, "oom", 0, 1000, frames_of("t9 m53 b10"));
    build();
    ck_assert_int_eq(chain.absence, CHAIN_FOUND);
    ck_assert(chain.unfinished);
    ck_assert_uint_eq(chain.count, 3);
}
END_TEST

/* The chain also has activations that the backward pass did not reach. */
START_TEST(a_backward_pass_may_run_out_of_memory)
{
    for (int i = 0; i < 3; i++)
        block("t9 m53", 8);
    capture_event(&capture, "alloc", next, 100, STACK_BACKWARD);
    capture_free(&capture, addresses[kept - 1], sizes[kept - 1], STACK_BACKWARD);
    capture_event(&capture, "oom", 0, 1000, STACK_BACKWARD);
    build();
    ck_assert_int_eq(chain.absence, CHAIN_FOUND);
    ck_assert(chain.unfinished && chain.stopped);
    ck_assert_uint_eq(chain.count, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(chain.elements[i].activation_bytes, 58);
        ck_assert_int_eq(chain.elements[i].backward_extra_bytes, 0);
    }
}
END_TEST

/* For any cut, all memory kept is in exactly one element, and names are unique. */
START_TEST(elements_cover_the_pass)
{
    static const char *const paths[] = {"t9 m1",    "t9 m2",       "t9 m1 b1", "t9 m1 b2",
                                        "t9 m2 b1", "t9 m1 b2 a1", "t10 l4",   "t9 m2 b1 a2"};
    uint32_t random = (uint32_t)_i + 1;
    int64_t sum = 0;
    for (int i = 0; i < 100; i++) {
        random = random * 1664525 + 1013904223;
        uint64_t size = 1 + (random >> 8) % 100;
        keep(size, paths[(random >> 20) % 8]);
        sum += (int64_t)size;
    }
    backward(1);
    capture_load(&capture);
    for (int level = CHAIN_BLOCKS; level <= CHAIN_PATTERN; level++) {
        struct error err;
        options =
            (struct chain_options){(enum chain_level)level, 1 + (size_t)_i % 3, "b*", 1000, 0};
        ck_assert(forward_chain_build(&chain, capture.timeline, capture.sites, &options, &err));
        int64_t found = 0;
        for (size_t i = 0; i < chain.count; i++)
            found += chain.elements[i].activation_bytes;
        ck_assert_int_eq(found, sum);
        ck_assert_int_eq(chain.activation_bytes, sum);
        for (size_t i = 0; i < chain.part_count; i++)
            for (size_t k = 0; k < i; k++)
                unit_assert(chain.parts[i].name != chain.parts[k].name);
        forward_chain_release(&chain);
    }
}
END_TEST

TCase *chain_pass_tests(void)
{
    TCase *tests = tcase_create("chain_pass");
    tcase_add_checked_fixture(tests, pass_create, pass_destroy);
    tcase_add_test(tests, the_pass_is_that_of_the_peak);
    tcase_add_test(tests, passes_of_one_model_are_alike);
    tcase_add_test(tests, passes_of_one_model_may_differ_around_its_layers);
    tcase_add_test(tests, a_pass_with_another_model_is_not_alike);
    tcase_add_test(tests, steps_may_make_other_calls);
    tcase_add_loop_test(tests, a_backward_pass_may_keep_the_graph, 0, 2);
    tcase_add_test(tests, stages_are_no_steps_that_differ);
    tcase_add_test(tests, inference_keeps_nothing);
    tcase_add_test(tests, without_stacks_there_are_no_layers);
    tcase_add_test(tests, an_empty_trace_has_none);
    tcase_add_test(tests, a_graph_that_is_retained_is_in_no_pass);
    tcase_add_test(tests, a_pass_may_run_out_of_memory);
    tcase_add_test(tests, a_backward_pass_may_run_out_of_memory);
    tcase_add_loop_test(tests, elements_cover_the_pass, 0, (int)unit_share(40));
    return tests;
}
