/* Pairs of passes in traces without stacks, where gradients or checkpoints hide their shape. */
#include "analysis/phase/phases.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define HEAD       128u /* bytes of the weight next to the loss */
#define PARAMETER  4000u
#define ACTIVATION 5000u
#define LAYERS     24u
#define SEGMENTS   4u
#define LOSS       5u /* blocks */

/* Parameters and a state of each. */
static void model_before(void)
{
    capture_block(&capture, 1, HEAD, "");
    for (unsigned i = 0; i < LAYERS; i++) {
        capture_block(&capture, 600 + i, PARAMETER + i, "");
        capture_block(&capture, 640 + i, PARAMETER + i, "");
    }
}

/* A gradient stays at `addr`, or is added to the one there. */
static void gradient(uint64_t addr, uint64_t size, bool is_first)
{
    uint64_t at = is_first ? addr : 1000 + addr;
    born(at, size);
    if (!is_first)
        freed(at, size);
}

/* The layers from `first` to `end`, and their gradients at 300, ...; those of a segment save two
 * blocks each. */
static void pass(unsigned first, unsigned end, bool is_first)
{
    for (unsigned i = first; i < end; i++) {
        born(100 + i, ACTIVATION + i);
        if (end - first < LAYERS)
            born(150 + i, ACTIVATION + i);
    }
    born(200 + end, ACTIVATION);
    for (unsigned i = end; i-- > first;) {
        born(200 + i, ACTIVATION + i);
        gradient(300 + i, PARAMETER + i, is_first);
        freed(201 + i, ACTIVATION);
        if (end - first < LAYERS)
            freed(150 + i, ACTIVATION + i);
        freed(100 + i, ACTIVATION + i);
    }
    freed(200 + first, ACTIVATION + first);
}

static void drop_gradients(void)
{
    for (unsigned i = 0; i < LAYERS; i++)
        freed(300 + i, PARAMETER + i);
}

static void step(void)
{
    capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
    born(60, 16);
    freed(60, 16);
    capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
}

/* Of the allocations at `addr`, `count` are made in a forward pass. */
static void expect_forward(uint64_t addr, size_t count)
{
    struct phases phases;
    struct error err;
    size_t forward = 0;
    if (!capture.timeline)
        capture_load(&capture);
    ck_assert(phases_build(&phases, capture.timeline, capture.sites, &err));
    for (size_t i = 0; i < capture.timeline->lifetime_count; i++) {
        uint32_t item = capture.timeline->lifetimes[i].alloc;
        forward += trace_addr(capture.timeline->trace, item) == addr &&
                   phases.runs[phases_run_of(&phases, item)].phase == PHASE_FORWARD;
    }
    ck_assert_uint_eq(forward, count);
    phases_release(&phases);
}

/* The inputs of segments are saved; the backward pass of each begins with its forward pass. */
static void checkpointed_pass(bool is_first)
{
    const unsigned layers = LAYERS / SEGMENTS;
    for (unsigned i = 0; i < SEGMENTS; i++)
        born(20 + i, 7000 + i);
    for (unsigned i = 0; i < LOSS; i++)
        born(30 + i, 8000 + i);
    gradient(400, HEAD, is_first);
    for (unsigned i = LOSS; i-- > 0;)
        freed(30 + i, 8000 + i);
    for (unsigned i = SEGMENTS; i-- > 0;) {
        pass(i * layers, (i + 1) * layers, is_first);
        freed(20 + i, 7000 + i);
    }
}

START_TEST(the_fall_to_a_checkpoint_may_only_begin_a_backward_pass)
{
    model_before();
    for (unsigned i = 0; i < 3; i++) {
        checkpointed_pass(true);
        checkpointed_pass(false);
        step();
        freed(400, HEAD);
        drop_gradients();
    }
    expect_forward(30, 6);
}
END_TEST

/* Each step has a pass of which the gradients only move the weights, and another one. */
START_TEST(gradients_may_be_dropped_before_the_pass_that_counts)
{
    model_before();
    for (unsigned i = 0; i < 3; i++) {
        pass(0, LAYERS, true);
        for (unsigned layer = 0; layer < LAYERS; layer++)
            born(500 + layer, PARAMETER + layer); /* a copy of the weight */
        drop_gradients();
        pass(0, LAYERS, true);
        for (unsigned layer = 0; layer < LAYERS; layer++)
            freed(500 + layer, PARAMETER + layer);
        step();
        drop_gradients();
    }
    expect_forward(105, 6);
}
END_TEST

/* A forward pass that searches among codes, for which it makes more blocks than it saves. The
 * program holds what it saves, and drops it in the order in which it was made. */
START_TEST(the_turn_may_come_after_the_most_blocks)
{
    model_before();
    for (unsigned pass = 0; pass < 3; pass++) {
        for (unsigned i = 0; i < SEGMENTS; i++)
            born(20 + i, 7000 + i);
        for (unsigned i = 0; i < 40; i++)
            born(700 + i, 9000 + i);
        for (unsigned i = 0; i < 40; i++)
            freed(700 + i, 9000 + i);
        for (unsigned i = 0; i < LAYERS; i++)
            born(100 + i, ACTIVATION + i);
        for (unsigned i = 0; i < LAYERS; i++) {
            born(300 + i, PARAMETER + i);
            freed(100 + i, ACTIVATION + i);
        }
        for (unsigned i = 0; i < SEGMENTS; i++)
            freed(20 + i, 7000 + i);
        step();
        drop_gradients();
    }
    expect_forward(105, 3);
}
END_TEST

static void hold(uint64_t addr, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        born(addr + i, ACTIVATION + i);
}

static void drop(uint64_t addr, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        freed(addr + i, ACTIVATION + i);
}

/* A list of pieces is joined between two networks of one forward pass, the second of which saves
 * fewer blocks than the list had. */
START_TEST(a_list_that_is_dropped_is_no_turn)
{
    const unsigned first = 30, pieces = 29;
    model_before();
    for (unsigned pass = 0; pass < 3; pass++) {
        hold(500, first);
        for (unsigned i = 0; i < pieces; i++)
            born(700 + i, 9000 + i);
        for (unsigned i = 0; i < pieces; i++)
            freed(700 + i, 9000 + i);
        hold(100, LAYERS);
        for (unsigned i = LAYERS; i-- > 0;) {
            born(300 + i, PARAMETER + i);
            freed(100 + i, ACTIVATION + i);
        }
        for (unsigned i = first; i-- > 0;)
            freed(500 + i, ACTIVATION + i);
        step();
        drop_gradients();
    }
    expect_forward(505, 3);
    expect_forward(120, 3);
    expect_forward(310, 0);
}
END_TEST

static size_t count_backward(void)
{
    struct phases phases;
    struct error err;
    size_t backward = 0;
    capture_load(&capture);
    ck_assert(phases_build(&phases, capture.timeline, capture.sites, &err));
    for (size_t i = 0; i < phases.count; i++)
        backward += phases.runs[i].phase == PHASE_BACKWARD;
    phases_release(&phases);
    return backward;
}

/* A layer whose results go in the reverse order, after which it keeps two blocks of `size`, and of
 * other sizes if `add` is not 0. */
static void layer_that_keeps(uint64_t addr, uint64_t size, uint64_t add)
{
    hold(100, LAYERS);
    born(200 + LAYERS, ACTIVATION);
    for (unsigned i = LAYERS; i-- > 0;) {
        born(200 + i, ACTIVATION);
        freed(201 + i, ACTIVATION);
        freed(100 + i, ACTIVATION + i);
        if (i == LAYERS / 2) {
            born(addr, size);
            born(addr + 1, size + add);
        }
    }
    freed(200, ACTIVATION);
}

static void generate(unsigned tokens)
{
    for (unsigned token = 0; token < tokens; token++)
        for (unsigned i = 0; i < 4; i++) {
            born(100, ACTIVATION);
            freed(100, ACTIVATION);
        }
}

/* The first layer of generation makes its cache while its other results are freed. */
START_TEST(a_cache_is_not_left_by_a_backward_pass)
{
    capture_block(&capture, 1, PARAMETER, "");
    layer_that_keeps(900, PARAMETER, 0);
    generate(400);
    ck_assert_uint_eq(count_backward(), 0);
}
END_TEST

START_TEST(the_only_pass_leaves_gradients_of_some_sizes)
{
    capture_block(&capture, 1, PARAMETER, "");
    capture_block(&capture, 2, PARAMETER + 40, "");
    layer_that_keeps(900, PARAMETER, 40);
    generate(400);
    ck_assert_uint_eq(count_backward(), 1);
}
END_TEST

START_TEST(the_only_pass_may_be_most_of_the_trace)
{
    capture_block(&capture, 1, PARAMETER, "");
    layer_that_keeps(900, PARAMETER, 0);
    generate(10);
    ck_assert_uint_eq(count_backward(), 1);
}
END_TEST

/* Each pass saves a little more. The program drops the blocks in the order in which they were made.
 */
START_TEST(one_step_may_have_several_passes)
{
    model_before();
    for (unsigned i = 0; i < 3; i++) {
        hold(800, LAYERS - 6); /* without gradients */
        drop(800, LAYERS - 6);
        for (unsigned pass = 0; pass < 3; pass++) {
            hold(100, LAYERS - 4 + 2 * pass);
            for (unsigned layer = 0; layer < LAYERS; layer++)
                gradient(300 + layer, PARAMETER + layer, pass == 0);
            drop(100, LAYERS - 4 + 2 * pass);
        }
        step();
        drop_gradients();
    }
    expect_forward(105, 9);
    expect_forward(805, 0);
}
END_TEST

TCase *category_humps_tests(void)
{
    TCase *tests = tcase_create("pairs of passes without stacks");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, the_fall_to_a_checkpoint_may_only_begin_a_backward_pass);
    tcase_add_test(tests, gradients_may_be_dropped_before_the_pass_that_counts);
    tcase_add_test(tests, the_turn_may_come_after_the_most_blocks);
    tcase_add_test(tests, a_list_that_is_dropped_is_no_turn);
    tcase_add_test(tests, a_cache_is_not_left_by_a_backward_pass);
    tcase_add_test(tests, the_only_pass_leaves_gradients_of_some_sizes);
    tcase_add_test(tests, the_only_pass_may_be_most_of_the_trace);
    tcase_add_test(tests, one_step_may_have_several_passes);
    return tests;
}
