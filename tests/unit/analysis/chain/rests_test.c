/* The tensors that layers return besides their outputs, and later users of outputs, as the backward
 * pass shows them. */
#include <stdio.h>

#include "unit/analysis/chain/pass.h"

#define BLOCKS 3

static const uint64_t outputs[BLOCKS] = {50, 60, 70};

static uint64_t allocate(uint64_t size, const char *frames)
{
    capture_event(&capture, "alloc", next, size, frames);
    return next++;
}

/* Each block makes 40 bytes besides its output. They are freed when the next block has ended, or
 * for all blocks together when the model has ended. */
static void blocks(bool replaced)
{
    uint64_t rests[BLOCKS];
    keep(10, "t9 m50");
    for (int i = 0; i < BLOCKS; i++) {
        rests[i] = allocate(40, frames_of("t9 m53 b10"));
        block("t9 m53", outputs[i]);
        if (i > 0 && replaced)
            capture_free(&capture, rests[i - 1], 40, "");
    }
    keep(8, "t9 m55");
    for (int i = replaced ? BLOCKS - 1 : 0; i < BLOCKS; i++)
        capture_free(&capture, rests[i], 40, "");
    pass_by(1, "t9 m55");
}

/* The backward of each block leaves a gradient of `crossing` bytes for the backward of the previous
 * block. A gradient of `waiting` bytes exists from the beginning until the output of the first
 * block is freed, if it has the size of that output; otherwise to the end. */
static void backward_with(uint64_t crossing, uint64_t waiting)
{
    uint64_t early = waiting > 0 ? allocate(waiting, STACK_BACKWARD) : 0, left = 0;
    allocate(1, STACK_BACKWARD);
    while (kept-- > 0) {
        uint64_t scratch = allocate(5, STACK_BACKWARD), old = left;
        bool is_first = sizes[kept] == 20; /* kept by a block */
        left = is_first && crossing > 0 ? allocate(crossing, STACK_BACKWARD) : left;
        capture_free(&capture, scratch, 5, STACK_BACKWARD);
        capture_free(&capture, addresses[kept], sizes[kept], STACK_BACKWARD);
        if (waiting > 0 && (waiting == outputs[0] ? sizes[kept] == outputs[0] : kept == 0))
            capture_free(&capture, early, waiting, STACK_BACKWARD);
        if (is_first && old > 0)
            capture_free(&capture, old, crossing, STACK_BACKWARD);
    }
    if (left > 0)
        capture_free(&capture, left, crossing, STACK_BACKWARD);
    kept = 0;
}

/* The blocks are elements 1 to 3. */
static void expect_blocks(int64_t passed)
{
    build();
    ck_assert_uint_eq(chain.count, BLOCKS + 2);
    ck_assert_uint_eq(chain.rest_count, BLOCKS);
    for (size_t i = 0; i < BLOCKS; i++) {
        ck_assert_uint_eq(chain.rests[i].element, i + 1);
        ck_assert_uint_eq(chain.rests[i].bytes, 40);
        ck_assert_int_eq(chain.elements[i + 1].output_bytes, (int64_t)outputs[i]);
        ck_assert_int_eq(chain.elements[i + 1].passed_bytes, i + 1 < BLOCKS ? passed : 0);
    }
}

START_TEST(results_in_a_list_end_a_chain)
{
    blocks(false);
    backward_with(40, 0); /* of all blocks */
    expect_blocks(0);
    ck_assert(!chain_can_join(&chain, 1) && !chain_can_join(&chain, 2));
}
END_TEST

/* The program may hold the 20 bytes, besides the output, that the same function of a block keeps.
 */
START_TEST(a_list_may_hold_more)
{
    blocks(false);
    backward_with(0, 0);
    build();
    ck_assert_uint_eq(chain.doubt_count, BLOCKS - 1);
    for (size_t i = 0; i < chain.doubt_count; i++) {
        ck_assert_uint_eq(trace_size(capture.timeline->trace, chain.doubts[i].item), 20);
        ck_assert_uint_eq(chain.doubts[i].until, chain.rests[i].end);
    }
}
END_TEST

START_TEST(results_that_nobody_uses_end_none)
{
    blocks(true);
    backward_with(0, 0);
    expect_blocks(0);
    ck_assert(chain_can_join(&chain, 1) && chain_can_join(&chain, 2));
}
END_TEST

START_TEST(the_next_block_gets_what_has_a_gradient)
{
    blocks(true);
    backward_with(40, 0);
    expect_blocks(40);
    ck_assert(!chain_can_join(&chain, 1) && !chain_can_join(&chain, 2));
}
END_TEST

/* A line calls three modules in a row, over and over. Later code adds the result of the second
 * module of the first iteration to something, so that it has a gradient from the beginning. */
START_TEST(an_inner_result_may_leave)
{
    for (int is_used = 0; is_used < 2; is_used++) {
        for (int i = 0; i < 3; i++) {
            keep(20, "t9 m53 b10");
            keep(48, "t9 m53 a3");
            keep(30, "t9 m53 q5");
        }
        keep(8, "t9 m55");
        uint64_t early = is_used ? allocate(48, STACK_BACKWARD) : 0;
        while (kept-- > 0) {
            uint64_t scratch = allocate(5, STACK_BACKWARD);
            capture_free(&capture, scratch, 5, STACK_BACKWARD);
            if (kept == 0 && is_used)
                capture_free(&capture, early, 48, STACK_BACKWARD);
            capture_free(&capture, addresses[kept], sizes[kept], STACK_BACKWARD);
        }
        kept = 0;
        build();
        ck_assert_uint_eq(chain.count, 4);
        for (size_t i = 0; i < 4; i++)
            ck_assert_int_eq(chain.elements[i].splits, is_used && i == 0);
        pass_destroy();
        pass_create();
    }
}
END_TEST

/* Before each block, the program joins skip connections that only the block reads. Before another
 * call, it computes a tensor that is added to the result. */
START_TEST(other_code_makes_an_input)
{
    keep(10, "t9 m50");
    for (int i = 0; i < BLOCKS; i++) {
        uint64_t joined = allocate(90, frames_of("t9 m52"));
        block("t9 m53", outputs[i]);
        capture_free(&capture, joined, 90, "");
    }
    uint64_t added = allocate(30, frames_of("t9 m54"));
    keep(16, "t9 m55 a3");
    keep(8, "t9 m56");
    capture_free(&capture, added, 30, "");
    backward_with(0, 0);
    build();
    ck_assert_uint_eq(chain.rest_count, BLOCKS);
    for (size_t i = 0; i < BLOCKS; i++) {
        ck_assert(chain.rests[i].enters && !chain.rests[i].passes);
        ck_assert_uint_eq(chain.rests[i].element, i + 1);
        ck_assert_int_eq(chain.elements[i].passed_bytes, 90);
    }
}
END_TEST

/* The features of edges in a graph network: made before the first block, freed after the last one.
 */
static void expect_staying(uint64_t gradient, size_t count)
{
    uint64_t edges = allocate(33, frames_of("t9 m52"));
    for (int i = 0; i < BLOCKS; i++)
        block("t9 m53", outputs[i]);
    keep(8, "t9 m55");
    capture_free(&capture, edges, 33, "");
    backward_with(0, gradient);
    build();
    ck_assert_uint_eq(chain.rest_count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert(chain.rests[i].stays && chain.rests[i].enters);
        ck_assert_uint_eq(chain.rests[i].bytes, 33);
    }
}

START_TEST(what_all_layers_get_stays)
{
    expect_staying(33, 1);
}
END_TEST

START_TEST(what_has_no_gradient_is_not_used)
{
    expect_staying(0, 0);
}
END_TEST

/* A feature pyramid: the gradient of the first block's output exists while the backwards of later
 * blocks run. */
START_TEST(a_gradient_that_waits_is_from_a_later_layer)
{
    for (int i = 0; i < BLOCKS; i++)
        block("t9 m53", outputs[i]);
    keep(8, "t9 m55");
    backward_with(0, outputs[0]);
    build();
    ck_assert_uint_eq(chain.count, BLOCKS + 1);
    ck_assert(!chain_can_join(&chain, 0) && chain_can_join(&chain, 1));
}
END_TEST

/* The program holds the result of an auxiliary head until the step has ended. */
START_TEST(an_output_that_is_held_puts_no_backward_off)
{
    for (int i = 0; i < BLOCKS; i++)
        block("t9 m53", outputs[i]);
    uint64_t head = allocate(16, frames_of("t9 m54 a3"));
    keep(8, "t9 m55");
    backward_with(0, 0);
    allocate(1, STACK_BACKWARD);
    capture_free(&capture, head, 16, "");
    allocate(1, STACK_BACKWARD);
    build();
    ck_assert_uint_eq(chain.count, BLOCKS + 2);
    for (size_t i = 0; i + 1 < BLOCKS; i++)
        ck_assert_uint_gt(chain.elements[i].backward_end, chain.elements[i + 1].backward_end);
}
END_TEST

/* The backward pass frees the little that the first layer keeps before everything else. */
START_TEST(a_layer_that_is_freed_early_hastens_no_backward)
{
    uint64_t early = allocate(10, frames_of("t9 m50"));
    for (int i = 0; i < BLOCKS; i++)
        block("t9 m53", outputs[i]);
    keep(8, "t9 m55");
    allocate(1, STACK_BACKWARD);
    capture_free(&capture, early, 10, STACK_BACKWARD);
    backward_with(0, 0);
    build();
    ck_assert_uint_eq(chain.count, BLOCKS + 2);
    for (size_t i = 2; i <= BLOCKS; i++)
        ck_assert_uint_gt(chain.elements[i].backward_end, chain.elements[i + 1].backward_end);
}
END_TEST

/* The backwards of many layers that keep little seem to run before those of the blocks. */
START_TEST(layers_that_keep_most_are_in_order)
{
    char path[16];
    uint64_t small[BLOCKS + 2];
    for (int i = 0; i < BLOCKS + 2; i++) {
        snprintf(path, sizeof(path), "t9 m%d", 40 + i);
        small[i] = allocate(1, frames_of(path));
    }
    for (int i = 0; i < BLOCKS; i++)
        block("t9 m53", outputs[i]);
    keep(8, "t9 m55");
    for (int i = BLOCKS + 2; i-- > 0;) {
        allocate(1, STACK_BACKWARD);
        capture_free(&capture, small[i], 1, STACK_BACKWARD);
    }
    backward_with(0, 0);
    build();
    size_t last = chain.count - 1;
    for (size_t i = last - BLOCKS + 1; i < last; i++)
        ck_assert_uint_gt(chain.elements[i].backward_end, chain.elements[i + 1].backward_end);
}
END_TEST

/* A block adds to the result of its norm in place, and its last line keeps the statistics of
 * another norm. The backward of the next block frees the sum first. */
START_TEST(statistics_are_no_output)
{
    uint64_t sum[2], statistics[2];
    for (int i = 0; i < 2; i++) {
        sum[i] = allocate(1000, frames_of("t9 m53 b10"));
        statistics[i] = allocate(4, frames_of("t9 m53 b11 a3"));
    }
    keep(8, "t9 m55");
    backward(1);
    for (int i = 2; i-- > 0;) {
        allocate(1, STACK_BACKWARD);
        capture_free(&capture, sum[i], 1000, STACK_BACKWARD);
        allocate(1, STACK_BACKWARD);
        capture_free(&capture, statistics[i], 4, STACK_BACKWARD);
    }
    build();
    ck_assert_uint_eq(chain.count, 3);
    expect(0, "model.py:53 forward [0]", 1004, 1000);
    expect(1, "model.py:53 forward [1]", 1004, 1000);
}
END_TEST

TCase *chain_rests_tests(void)
{
    TCase *tests = tcase_create("chain_rests");
    tcase_add_checked_fixture(tests, pass_create, pass_destroy);
    tcase_add_test(tests, results_in_a_list_end_a_chain);
    tcase_add_test(tests, a_list_may_hold_more);
    tcase_add_test(tests, results_that_nobody_uses_end_none);
    tcase_add_test(tests, the_next_block_gets_what_has_a_gradient);
    tcase_add_test(tests, an_inner_result_may_leave);
    tcase_add_test(tests, other_code_makes_an_input);
    tcase_add_test(tests, what_all_layers_get_stays);
    tcase_add_test(tests, what_has_no_gradient_is_not_used);
    tcase_add_test(tests, a_gradient_that_waits_is_from_a_later_layer);
    tcase_add_test(tests, an_output_that_is_held_puts_no_backward_off);
    tcase_add_test(tests, a_layer_that_is_freed_early_hastens_no_backward);
    tcase_add_test(tests, layers_that_keep_most_are_in_order);
    tcase_add_test(tests, statistics_are_no_output);
    return tests;
}
