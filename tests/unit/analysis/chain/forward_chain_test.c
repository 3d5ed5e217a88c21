/* Loops and lines that become the layers of a chain. */
#include "unit/analysis/chain/pass.h"

START_TEST(a_loop_lies_between_lines)
{
    keep(8, "t9 m50");
    for (int i = 0; i < 4; i++)
        block("t9 m53", 8);
    keep(5, "t9 m55");
    keep(2, "t10 l4");
    backward(3);
    build();
    ck_assert_int_eq(chain.absence, CHAIN_FOUND);
    ck_assert_uint_eq(chain.count, 7);
    expect(0, "model.py:50 forward", 8, 8);
    expect(1, "model.py:53 forward [0]", 58, 8);
    expect(4, "model.py:53 forward [3]", 58, 8);
    expect(5, "model.py:55 forward", 5, 5);
    expect(6, "train.py:10 <module>", 2, 2);
    ck_assert_int_eq(chain.activation_bytes, 8 + 4 * 58 + 5 + 2);
    ck_assert_int_eq(chain.elements[2].output_from, OUTPUT_REPEATS);
    ck_assert_int_eq(chain.elements[5].output_from, OUTPUT_LAST);
    ck_assert_uint_eq(chain.loop_count, 1);
    ck_assert_uint_eq(chain.loops[0].iterations, 4);
    ck_assert(chain.loops[0].is_call);
    ck_assert_uint_eq(chain.parts[chain.elements[3].first_part].iteration, 2);
}
END_TEST

/* Line 50 is a wrapper's call of the model itself. */
START_TEST(a_line_with_nearly_all_is_divided)
{
    keep(4, "t9 m40");
    keep(200, "t9 m50 b10");
    keep(100, "t9 m50 b11");
    keep(4, "t9 m60");
    backward(3);
    build();
    ck_assert_uint_eq(chain.count, 4);
    expect(1, "block.py:10 forward", 200, 200);
    expect(2, "block.py:11 forward", 100, 100);
}
END_TEST

/* Lines 50 and 60 call trees of modules, which are cut one level deeper if that is asked for. */
START_TEST(a_model_without_loops_is_cut_deeper)
{
    for (size_t inner = 0; inner < 2; inner++) {
        options.inner = inner;
        keep(90, "t9 m50 b10");
        keep(80, "t9 m50 b11");
        keep(70, "t9 m60 b10");
        backward(3);
        build();
        ck_assert(chain.by_depth);
        ck_assert_uint_eq(chain.count, inner == 0 ? 2 : 3);
        expect(0, inner == 0 ? "model.py:50 forward" : "block.py:10 forward", inner == 0 ? 170 : 90,
               inner == 0 ? 80 : 90);
        pass_destroy();
        pass_create();
    }
    options.inner = 1;
    for (int i = 0; i < 3; i++)
        block("t9 m53", 8);
    backward(3);
    build();
    ck_assert(!chain.by_depth);
    ck_assert_uint_eq(chain.count, 3);
}
END_TEST

/* The first line of the loop's body may come before or after its second line in the file. */
START_TEST(a_loop_may_have_lines_of_its_own)
{
    keep(8, "t9 m50");
    for (int i = 0; i < 3; i++) {
        keep(40, "t9 m53 b3");
        keep(40, "t9 m52 b3");
        keep(9, "t9 m54");
    }
    keep(5, "t9 m56");
    backward(3);
    build();
    ck_assert_uint_eq(chain.count, 5);
    expect(0, "model.py:50 forward", 8, 8);
    expect(1, "model.py:52-54 forward [0]", 89, 9);
    expect(3, "model.py:52-54 forward [2]", 89, 9);
    expect(4, "model.py:56 forward", 5, 5);
    ck_assert(!chain.loops[0].is_call);
}
END_TEST

START_TEST(loops_within_loops_are_cut_inside)
{
    for (int stage = 0; stage < 2; stage++) {
        keep(9, "t9 m20 a5");
        for (int i = 0; i < 3; i++)
            block("t9 m20 a7", 8);
    }
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 8);
    expect(0, "attention.py:5 forward [0]", 9, 9);
    expect(1, "attention.py:7 forward [0][0]", 58, 8);
    expect(3, "attention.py:7 forward [0][2]", 58, 8);
    string_id inner = chain.parts[chain.elements[3].first_part].inner;
    ck_assert_str_eq(symbols_text(capture.snapshot->symbols, inner).bytes,
                     "attention.py:7 forward [2]");
    expect(4, "attention.py:5 forward [1]", 9, 9);
    expect(7, "attention.py:7 forward [1][2]", 58, 8);
    ck_assert_uint_eq(chain.loop_count, 2);
    ck_assert_uint_eq(chain.loops[1].iterations, 3);
}
END_TEST

/* All stages of a model are in the first iteration, and they are not alike. */
START_TEST(an_iteration_with_nearly_everything_is_cut_inside)
{
    keep(9, "t9 m20 a5");
    for (uint64_t stage = 0; stage < 4; stage++)
        block("t9 m20 a7", 8 + 200 * stage);
    keep(9, "t9 m20 a5");
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 6);
    expect(0, "attention.py:5 forward [0]", 9, 9);
    expect(1, "attention.py:7 forward [0][0]", 58, 8);
    expect(4, "attention.py:7 forward [0][3]", 658, 608);
    ck_assert_int_eq(chain.elements[5].activation_bytes, 9);
}
END_TEST

/* The first blocks have no dropout, so they never reach the second line. */
START_TEST(blocks_that_reach_fewer_lines_are_told_apart)
{
    for (int i = 0; i < 8; i++) {
        keep(40, "t9 m53 S250 b64 L125");
        keep(10, "t9 m53 S250 b64");
        if (i >= 2)
            keep(1, "t9 m53 S250 b65");
    }
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 8);
    ck_assert_int_eq(chain.elements[0].activation_bytes, 50);
    ck_assert_int_eq(chain.elements[1].activation_bytes, 50);
    ck_assert_int_eq(chain.elements[2].activation_bytes, 51);
}
END_TEST

/* A line of a block that calls one function several times must not split the block. */
START_TEST(a_block_stays_whole)
{
    for (int i = 0; i < 3; i++) {
        keep(1, "t9 m53 b2");
        keep(40, "t9 m53 b3 L125");
        keep(40, "t9 m53 b3");
        keep(10, "t9 m53 b3 L125");
    }
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 3);
    expect(1, "model.py:53 forward [1]", 91, 10);
}
END_TEST

/* An expression over several lines goes back without being a loop. */
START_TEST(lines_may_go_back_within_a_block)
{
    for (int i = 0; i < 3; i++) {
        keep(10, "t9 m53 b11 a3");
        keep(20, "t9 m53 b10");
        keep(10, "t9 m53 b14 a3");
        keep(20, "t9 m53 b13");
    }
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 3);
    expect(2, "model.py:53 forward [2]", 60, 20);
}
END_TEST

START_TEST(a_block_called_twice_is_two_lines)
{
    block("t9 m53", 8);
    block("t9 m54", 8);
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 2);
    ck_assert_uint_eq(chain.loop_count, 0);
    expect(0, "model.py:53 forward", 58, 8);
    expect(1, "model.py:54 forward", 58, 8);
}
END_TEST

START_TEST(an_encoder_and_a_decoder_are_two_loops)
{
    for (int i = 0; i < 2; i++)
        block("t9 m30", 8);
    for (int i = 0; i < 3; i++)
        block("t9 m40", 6);
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 5);
    ck_assert_uint_eq(chain.loop_count, 2);
    expect(1, "model.py:30 forward [1]", 58, 8);
    expect(2, "model.py:40 forward [0]", 56, 6);
}
END_TEST

START_TEST(recursion_is_a_call_like_others)
{
    keep(10, "t9 m50");
    keep(10, "t9 m51 m50");
    keep(10, "t9 m51 m51 m50");
    keep(10, "t9 m51 m51 m52");
    keep(10, "t9 m51 m52");
    keep(10, "t9 m52");
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 3);
    expect(0, "model.py:50 forward", 10, 10);
    expect(1, "model.py:51 forward", 40, 10);
    expect(2, "model.py:52 forward", 10, 10);
}
END_TEST

/* A Sequential is code of torch, so the loop is identified by the line that runs it and by the
 * modules it runs. */
START_TEST(a_sequential_is_a_loop)
{
    for (int i = 0; i < 3; i++) {
        keep(30, "t9 m20 S219 q8");
        keep(10, "t9 m20 S219 q9");
    }
    keep(1, "t9 m21");
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 4);
    expect(0, "model.py:20 Block.forward [0]", 40, 10);
    expect(3, "model.py:21 forward", 1, 1);
}
END_TEST

/* The result of the first convolution of each iteration is freed once the ReLU has run. That of the
 * first iteration is made before the first activation; the others are still parts of their own
 * iterations, and no outputs of those before. */
START_TEST(a_sequential_may_begin_before_its_first_activation)
{
    for (int i = 0; i < 3; i++) {
        uint64_t passing = next++;
        capture_event(&capture, "alloc", passing, 90, frames_of("t9 m20 S259 a385"));
        keep(30, "t9 m20 S259 b143");
        capture_free(&capture, passing, 90, "");
        keep(60, "t9 m20 S259 a385");
        keep(30, "t9 m20 S259 q769");
    }
    keep(1, "t9 m21");
    backward(90);
    build();
    ck_assert_uint_eq(chain.count, 4);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(chain.elements[i].activation_bytes, 120);
        ck_assert_int_eq(chain.elements[i].output_bytes, 30);
    }
    expect(3, "model.py:21 forward", 1, 1);
}
END_TEST

START_TEST(other_levels_are_asked_for)
{
    for (int i = 0; i < 2; i++)
        block("t9 m53", 8);
    keep(5, "t9 m55");
    backward(1);
    capture_load(&capture);
    static const struct {
        struct chain_options options;
        size_t count;
        const char *second;
    } cases[] = {
        {{CHAIN_DEPTH, 1, NULL, 99, 0}, 3, "model.py:53 forward [1]"},
        {{CHAIN_DEPTH, 2, NULL, 99, 0}, 7, "block.py:11 forward [0]"},
        {{CHAIN_DEPTH, 9, NULL, 99, 0}, 7, "attention.py:3 forward [0]"},
        {{CHAIN_LINES, 0, NULL, 99, 0}, 7, "attention.py:3 forward [0]"},
        {{CHAIN_PATTERN, 0, "block.py:11 *", 99, 0}, 5, "block.py:11 forward [0]"},
        {{CHAIN_PATTERN, 0, "model.py:53*", 99, 0}, 3, "model.py:53 forward [1]"},
        {{CHAIN_LINES, 0, NULL, 2, 0}, 2, "block.py:10 forward [1]"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err;
        ck_assert(
            forward_chain_build(&chain, capture.timeline, capture.sites, &cases[i].options, &err));
        ck_assert_uint_eq(chain.count, cases[i].count);
        ck_assert_str_eq(name_of(1), cases[i].second);
        ck_assert_int_eq(chain.activation_bytes, 121);
        ck_assert_uint_eq(chain.joined, i == 6 ? 7 : 0);
        forward_chain_release(&chain);
    }
    options = (struct chain_options){CHAIN_PATTERN, 0, "nothing", 99, 0};
    struct error err;
    ck_assert(forward_chain_build(&chain, capture.timeline, capture.sites, &options, &err));
    ck_assert_int_eq(chain.absence, CHAIN_UNMATCHED);
    ck_assert_uint_eq(chain.count, 0);
}
END_TEST

TCase *forward_chain_tests(void)
{
    TCase *tests = tcase_create("forward_chain");
    tcase_add_checked_fixture(tests, pass_create, pass_destroy);
    tcase_add_test(tests, a_loop_lies_between_lines);
    tcase_add_test(tests, a_line_with_nearly_all_is_divided);
    tcase_add_test(tests, a_model_without_loops_is_cut_deeper);
    tcase_add_test(tests, a_loop_may_have_lines_of_its_own);
    tcase_add_test(tests, loops_within_loops_are_cut_inside);
    tcase_add_test(tests, an_iteration_with_nearly_everything_is_cut_inside);
    tcase_add_test(tests, blocks_that_reach_fewer_lines_are_told_apart);
    tcase_add_test(tests, a_block_stays_whole);
    tcase_add_test(tests, lines_may_go_back_within_a_block);
    tcase_add_test(tests, a_block_called_twice_is_two_lines);
    tcase_add_test(tests, an_encoder_and_a_decoder_are_two_loops);
    tcase_add_test(tests, recursion_is_a_call_like_others);
    tcase_add_test(tests, a_sequential_is_a_loop);
    tcase_add_test(tests, a_sequential_may_begin_before_its_first_activation);
    tcase_add_test(tests, other_levels_are_asked_for);
    return tests;
}
