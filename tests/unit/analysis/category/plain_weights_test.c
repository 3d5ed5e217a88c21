/* Weights and states that plain code makes between steps. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define LAYERS 4u
#define CAT    CPP("at::_ops::cat::call(x)") "," PY("grow", "/home/u/grow.py", 7) "," SCRIPT

#define ZEROS CPP("at::_ops::zeros_like::call(x)") "," PY("main", "/home/u/grow.py", 9) "," SCRIPT

static void expect_all(uint64_t first, unsigned count, enum category category)
{
    for (uint64_t addr = first; addr < first + count; addr++) {
        uint8_t reason;
        enum category found = capture_category_why(&capture, addr, &reason);
        ck_assert_msg(found == category, "%d: %s: %s", (int)addr, category_name(found),
                      reason_name(reason));
    }
}

static uint64_t size_of(unsigned layer, unsigned grown)
{
    return 4000 + 100 * layer + 1000 * grown;
}

/* A forward and a backward pass, which leaves gradients, and a step that frees them. */
static void step(unsigned grown)
{
    capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&capture, "alloc", 2000 + i, size_of(i, grown), STACK_BACKWARD);
    capture_free(&capture, 1000, 50, ENGINE);
    capture_event(&capture, "alloc", 1001, 50, STACK_STEP);
    capture_free(&capture, 1001, 50, STACK_STEP);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&capture, 2000 + i, size_of(i, grown), SCRIPT);
}

/* Makes `copies` blocks for each layer, one after another. */
static void make(uint64_t first, unsigned copies, unsigned grown, const char *stack)
{
    for (unsigned i = LAYERS; i-- > 0;) /* gradients are made in the other order */
        for (unsigned copy = 0; copy < copies; copy++)
            capture_event(&capture, "alloc", first + 10 * copy + i, size_of(i, grown), stack);
}

static void drop(uint64_t first, unsigned copies, unsigned grown)
{
    for (unsigned i = 0; i < LAYERS; i++)
        for (unsigned copy = 0; copy < copies; copy++)
            capture_free(&capture, first + 10 * copy + i, size_of(i, grown), SCRIPT);
}

/* Gaussian splatting: the states of each layer grow, and then the weight itself. */
START_TEST(a_model_may_grow)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, size_of(i, 0), "");
    step(0);
    step(0);
    make(100, 3, 1, CAT);
    step(1);
    step(1);
    make(200, 3, 2, CAT);
    drop(100, 3, 1);
    step(2);
    step(2);
    capture_load(&capture);
    expect_all(100, LAYERS, CATEGORY_OPTIMIZER_STATE);
    expect_all(110, LAYERS, CATEGORY_OPTIMIZER_STATE);
    expect_all(120, LAYERS, CATEGORY_PARAMETER);
    expect_all(200, LAYERS, CATEGORY_OPTIMIZER_STATE);
    expect_all(220, LAYERS, CATEGORY_PARAMETER);
}
END_TEST

/* A Newton step makes two gradients of each weight, and states anew for every batch. The model is
 * complete, so that these replace no weight. */
START_TEST(states_of_a_step_with_two_gradients_are_no_weights)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&capture, "alloc", 1 + i, size_of(i, 0),
                      PY("convert", TORCH "nn/modules/module.py", 1355) "," SCRIPT);
    for (unsigned i = 1; i <= 3; i++) {
        capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
        for (unsigned layer = 0; layer < LAYERS; layer++)
            for (unsigned copy = 0; copy < 2; copy++)
                capture_event(&capture, "alloc", 2000 + 10 * copy + layer, size_of(layer, 0),
                              STACK_BACKWARD);
        capture_free(&capture, 1000, 50, ENGINE);
        make(100 * i, 1, 0, ZEROS);
        if (i > 1)
            drop(100 * (i - 1), 1, 0);
        drop(2000, 2, 0);
    }
    step(0);
    capture_load(&capture);
    expect_all(100, LAYERS, CATEGORY_OPTIMIZER_STATE);
    expect_all(200, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* A result of the size of a weight is no weight, however long a variable holds it. */
START_TEST(one_block_of_a_weight_size_is_no_list)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, size_of(i, 0), "");
    step(0);
    capture_event(&capture, "alloc", 100, size_of(0, 0), CAT);
    step(0);
    step(0);
    capture_free(&capture, 100, size_of(0, 0), SCRIPT);
    step(0);
    capture_load(&capture);
    expect_all(100, 1, CATEGORY_INPUT);
}
END_TEST

/* Sharpness-aware minimization: the step makes a copy of each weight, which a second pass outlives,
 * and then makes the copies the weights. */
#define COPY_STEP                                                                                  \
    CPP("at::_ops::clone::call(x)")                                                                \
    "," PY("step", "/home/u/optimizer.py", 8) "," PY("wrapper", TORCH "optim/optimizer.py",        \
                                                     533) "," SCRIPT

/* With `_i`, the step makes a state of each weight right after the first copies. */
START_TEST(a_copy_may_take_the_place_of_its_weight)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        capture_event(&capture, "alloc", 100 + i, size_of(i, 0),
                      PY("convert", TORCH "nn/modules/module.py", 1355) "," SCRIPT);
        capture_event(&capture, "alloc", 50 + i, size_of(i, 0), STACK_STEP); /* momentum */
    }
    for (unsigned i = 1; i <= 3; i++) {
        step(0);
        for (unsigned layer = 0; layer < LAYERS; layer++)
            capture_event(&capture, "alloc", 100 + 10 * i + layer, size_of(layer, 0), COPY_STEP);
        for (unsigned layer = 0; layer < LAYERS && i == 1 && _i > 0; layer++)
            capture_event(&capture, "alloc", 70 + layer, size_of(layer, 0), STACK_STEP);
        step(0);
        for (unsigned layer = 0; layer < LAYERS; layer++)
            capture_free(&capture, 90 + 10 * i + layer, size_of(layer, 0), STACK_STEP);
    }
    step(0);
    capture_load(&capture);
    for (unsigned i = 0; i <= 3; i++)
        expect_all(100 + 10 * i, LAYERS, CATEGORY_PARAMETER);
    expect_all(50, LAYERS, CATEGORY_OPTIMIZER_STATE);
    if (_i > 0)
        expect_all(70, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* Each step makes states anew, while the weights stay. */
START_TEST(a_new_state_is_no_weight)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&capture, "alloc", 100 + i, size_of(i, 0),
                      PY("convert", TORCH "nn/modules/module.py", 1355) "," SCRIPT);
    for (unsigned i = 1; i <= 4; i++) {
        step(0);
        for (unsigned layer = 0; layer < LAYERS; layer++) {
            capture_event(&capture, "alloc", 100 + 10 * i + layer, size_of(layer, 0), STACK_STEP);
            if (i > 1)
                capture_free(&capture, 90 + 10 * i + layer, size_of(layer, 0), STACK_STEP);
        }
    }
    step(0);
    capture_load(&capture);
    expect_all(100, LAYERS, CATEGORY_PARAMETER);
    for (unsigned i = 1; i <= 4; i++)
        expect_all(100 + 10 * i, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

#define ANCHOR CPP("at::_ops::clone::call(x)") "," PY("main", "/home/u/grow.py", 12) "," SCRIPT

/* Elastic weight consolidation: after some steps, a copy of the weights is kept together with
 * zeros. */
START_TEST(a_copy_may_be_kept_in_the_midst_of_training)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, size_of(i, 0), "");
    for (unsigned i = 0; i < 3; i++)
        step(0);
    make(100, 1, 0, ANCHOR);
    make(200, 1, 0, ZEROS);
    for (unsigned i = 0; i < 4; i++)
        step(0);
    capture_load(&capture);
    expect_all(100, LAYERS, CATEGORY_PARAMETER);
    expect_all(200, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* What is made of zeros is no copy of the model, but a state of plain code's own optimizer. */
START_TEST(zeros_are_no_copy)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        capture_event(&capture, "alloc", 100 + i, size_of(i, 0), CAT);
        for (unsigned copy = 1; copy <= 2; copy++)
            capture_event(&capture, "alloc", 100 + 10 * copy + i, size_of(i, 0), CAT);
        for (unsigned copy = 3; copy <= 4; copy++)
            capture_event(&capture, "alloc", 100 + 10 * copy + i, size_of(i, 0), ZEROS);
    }
    capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
    capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
    step(0);
    step(0);
    capture_load(&capture);
    expect_all(100, LAYERS, CATEGORY_PARAMETER);
    expect_all(120, LAYERS, CATEGORY_PARAMETER);
    expect_all(130, LAYERS, CATEGORY_OPTIMIZER_STATE);
    expect_all(140, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

#define COPY_DICT                                                                                  \
    PY("deepcopy", "/usr/lib/python3.12/copy.py", 137)                                             \
    "," PY("_deepcopy_dict", "/usr/lib/python3.12/copy.py", 222)
#define COPIED(how)                                                                                \
    CPP("at::_ops::clone::call(x)")                                                                \
    "," PY("__deepcopy__", TORCH "_tensor.py", 150) "," how "," SCRIPT
#define COPIED_STATE  COPIED(COPY_DICT "," COPY_DICT)
#define COPIED_WEIGHT COPIED(PY("_reconstruct", "/usr/lib/python3.12/copy.py", 285) "," COPY_DICT)

/* Lists in the order of gradients: of deep copies of a model's and an optimizer's state_dict(), and
 * of any other code. */
START_TEST(deep_copies_are_no_gradients)
{
    static const char *const frames[] = {COPIED_WEIGHT, COPIED_STATE, CAT};
    static const enum category expected[] = {CATEGORY_PARAMETER, CATEGORY_OPTIMIZER_STATE,
                                             CATEGORY_GRADIENT};
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, size_of(i, 0), "");
    step(0);
    step(0);
    for (unsigned list = 0; list < 3; list++)
        for (unsigned i = 0; i < LAYERS; i++)
            capture_event(&capture, "alloc", 100 + 10 * list + i, size_of(i, 0), frames[list]);
    step(0);
    for (unsigned list = 0; list < 3; list++)
        for (unsigned i = 0; i < LAYERS; i++)
            capture_free(&capture, 100 + 10 * list + i, size_of(i, 0), SCRIPT);
    step(0);
    capture_load(&capture);
    for (unsigned list = 0; list < 3; list++)
        expect_all(100 + 10 * list, LAYERS, expected[list]);
}
END_TEST

#define CLONE CPP("at::_ops::clone::call(x)") "," PY("keep", "/home/u/best.py", 9) "," SCRIPT

/* Two tensors for each weight, with scratch memory in between; `swapped`: the first two weights. */
static void make_pairs(uint64_t first, bool swapped, const char *stack)
{
    for (unsigned i = 0; i < 2 * LAYERS; i++) {
        unsigned layer = swapped && i < 4 ? 1 - i / 2 : i / 2;
        capture_event(&capture, "alloc", first + i, size_of(layer, 0), stack);
        capture_event(&capture, "alloc", 900, 4, stack);
        capture_free(&capture, 900, 4, stack);
    }
}

/* Copies of states by any code show by their order. */
START_TEST(copies_of_states_have_their_order)
{
    bool swapped = _i > 0;
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, size_of(i, 0), "");
    step(0);
    make_pairs(300, false, STACK_STEP);
    step(0);
    make_pairs(400, swapped, CLONE);
    step(0);
    capture_load(&capture);
    for (uint64_t addr = 400; addr < 400 + 2 * LAYERS; addr++) {
        uint8_t reason;
        capture_category_why(&capture, addr, &reason);
        ck_assert_msg((reason_of(reason) == REASON_STATE_ORDER) == !swapped, "%d: %s", (int)addr,
                      reason_name(reason));
    }
}
END_TEST

#define UPDATE                                                                                     \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("update", "/home/u/shampoo.py", 7) "," PY("main", "/home/u/train.py", 30)
#define IN_LOOP CPP("at::_ops::mm::call(x)") "," PY("main", "/home/u/train.py", 31)
#define FORWARD_IN_LOOP                                                                            \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/model.py", 3) "," CALL "," PY("main", "/home/u/train.py", 32)
#define FACTOR 77000u

/* Each update makes a factor for each weight anew, much larger than that, by `frames`. */
static void update_factors(unsigned step, const char *frames)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        capture_event(&capture, "alloc", 700 + i, size_of(i, 0), frames);
        capture_event(&capture, "alloc", 800 + 100 * (step % 2) + i, FACTOR + i, frames);
        capture_free(&capture, 700 + i, size_of(i, 0), frames);
        if (step > 0)
            capture_free(&capture, 800 + 100 * ((step + 1) % 2) + i, FACTOR + i, frames);
    }
}

/* The training loop itself may make anything between the passes, such as a batch. */
START_TEST(a_function_that_updates_makes_states)
{
    bool is_function = _i > 0;
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&capture, "alloc", 1 + i, size_of(i, 0), IN_LOOP);
    for (unsigned step = 0; step < 4; step++) {
        capture_event(&capture, "alloc", 1000, 50, FORWARD_IN_LOOP);
        for (unsigned i = 0; i < LAYERS; i++)
            capture_event(&capture, "alloc", 2000 + i, size_of(i, 0), STACK_BACKWARD);
        capture_free(&capture, 1000, 50, ENGINE);
        update_factors(step, is_function ? UPDATE : IN_LOOP);
        for (unsigned i = 0; i < LAYERS; i++)
            capture_free(&capture, 2000 + i, size_of(i, 0), IN_LOOP);
    }
    capture_load(&capture);
    expect_all(800, LAYERS, is_function ? CATEGORY_OPTIMIZER_STATE : CATEGORY_INPUT);
}
END_TEST

#define WIDE_LAYERS 8u
#define STEPS       6u

/* A list of tensors of the weights' sizes in place of the one at `old`, all of whose blocks are
 * freed once the list is there; its first address. */
static uint64_t renew(uint64_t old, uint64_t *next)
{
    uint64_t first = *next;
    for (unsigned i = 0; i < WIDE_LAYERS; i++)
        capture_event(&capture, "alloc", (*next)++, size_of(i, 0), "");
    for (unsigned i = 0; i < WIDE_LAYERS && old > 0; i++)
        capture_free(&capture, old + i, size_of(i, 0), "");
    return first;
}

/* Gradients and what the forward pass saves, in the order in which autograd makes and frees them;
 * torch.func.grad() keeps all that is saved until its backward pass is over. */
static uint64_t differentiate(uint64_t *next, bool is_kept)
{
    uint64_t saved = *next, first = saved + WIDE_LAYERS;
    *next += 2 * WIDE_LAYERS;
    for (unsigned i = 0; i < WIDE_LAYERS; i++)
        capture_event(&capture, "alloc", saved + i, 90000 + 1000 * i, "");
    for (unsigned i = WIDE_LAYERS; i-- > 0;) {
        capture_event(&capture, "alloc", first + i, size_of(i, 0), "");
        if (!is_kept)
            capture_free(&capture, saved + i, 90000 + 1000 * i, "");
    }
    for (unsigned i = 0; is_kept && i < WIDE_LAYERS; i++)
        capture_free(&capture, saved + i, 90000 + 1000 * i, "");
    return first;
}

/* Without stacks: each step computes momentum anew, and weights by it. */
START_TEST(weights_may_be_made_anew_in_each_step)
{
    uint64_t next = 1, weights = renew(0, &next), momentum = renew(0, &next);
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t gradients = differentiate(&next, _i > 0);
        momentum = renew(momentum, &next);
        weights = renew(weights, &next);
        for (unsigned i = 0; i < WIDE_LAYERS; i++)
            capture_free(&capture, gradients + i, size_of(i, 0), "");
    }
    for (unsigned i = 0; i < WIDE_LAYERS; i++) {
        capture_block(&capture, momentum + i, size_of(i, 0), "");
        capture_block(&capture, weights + i, size_of(i, 0), "");
    }
    capture_load(&capture);
    uint64_t per_step = 4 * WIDE_LAYERS, first = 1 + 2 * WIDE_LAYERS + per_step;
    expect_all(first, WIDE_LAYERS, CATEGORY_ACTIVATION);
    expect_all(first + WIDE_LAYERS, WIDE_LAYERS, CATEGORY_GRADIENT);
    expect_all(first + 2 * WIDE_LAYERS, WIDE_LAYERS, CATEGORY_OPTIMIZER_STATE);
    expect_all(first + 3 * WIDE_LAYERS, WIDE_LAYERS, CATEGORY_PARAMETER);
}
END_TEST

TCase *category_plain_weights_tests(void)
{
    TCase *tests = tcase_create("weights that plain code makes");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_model_may_grow);
    tcase_add_test(tests, states_of_a_step_with_two_gradients_are_no_weights);
    tcase_add_test(tests, one_block_of_a_weight_size_is_no_list);
    tcase_add_loop_test(tests, a_copy_may_take_the_place_of_its_weight, 0, 2);
    tcase_add_test(tests, a_new_state_is_no_weight);
    tcase_add_test(tests, a_copy_may_be_kept_in_the_midst_of_training);
    tcase_add_test(tests, zeros_are_no_copy);
    tcase_add_test(tests, deep_copies_are_no_gradients);
    tcase_add_loop_test(tests, copies_of_states_have_their_order, 0, 2);
    tcase_add_loop_test(tests, weights_may_be_made_anew_in_each_step, 0, 2);
    tcase_add_loop_test(tests, a_function_that_updates_makes_states, 0, 2);
    return tests;
}
