/* The sizes, outputs and times of layers. */
#include "unit/analysis/chain/pass.h"

#define TORCH_FUNCTIONAL "/venv/lib/python3.11/site-packages/torch/nn/functional.py"

START_TEST(extras_are_what_was_there)
{
    for (int i = 0; i < 3; i++)
        block("t9 m53", 8);
    backward(100);
    build();
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(chain.elements[i].forward_extra_bytes, 0); /* 7, freed before 8 came */
        /* the scratch, a byte that is there throughout, less the output's gradient, and less the
         * output, which the backward of the next one freed */
        ck_assert_int_eq(chain.elements[i].backward_extra_bytes, 100 + 1 - 8 - (i < 2 ? 8 : 0));
        ck_assert_uint_eq(chain.elements[i].allocations, 3);
    }
}
END_TEST

START_TEST(what_is_there_at_the_end_of_a_line_crosses)
{
    keep(10, "t9 m50");
    keep(64, "t9 m51");
    keep(3, "t9 m51"); /* a mask after its result */
    keep(3, "t9 m52");
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 3);
    expect(1, "model.py:51 forward", 67, 64);
}
END_TEST

/* The indices of maxima are larger than the maxima, which the backward of the next layer frees
 * first. */
START_TEST(what_an_operator_keeps_for_itself_stays)
{
    keep(10, "t9 m50");
    keep(64, "t9 m51");
    keep(32, "t9 m51");
    keep(3, "t9 m52");
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 3);
    expect(1, "model.py:51 forward", 96, 32);
}
END_TEST

/* A recurrent layer keeps its result together with other tensors, and frees all of them at once. */
START_TEST(a_result_may_be_kept_by_its_operator)
{
    keep(32, "t9 m50");
    uint64_t result = next++, gates = next++;
    capture_event(&capture, "alloc", result, 32, frames_of("t9 m51"));
    capture_event(&capture, "alloc", gates, 64, frames_of("t9 m51"));
    keep(3, "t9 m52");
    capture_event(&capture, "alloc", next, 1, STACK_BACKWARD);
    capture_free(&capture, addresses[1], 3, STACK_BACKWARD);
    capture_event(&capture, "alloc", next + 1, 1, STACK_BACKWARD);
    capture_free(&capture, gates, 64, STACK_BACKWARD);
    capture_free(&capture, result, 32, STACK_BACKWARD);
    capture_free(&capture, addresses[0], 32, STACK_BACKWARD);
    build();
    ck_assert_uint_eq(chain.count, 3);
    expect(1, "model.py:51 forward", 96, 32);
}
END_TEST

/* The backward pass of a ReLU reads its result. Without C++ frames, only the Python function tells
 * that there is one. */
START_TEST(a_relu_reads_its_result)
{
    operator_frame =
        _i == 0 ? PY("helper", "/home/u/helper.py", 1) : PY("relu", TORCH_FUNCTIONAL, 1777);
    keep(10, "t9 m50");
    keep(64, "t9 m51");
    keep(3, "t9 m52");
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 3);
    ck_assert_int_eq(chain.elements[1].reader_item == EVENT_NEVER, _i == 0);
}
END_TEST

START_TEST(the_largest_allocation_is_known)
{
    for (int i = 0; i < 3; i++)
        block("t9 m53", i == 1 ? 500 : 50);
    backward(1);
    build();
    ck_assert_int_eq(chain.largest_bytes, 500);
    ck_assert_uint_eq(chain.largest_element, 1);
    ck_assert(!chain.largest_recurrent);
}
END_TEST

/* What cuDNN reserves for the backward pass of a recurrent layer is no result, whatever its size
 * and that of the layer's input. The state, which a decoder takes, is freed first, and is too small
 * to be the result. */
START_TEST(what_a_recurrent_layer_reserves_does_not_cross)
{
    keep(16, "t9 m50");
    uint64_t made[] = {next, next + 1, next + 2}, bytes[] = {32, 1, 640};
    next += 3;
    for (size_t i = 0; i < 3; i++)
        capture_event(&capture, "alloc", made[i], bytes[i], frames_of("t9 m51 R1123"));
    keep(3, "t9 m52");
    capture_event(&capture, "alloc", next, 1, STACK_BACKWARD);
    capture_free(&capture, addresses[1], 3, STACK_BACKWARD);
    capture_free(&capture, made[1], 1, STACK_BACKWARD);
    capture_event(&capture, "alloc", next + 1, 1, STACK_BACKWARD);
    capture_free(&capture, made[0], 32, STACK_BACKWARD);
    capture_free(&capture, made[2], 640, STACK_BACKWARD);
    capture_free(&capture, addresses[0], 16, STACK_BACKWARD);
    build();
    ck_assert_uint_eq(chain.count, 3);
    expect(1, "model.py:51 forward", 673, 32);
    ck_assert_uint_eq(chain.elements[1].reader_item, chain.backward + 5); /* its own backward */
    ck_assert_uint_eq(chain.held_count, 1);
    ck_assert_uint_eq(chain.held[0], chain.first + 2); /* the state */
    ck_assert_int_eq(chain.largest_bytes, 640);
    ck_assert(chain.largest_recurrent);
}
END_TEST

/* The training loop keeps the logits in a variable beyond the backward pass. */
START_TEST(what_the_program_holds_crosses)
{
    keep(10, "t9 m50");
    uint64_t logits = next++;
    capture_event(&capture, "alloc", logits, 64, frames_of("t9 m51"));
    keep(32, "t9 m51");
    keep(3, "t9 m52");
    backward(1);
    capture_event(&capture, "alloc", next, 1000, STACK_STEP);
    capture_free(&capture, logits, 64, "");
    build();
    ck_assert_uint_eq(chain.count, 3);
    expect(1, "model.py:51 forward", 96, 64);
}
END_TEST

static uint64_t allocate(uint64_t size, const char *path)
{
    capture_event(&capture, "alloc", next, size, frames_of(path));
    return next++;
}

/* The last line of each block copies a tensor for a list, so that it has a gradient only if the
 * backward pass makes something of its size. */
START_TEST(what_has_no_gradient_gives_way)
{
    static const uint64_t scratch[] = {32, 96};
    for (int k = 0; k < 2; k++) {
        uint64_t copies[4];
        for (int i = 0; i < 4; i++) {
            keep(20, "t9 m53 b10");
            keep(32, "t9 m53 b11");
            copies[i] = allocate(96, "t9 m53 b12");
            if (i > 0)
                capture_free(&capture, copies[i - 1], 96, "");
        }
        capture_free(&capture, copies[3], 96, "");
        backward(scratch[k]);
        build();
        ck_assert_uint_eq(chain.count, 4);
        for (size_t i = 0; i < 3; i++)
            ck_assert_int_eq(chain.elements[i].output_bytes, (int64_t)scratch[k]);
        pass_destroy();
        pass_create();
    }
}
END_TEST

/* After a module call, other code makes a mask for all blocks. The first block's norm keeps the
 * result of the call, which the backward pass frees together with the statistics of the norm. */
START_TEST(a_mask_is_not_the_result_of_the_calls_before_it)
{
    options.level = CHAIN_CALLS;
    uint64_t input = allocate(64, "t9 m50 b3"), mask = allocate(60, "t9 m51");
    uint64_t statistics = allocate(3, "t9 m53 b9");
    for (int i = 0; i < 3; i++)
        block("t9 m53", 40);
    capture_free(&capture, mask, 60, "");
    backward(60);
    uint64_t gradient = next++;
    capture_event(&capture, "alloc", gradient, 3, STACK_BACKWARD);
    capture_free(&capture, input, 64, STACK_BACKWARD);
    capture_free(&capture, statistics, 3, STACK_BACKWARD);
    capture_free(&capture, gradient, 3, STACK_BACKWARD);
    build();
    ck_assert(chain_is_modules(&chain, 0));
    ck_assert_int_eq(chain.elements[0].activation_bytes, 64);
    ck_assert_int_eq(chain.elements[0].output_bytes, 64);
}
END_TEST

static bool is_kept(uint32_t item)
{
    for (size_t k = 0; k < chain.kept_count; k++)
        if (chain.kept[k] == item)
            return true;
    return false;
}

/* Between blocks, line 54 makes the next input, and line 55 adds to a sum of the same size, which
 * the last line of the model takes. */
START_TEST(a_sum_over_all_layers_is_not_handed_on)
{
    uint64_t sum = 0;
    options.level = CHAIN_CALLS;
    for (int i = 0; i < 4; i++) {
        block("t9 m53", 40);
        keep(8, "t9 m54");
        uint64_t added = allocate(8, "t9 m55");
        if (i > 0)
            capture_free(&capture, sum, 8, "");
        sum = added;
    }
    capture_free(&capture, sum, 8, "");
    backward(8);
    build();
    ck_assert_uint_eq(chain.count, 8);
    for (size_t i = 1; i < 6; i += 2) {
        ck_assert_int_eq(chain.elements[i].output_bytes, 8);
        ck_assert(is_kept(chain.elements[i].output_item));
    }
}
END_TEST

/* In-place layers keep nothing more, so they belong to the layer before. */
START_TEST(what_keeps_nothing_joins_its_neighbour)
{
    pass_by(10, "t9 m49");
    keep(10, "t9 m50");
    pass_by(10, "t9 m51");
    keep(10, "t9 m52");
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 2);
    expect(0, "model.py:50 forward", 10, 10);
    expect(1, "model.py:52 forward", 10, 10);
}
END_TEST

/* The inputs of checkpointed blocks are small compared with the logits, but the blocks compute the
 * most. */
START_TEST(checkpointed_blocks_are_a_loop)
{
    for (int level = CHAIN_BLOCKS; level <= CHAIN_LOOPS; level++) {
        options.level = (enum chain_level)level;
        keep(8, "t9 q40 m4");
        for (int i = 0; i < 4; i++) {
            pass_by(500, "t9 q40 m5 C480 b2");
            pass_by(500, "t9 q40 m5 C480 b3");
            keep(10, "t9 q40 m5 C480 b4");
        }
        keep(1000, "t9 q40 m6");
        backward(1);
        build();
        size_t iterations = 0;
        for (size_t i = 0; i < chain.part_count; i++)
            iterations += chain.parts[i].loop != NO_LOOP;
        ck_assert_uint_eq(iterations, 4);
        pass_destroy();
        pass_create();
    }
}
END_TEST

/* Of the last frozen block before the trained ones, only the output is kept. */
START_TEST(frozen_blocks_are_iterations)
{
    static const char *const lines[] = {"t9 q40 m5 b2", "t9 q40 m5 b3", "t9 q40 m5 b4"};
    options.level = CHAIN_LOOPS;
    for (int i = 0; i < 6; i++)
        for (int line = 0; line < 3; line++)
            (i > 2 || (i == 2 && line == 2) ? keep : pass_by)(10, lines[line]);
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 4);
    for (size_t i = 1; i < 4; i++) {
        ck_assert_int_eq(chain.elements[i].activation_bytes, 30);
        ck_assert_uint_eq(chain.parts[chain.elements[i].first_part].iteration, 2 + i);
    }
    ck_assert_int_eq(chain.elements[0].activation_bytes, 10);
    ck_assert_uint_eq(chain.elements[0].first_item, chain.first);
}
END_TEST

START_TEST(checkpointed_layers_are_told)
{
    keep(8, "t9 m50");
    for (int i = 0; i < 3; i++) {
        pass_by(30, "t9 m53 C400 b10");
        pass_by(40, "t9 m53 C400 b11");
        keep(8, "t9 m53 C400 b12");
    }
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 4);
    ck_assert_uint_eq(chain.checkpointed, 3);
    expect(1, "model.py:53 forward [0]", 8, 8);
    ck_assert_int_eq(chain.elements[1].forward_extra_bytes, 32);
    ck_assert(!chain.elements[0].checkpointed);
}
END_TEST

/* An iteration that takes long once, because a library is loaded, gets the same time as the others.
 */
START_TEST(equal_iterations_take_the_median)
{
    for (int i = 0; i < 3; i++) {
        block("t9 m53", 8);
        capture.time_us += i == 0 ? 5000 : 0;
    }
    backward(1);
    build();
    ck_assert(chain.timed);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_lt(chain.elements[i].forward_ns, 1000000);
    ck_assert_int_eq(chain.elements[0].forward_ns, chain.elements[2].forward_ns);
    ck_assert_int_gt(chain.elements[0].forward_ns, 0);
}
END_TEST

TCase *chain_sizes_tests(void)
{
    TCase *tests = tcase_create("chain_sizes");
    tcase_add_checked_fixture(tests, pass_create, pass_destroy);
    tcase_add_test(tests, extras_are_what_was_there);
    tcase_add_test(tests, what_is_there_at_the_end_of_a_line_crosses);
    tcase_add_test(tests, what_an_operator_keeps_for_itself_stays);
    tcase_add_test(tests, a_result_may_be_kept_by_its_operator);
    tcase_add_loop_test(tests, a_relu_reads_its_result, 0, 2);
    tcase_add_test(tests, the_largest_allocation_is_known);
    tcase_add_test(tests, what_a_recurrent_layer_reserves_does_not_cross);
    tcase_add_test(tests, what_the_program_holds_crosses);
    tcase_add_test(tests, what_has_no_gradient_gives_way);
    tcase_add_test(tests, a_mask_is_not_the_result_of_the_calls_before_it);
    tcase_add_test(tests, a_sum_over_all_layers_is_not_handed_on);
    tcase_add_test(tests, what_keeps_nothing_joins_its_neighbour);
    tcase_add_test(tests, checkpointed_blocks_are_a_loop);
    tcase_add_test(tests, frozen_blocks_are_iterations);
    tcase_add_test(tests, checkpointed_layers_are_told);
    tcase_add_test(tests, equal_iterations_take_the_median);
    return tests;
}
