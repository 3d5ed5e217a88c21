/* How chains are divided at module calls, and the weights of operators. */
#include <stdio.h>
#include <string.h>

#include "analysis/chain/held.h"
#include "unit/analysis/chain/pass.h"

static void expect_call(uint32_t index, const char *line, uint32_t number, uint32_t total)
{
    ck_assert_uint_lt(index, chain.call_count);
    const struct chain_call *call = &chain.calls[index];
    ck_assert_str_eq(symbols_text(capture.snapshot->symbols, call->line).bytes, line);
    ck_assert_uint_eq(call->number, number);
    ck_assert_uint_eq(call->total, total);
}

/* A loop of blocks, each a call of one line, between other lines. */
START_TEST(blocks_are_calls_of_a_line)
{
    keep(100, "t9 m51 a3");
    for (int i = 0; i < 3; i++)
        block("t9 m53", 50);
    keep(8, "t9 m55");
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 5);
    expect_call(0, "model.py:51", 0, 1);
    for (uint32_t i = 0; i < 3; i++)
        expect_call(i + 1, "model.py:53", i, 3);
    for (size_t i = 0; i < 4; i++)
        ck_assert(chain_is_modules(&chain, i));
    ck_assert(!chain_is_modules(&chain, 4)); /* the model's own code */
    ck_assert(!chain_can_join(&chain, 0));
    ck_assert(chain_can_join(&chain, 1) && chain_can_join(&chain, 2));
    ck_assert(!chain_can_join(&chain, 3) && !chain_can_join(&chain, 4));
}
END_TEST

/* The second block also returns a mask, which the program still holds after the backward pass. No
 * checkpoint frees the mask, and none can hold this block together with the next. */
START_TEST(the_program_holds_a_result)
{
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            capture_event(&capture, "alloc", next++, 40, frames_of("t9 m53 b10"));
        block("t9 m53", 50);
    }
    keep(8, "t9 m55");
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 4);
    ck_assert_uint_eq(chain.held_count, 1);
    ck_assert(chain_is_held(&chain, chain.held[0]));
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(chain.elements[i].held_bytes, i == 1 ? 40 : 0);
    ck_assert(chain_can_join(&chain, 0) && !chain_can_join(&chain, 1));
}
END_TEST

/* Three blocks whose line multiplies the result, for the next block only; `last` is the last
 * operator of a block. */
static void scaled_blocks(const char *last)
{
    uint64_t product = 0;
    for (int i = 0; i < 3; i++) {
        keep(30, "t9 m53 b10");
        operator_frame = last;
        keep(50, "t9 m53 b11");
        operator_frame = CPP("at::_ops::mul_Tensor::redispatch(x)");
        capture_event(&capture, "alloc", next, 55, frames_of("t9 m53"));
        operator_frame = CPP("at::_ops::mm::redispatch(x)");
        if (product > 0)
            capture_free(&capture, product, 55, "");
        product = next++;
    }
    keep(8, "t9 m55");
    capture_free(&capture, product, 55, "");
    backward(55); /* gradients of products */
    build();
}

static void expect_held(int64_t bytes)
{
    ck_assert_uint_eq(chain.count, 4);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(chain.elements[i].output_bytes, 55);
        ck_assert_int_eq(chain.elements[i].held_bytes, bytes);
    }
    for (size_t i = 0; i + 1 < chain.held_count; i++)
        ck_assert_uint_lt(chain.held[i], chain.held[i + 1]);
}

/* The product saves the result of the block, so no checkpoint around the block frees that. */
START_TEST(code_beside_a_block_reads_its_result)
{
    scaled_blocks(CPP("at::_ops::addmm::redispatch(x)"));
    expect_held(50);
}
END_TEST

/* The block itself may save its result. */
START_TEST(a_block_reads_its_own_result)
{
    scaled_blocks(CPP("at::_ops::relu::redispatch(x)"));
    expect_held(0);
}
END_TEST

/* The model runs on both images of a pair: from two lines, and twice from a third line. What
 * another model keeps in between is no run of it. */
START_TEST(each_run_of_the_model_numbers_its_calls)
{
    static const char *const callers[] = {"t9 m53", "t10 m53", "t11 m53", "t11 m53"};
    for (int run = 0; run < 4; run++) {
        for (int i = 0; i < 3; i++)
            block(callers[run], 50);
        keep(8, run == 2 ? "t11" : "t12 l4");
    }
    backward(1);
    build();
    for (uint32_t k = 0, i = 0; i < 12; k++) {
        ck_assert_uint_lt(k, chain.call_count);
        if (strcmp(symbols_text(capture.snapshot->symbols, chain.calls[k].line).bytes,
                   "model.py:53") != 0)
            continue;
        expect_call(k, "model.py:53", i % 3, 3);
        ck_assert_uint_eq(chain.calls[k].run, i / 3);
        ck_assert_uint_eq(chain.calls[k].runs, 4);
        ck_assert_uint_eq(chain.calls[k].first_allocation, i % 3 * 4);
        i++;
    }
}
END_TEST

/* One line calls the model twice, and another line once. The allocations of each run are counted
 * from its own first one. */
START_TEST(runs_of_different_length_count_their_own_allocations)
{
    for (int i = 0; i < 6; i++)
        block("t9 m53", 50);
    keep(8, "t10 l4");
    for (int i = 0; i < 3; i++)
        block("t11 m53", 50);
    backward(1);
    build();
    uint32_t counts[2] = {0};
    for (uint32_t k = 0; k < chain.call_count; k++) {
        const struct chain_call *call = &chain.calls[k];
        ck_assert_uint_eq(call->runs, 2);
        ck_assert_uint_lt(call->run, 2);
        uint32_t i = counts[call->run]++;
        expect_call(k, "model.py:53", i, call->run == 0 ? 6 : 3);
        ck_assert_uint_eq(call->first_allocation, 4 * i);
        ck_assert_uint_eq(call->of_allocations, call->run == 0 ? 24 : 12);
    }
    ck_assert_uint_eq(counts[0], 6);
    ck_assert_uint_eq(counts[1], 3);
}
END_TEST

/* A function of the program calls the first model, and the step itself calls the second one. */
START_TEST(a_model_may_be_called_less_deep_than_the_first)
{
    for (int i = 0; i < 3; i++)
        block("t9 l4 m53", 50);
    for (int i = 0; i < 2; i++)
        block("t12 a5", 30);
    backward(1);
    build();
    ck_assert_uint_eq(chain.call_count, 5);
    for (uint32_t k = 0; k < chain.call_count; k++)
        expect_call(k, k < 3 ? "model.py:53" : "attention.py:5", k < 3 ? k : k - 3, k < 3 ? 3 : 2);
}
END_TEST

/* Between two models that the step calls, it calls the first one without gradients, and holds the
 * result. That call is no run of the model, and its calls are not counted. The allocations of the
 * other model are counted from the first one's on. */
START_TEST(calls_without_gradients_are_no_runs)
{
    for (int i = 0; i < 3; i++)
        block("t9 m53", 50);
    for (int i = 0; i < 3; i++) {
        pass_by(20, "t10 m53 b10");
        pass_by(50, "t10 m53 b11");
    }
    keep(50, "t10 m53 b12");
    for (int i = 0; i < 2; i++)
        pass_by(20, "t11 a5 b10"); /* another model of the class of the second one */
    for (int i = 0; i < 2; i++)
        block("t12 a5", 30);
    keep(8, "t13 l4");
    backward(1);
    build();
    uint32_t counts[2] = {0};
    for (uint32_t k = 0; k < chain.call_count; k++) {
        const struct chain_call *call = &chain.calls[k];
        bool is_second = call->model == 2;
        uint32_t i = counts[is_second]++;
        expect_call(k, is_second ? "attention.py:5" : "model.py:53", i, is_second ? 2 : 3);
        ck_assert_uint_eq(call->runs, 0);
        ck_assert_uint_eq(call->first_allocation, 4 * i + (is_second ? 12 + 7 + 2 : 0));
        ck_assert_uint_eq(call->of_allocations, is_second ? 12 + 7 + 2 + 8 : 12);
    }
    ck_assert_uint_eq(counts[0], 3);
    ck_assert_uint_eq(counts[1], 2);
}
END_TEST

/* A generator and a discriminator in one file, called from one line. Lines of the discriminator's
 * blocks lie between the lines of the two. Between two lines of one forward there are no lines of
 * another function. */
START_TEST(models_of_one_file_are_told_apart)
{
    static const uint32_t models[] = {1, 1, 2, 2};
    for (int i = 0; i < 2; i++)
        block("t9 m20", 50);
    keep(30, "t9 m21 a3");
    for (int i = 0; i < 2; i++) {
        keep(20, "t9 m60 m40 a3");
        keep(30, "t9 m60 m41 a4");
    }
    keep(8, "t9 l4");
    backward(1);
    build();
    ck_assert_uint_ge(chain.call_count, 5);
    for (uint32_t k = 0; k < 4; k++)
        ck_assert_uint_eq(chain.calls[k + (k > 1)].model, models[k]);
    ck_assert_uint_eq(chain.calls[2].model, 1);
}
END_TEST

/* Allocations are counted from the first one in the model's forward, even if that keeps nothing. */
START_TEST(calls_have_the_allocations_that_they_make)
{
    pass_by(5, "t8 l3");
    pass_by(5, "t9 m50 a1");
    pass_by(5, "t9 m53 b10");
    for (int i = 0; i < 2; i++)
        block("t9 m53", 50);
    pass_by(5, "t9 m54 a1");
    keep(8, "t9 l3");
    backward(1);
    build();
    ck_assert_uint_eq(chain.allocations, 11); /* a block makes four, the first one five */
    ck_assert_uint_eq(chain.call_count, 2);
    ck_assert_uint_eq(chain.calls[0].first_allocation, 1);
    ck_assert_uint_eq(chain.calls[0].end_allocation, 6);
    ck_assert_uint_eq(chain.calls[1].first_allocation, 6);
    ck_assert_uint_eq(chain.calls[1].end_allocation, 10);
}
END_TEST

/* The first call includes earlier lines of the same call that keep nothing, but not the call before
 * it. */
START_TEST(the_first_call_begins_where_it_makes_something)
{
    pass_by(5, "t9 m50 a1");
    for (int line = 10; line <= 12; line++) { /* a frozen block */
        char path[32];
        snprintf(path, sizeof(path), "t9 m53 b%d", line);
        pass_by(5, path);
    }
    pass_by(5, "t9 m53 b9 a1");
    for (int i = 0; i < 2; i++)
        block("t9 m53", 50);
    backward(1);
    build();
    ck_assert_uint_eq(chain.allocations, 13);
    ck_assert_uint_eq(chain.call_count, 2);
    ck_assert_uint_eq(chain.calls[0].first_allocation, 4);
    ck_assert_uint_eq(chain.calls[0].end_allocation, 9);
}
END_TEST

/* The input of the first block has no gradient, so that its first line keeps nothing. The other
 * blocks begin with that line nevertheless. */
START_TEST(blocks_begin_with_a_line_that_kept_nothing_at_first)
{
    pass_by(20, "t9 m53 b9");
    block("t9 m53", 50);
    for (int i = 0; i < 2; i++) {
        keep(20, "t9 m53 b9");
        block("t9 m53", 50);
    }
    backward(1);
    build();
    ck_assert_uint_eq(chain.call_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(chain.calls[i].first_allocation, 5 * i);
        ck_assert_uint_eq(chain.calls[i].end_allocation, 5 * i + 5);
        ck_assert_int_eq(chain.elements[i].activation_bytes, i == 0 ? 100 : 120);
    }
}
END_TEST

/* The first block lacks a norm, whose line is that of an argument, after the line of the call that
 * takes it. Iterations begin with that line, because lines before it are later ones of the block.
 * A later line that the last block lacks, as that of a pool between blocks, ends iterations. */
START_TEST(blocks_begin_with_a_line_that_the_first_one_lacks)
{
    for (int at_end = 0; at_end < 2; at_end++) {
        for (int i = 0; i < 4; i++) {
            if (!at_end && i > 0)
                keep(20, "t9 m53 b11");
            keep(30, "t9 m53 b10");
            keep(50, "t9 m53 b14");
            if (at_end && i < 3)
                keep(20, "t9 m53 b16");
        }
        backward(1);
        build();
        ck_assert_uint_eq(chain.count, 4);
        for (size_t i = 0; i < 4; i++)
            ck_assert_int_eq(chain.elements[i].activation_bytes,
                             i == (at_end ? 3u : 0u) ? 80 : 100);
        pass_destroy();
        pass_create();
    }
}
END_TEST

/* If a line calls another function, another call begins. */
START_TEST(other_modules_are_other_calls)
{
    for (int i = 0; i < 2; i++) {
        block("t9 m53 S9", 50);
        keep(20, "t9 m53 S9 a3");
        keep(20, "t9 m53 S9 a4");
    }
    backward(1);
    build();
    ck_assert_uint_eq(chain.call_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        expect_call(i, "model.py:53", i, 4);
}
END_TEST

/* The result of a module is concatenated with another one. The module keeps nothing, and belongs to
 * the line that keeps the concatenation instead of the block before it. */
START_TEST(what_keeps_nothing_leads_on_to_other_code)
{
    options.level = CHAIN_LINES;
    keep(30, "t9 m43 b2");
    keep(31, "t9 m44 b2");
    uint64_t grown = next++;
    capture_event(&capture, "alloc", grown, 64, frames_of("t9 m46 L125"));
    keep(40, "t9 m46");
    capture_free(&capture, grown, 64, "");
    pass_by(7, "t9 m47 L125");
    keep(50, "t9 m48 b2");
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 4);
    expect(1, "block.py:2 forward (2)", 31, 31);
    expect(2, "model.py:46 forward", 40, 40);
    expect(3, "block.py:2 forward (3)", 50, 50);
}
END_TEST

/* An iteration with a concatenation has code other than module calls, so it is divided. */
START_TEST(other_code_is_divided_at_calls)
{
    for (int i = 0; i < 3; i++) {
        pass_by(64, "t9 m46 L125");
        keep(40, "t9 m46");
        block("t9 m46", 50);
        keep(60, "t9 m47 L125");
    }
    backward(1);
    options.level = CHAIN_CALLS;
    build();
    ck_assert_uint_eq(chain.count, 9);
    expect(0, "model.py:46 forward [0]", 40, 40);
    expect(4, "model.py:46 forward [1] (2)", 100, 50);
    expect(5, "model.py:47 forward [1]", 60, 60);
    ck_assert(!chain_is_modules(&chain, 0));
    ck_assert(chain_is_modules(&chain, 4) && chain_is_modules(&chain, 5));
    ck_assert(!chain_can_join(&chain, 4));
}
END_TEST

/* Module calls from several lines of an iteration may read any tensor, so no checkpoint holds two
 * of them. */
START_TEST(calls_of_two_lines_are_divided)
{
    for (int i = 0; i < 3; i++) {
        block("t9 m46", 50);
        block("t9 m47", 30);
    }
    backward(1);
    options.level = CHAIN_CALLS;
    build();
    ck_assert_uint_eq(chain.count, 6);
    for (size_t i = 0; i < 6; i++) {
        ck_assert(chain_is_modules(&chain, i));
        ck_assert(!chain_can_join(&chain, i));
    }
}
END_TEST

/* Before each block, the program computes a sum that nothing keeps. */
START_TEST(blocks_with_code_between_do_not_go_on)
{
    for (int i = 0; i < 3; i++) {
        pass_by(64, "t9 m52");
        block("t9 m53", 50);
    }
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert(!chain_can_join(&chain, i));
}
END_TEST

/* A container runs blocks of one class, and then blocks of a class that is defined above it. These
 * are two loops over lines of functions with the same name. */
START_TEST(blocks_of_two_classes_are_told_apart)
{
    for (int i = 0; i < 3; i++) {
        keep(20, "t9 m53 S219 b30");
        keep(20, "t9 m53 S219 b31");
    }
    for (int i = 0; i < 3; i++)
        block("t9 m53 S219", 50);
    backward(1);
    options.level = CHAIN_CALLS;
    build();
    ck_assert_uint_eq(chain.call_count, 6);
    for (uint32_t i = 0; i < 6; i++)
        expect_call(i, "model.py:53", i, 6);
}
END_TEST

/* A container runs blocks whose forward is a single line: x + b(gelu(a(norm(x)))). Only the modules
 * that a block calls tell one block from the next. */
START_TEST(blocks_of_one_line_are_told_apart)
{
    for (int i = 0; i < 6; i++) {
        keep(20, "t9 m53 S219 b6 a3");
        keep(80, "t9 m53 S219 b6 L125");
        keep(80, "t9 m53 S219 b6");
        keep(20, "t9 m53 S219 b6 L125");
        keep(20, "t9 m53 S219 b6");
    }
    backward(1);
    options.level = CHAIN_CALLS;
    build();
    ck_assert_uint_eq(chain.count, 6);
    ck_assert_uint_eq(chain.call_count, 6);
    for (uint32_t i = 0; i < 6; i++)
        expect_call(i, "model.py:53", i, 6);
}
END_TEST

/* The result of a container's second module is used up after the container, such as in the sum of a
 * residual block. A call that keeps nothing and has a line of its own may be anything. */
START_TEST(calls_that_keep_nothing_are_in_their_row)
{
    for (int i = 0; i < 3; i++) {
        keep(20, "t9 m53 S219 a3");
        pass_by(50, "t9 m53 S219 L125");
        pass_by(9, "t9 m54 a5");
        keep(30, "t9 m55 a4");
    }
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 3);
    ck_assert_uint_eq(chain.call_count, 9);
    for (uint32_t i = 0; i < 3; i++) {
        expect_call(3 * i, "model.py:53", 2 * i, 6);
        expect_call(3 * i + 1, "model.py:53", 2 * i + 1, 6);
        expect_call(3 * i + 2, "model.py:55", i, 3);
    }
}
END_TEST

/* The same where each call is a part: a checkpoint that ended before the second module would store
 * what the first one returns. */
START_TEST(calls_that_keep_nothing_are_in_the_row_of_the_part_before)
{
    for (int i = 0; i < 3; i++) {
        keep(60, "t9 m52");
        keep(20, "t9 m53 S219 a3");
        pass_by(50, "t9 m53 S219 L125");
        keep(30, "t9 m55 a4");
    }
    backward(1);
    options.level = CHAIN_CALLS;
    build();
    ck_assert_uint_eq(chain.count, 9);
    ck_assert_uint_eq(chain.call_count, 9);
    for (uint32_t i = 0; i < 3; i++) {
        expect_call(3 * i, "model.py:53", 2 * i, 6);
        expect_call(3 * i + 1, "model.py:53", 2 * i + 1, 6);
        ck_assert_uint_eq(chain_first_call(&chain, 3 * i + 1)->number, 2 * i);
        ck_assert_uint_eq(chain_last_call(&chain, 3 * i + 1)->number, 2 * i + 1);
    }
}
END_TEST

/* Results of matrix products weigh more, whether they are kept or not. */
START_TEST(operators_are_weighed_by_class)
{
    operator_frame = CPP("at::_ops::gelu::redispatch(x)");
    keep(100, "t9 m53 b10");
    operator_frame = CPP("at::_ops::mm::redispatch(x)");
    keep(20, "t9 m53 b11");
    uint64_t passing = next++;
    capture_event(&capture, "alloc", passing, 10, frames_of("t9 m53 b12"));
    operator_frame = CPP("at::_ops::add_Tensor::redispatch(x)");
    keep(30, "t9 m53 b13");
    capture_free(&capture, passing, 10, "");
    backward(1);
    build();
    ck_assert(chain.weighed && chain.operators_named);
    int64_t weight = 0, kept_bytes = 0;
    for (size_t i = 0; i < chain.count; i++) {
        weight += chain.elements[i].weight;
        kept_bytes += chain.elements[i].activation_bytes;
    }
    ck_assert_int_eq(kept_bytes, 150);
    ck_assert_int_eq(weight, 130 + 32 * 30);
    ck_assert_uint_eq(chain.result_count, 4);
    ck_assert(!chain.results[2].is_kept);
}
END_TEST

START_TEST(without_operators_nothing_is_weighed)
{
    keep(100, "t9 m53 b10");
    keep(20, "t9 m53 b11");
    backward(1);
    build();
    ck_assert(!chain.weighed && !chain.operators_named);
}
END_TEST

TCase *chain_calls_tests(void)
{
    TCase *tests = tcase_create("chain_calls");
    tcase_add_checked_fixture(tests, pass_create, pass_destroy);
    tcase_add_test(tests, blocks_are_calls_of_a_line);
    tcase_add_test(tests, the_program_holds_a_result);
    tcase_add_test(tests, code_beside_a_block_reads_its_result);
    tcase_add_test(tests, a_block_reads_its_own_result);
    tcase_add_test(tests, each_run_of_the_model_numbers_its_calls);
    tcase_add_test(tests, runs_of_different_length_count_their_own_allocations);
    tcase_add_test(tests, a_model_may_be_called_less_deep_than_the_first);
    tcase_add_test(tests, calls_without_gradients_are_no_runs);
    tcase_add_test(tests, models_of_one_file_are_told_apart);
    tcase_add_test(tests, calls_have_the_allocations_that_they_make);
    tcase_add_test(tests, the_first_call_begins_where_it_makes_something);
    tcase_add_test(tests, blocks_begin_with_a_line_that_kept_nothing_at_first);
    tcase_add_test(tests, blocks_begin_with_a_line_that_the_first_one_lacks);
    tcase_add_test(tests, other_modules_are_other_calls);
    tcase_add_test(tests, what_keeps_nothing_leads_on_to_other_code);
    tcase_add_test(tests, other_code_is_divided_at_calls);
    tcase_add_test(tests, calls_of_two_lines_are_divided);
    tcase_add_test(tests, blocks_with_code_between_do_not_go_on);
    tcase_add_test(tests, blocks_of_two_classes_are_told_apart);
    tcase_add_test(tests, blocks_of_one_line_are_told_apart);
    tcase_add_test(tests, calls_that_keep_nothing_are_in_their_row);
    tcase_add_test(tests, calls_that_keep_nothing_are_in_the_row_of_the_part_before);
    tcase_add_test(tests, operators_are_weighed_by_class);
    tcase_add_test(tests, without_operators_nothing_is_weighed);
    return tests;
}
