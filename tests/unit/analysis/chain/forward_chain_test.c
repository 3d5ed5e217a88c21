/* Chains of layers from call trees, given by the lines of their stacks. */
#include "analysis/chain/forward_chain.h"

#include <stdio.h>
#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define MOST_KEPT 512

static struct capture capture;
static struct forward_chain chain;
static struct chain_options options;
static struct buffer stack;
static uint64_t addresses[MOST_KEPT], sizes[MOST_KEPT], next;
static size_t kept;
static const char *operator_frame; /* of what is allocated */

static void create(void)
{
    capture_init(&capture);
    chain = (struct forward_chain){0};
    options = (struct chain_options){.level = CHAIN_BLOCKS, .most = 1000};
    stack = (struct buffer)BUFFER_INIT;
    next = 4096;
    kept = 0;
    operator_frame = CPP("at::_ops::mm::call(x)");
}

static void destroy(void)
{
    forward_chain_release(&chain);
    capture_release(&capture);
    buffer_release(&stack);
}

/* The frames that the letters of a path stand for. */
static const struct letter {
    char letter;
    const char *name, *file;
} sources[] = {
    {'t', "<module>", "/home/u/train.py"},
    {'m', "forward", "/home/u/model.py"},
    {'b', "forward", "/home/u/block.py"},
    {'a', "forward", "/home/u/attention.py"},
    {'q', "Block.forward", "/home/u/qualified.py"},
    {'l', "loss", "/home/u/loss.py"},
    {'S', "forward", TORCH "nn/modules/container.py"},
    {'L', "forward", TORCH "nn/modules/linear.py"},
    {'C', "checkpoint", TORCH "utils/checkpoint.py"},
};

/* "t9 m50 b3": the frames of a path, outermost first. */
static const char *frames_of(const char *path)
{
    buffer_clear(&stack);
    buffer_puts(&stack, operator_frame);
    for (const char *at = path + strlen(path); at > path;) {
        const char *end = at;
        while (at > path && at[-1] != ' ')
            at--;
        const struct letter *source = sources;
        while (source->letter != *at)
            source++;
        buffer_printf(&stack, ",{\"name\":\"%s\",\"filename\":\"%s\",\"line\":%.*s},%s",
                      source->name, source->file, (int)(end - at - 1), at + 1, CALL);
        at -= at > path;
    }
    ck_assert(!stack.failed);
    return stack.bytes;
}

/* Lives into the backward pass. */
static void keep(uint64_t size, const char *path)
{
    ck_assert_uint_lt(kept, MOST_KEPT);
    addresses[kept] = next++;
    sizes[kept] = size;
    capture_event(&capture, "alloc", addresses[kept++], size, frames_of(path));
}

static void pass_by(uint64_t size, const char *path)
{
    capture_event(&capture, "alloc", next, size, frames_of(path));
    capture_free(&capture, next++, size, "");
}

/* Frees what is kept, the last first; each free stands for the backward of what it was kept for,
 * which takes `scratch` bytes meanwhile. */
static void backward(uint64_t scratch)
{
    capture_event(&capture, "alloc", next, 1, STACK_BACKWARD);
    uint64_t gradient = next++;
    while (kept-- > 0) {
        capture_event(&capture, "alloc", next, scratch, STACK_BACKWARD);
        capture_free(&capture, next++, scratch, STACK_BACKWARD);
        capture_free(&capture, addresses[kept], sizes[kept], STACK_BACKWARD);
    }
    capture_free(&capture, gradient, 1, STACK_BACKWARD);
    kept = 0;
}

static void build(void)
{
    struct error err;
    capture_load(&capture);
    ck_assert(forward_chain_build(&chain, capture.timeline, capture.sites, &options, &err));
}

static const char *name_of(size_t element)
{
    ck_assert_uint_lt(element, chain.count);
    return symbols_text(capture.snapshot->symbols,
                        chain.parts[chain.elements[element].first_part].name)
        .bytes;
}

static void expect(size_t element, const char *name, int64_t bytes, int64_t output)
{
    ck_assert_str_eq(name_of(element), name);
    ck_assert_int_eq(chain.elements[element].activation_bytes, bytes);
    ck_assert_int_eq(chain.elements[element].output_bytes, output);
}

/* A block of three lines, with something that comes and goes. */
static void block(const char *caller, uint64_t output)
{
    char path[64];
    snprintf(path, sizeof(path), "%s b10", caller);
    keep(20, path);
    snprintf(path, sizeof(path), "%s b11 a3", caller);
    keep(30, path);
    pass_by(7, path);
    snprintf(path, sizeof(path), "%s b12", caller);
    keep(output, path);
}

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
    expect(4, "attention.py:5 forward [1]", 9, 9);
    expect(7, "attention.py:7 forward [1][2]", 58, 8);
    ck_assert_uint_eq(chain.loop_count, 2);
    ck_assert_uint_eq(chain.loops[1].iterations, 3);
}
END_TEST

/* All stages of a model lie in the first iteration, and they are not alike. */
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

/* The first blocks drop nothing, so that they never reach the second line. */
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
        {{CHAIN_DEPTH, 1, NULL, 99}, 3, "model.py:53 forward [1]"},
        {{CHAIN_DEPTH, 2, NULL, 99}, 7, "block.py:11 forward [0]"},
        {{CHAIN_DEPTH, 9, NULL, 99}, 7, "attention.py:3 forward [0]"},
        {{CHAIN_LINES, 0, NULL, 99}, 7, "attention.py:3 forward [0]"},
        {{CHAIN_PATTERN, 0, "block.py:11 *", 99}, 5, "block.py:11 forward [0]"},
        {{CHAIN_PATTERN, 0, "model.py:53*", 99}, 3, "model.py:53 forward [1]"},
        {{CHAIN_LINES, 0, NULL, 2}, 2, "block.py:10 forward [1]"},
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
    options = (struct chain_options){CHAIN_PATTERN, 0, "nothing", 99};
    struct error err;
    ck_assert(forward_chain_build(&chain, capture.timeline, capture.sites, &options, &err));
    ck_assert_int_eq(chain.absence, CHAIN_UNMATCHED);
    ck_assert_uint_eq(chain.count, 0);
}
END_TEST

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
    keep(3, "t9 m51"); /* a mask behind what it masks */
    keep(3, "t9 m52");
    backward(1);
    build();
    ck_assert_uint_eq(chain.count, 3);
    expect(1, "model.py:51 forward", 67, 64);
}
END_TEST

/* Indices of maxima are larger than the maxima, which the layer behind frees first. */
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

/* A recurrent layer keeps its result beside what else it keeps, and frees both at once. */
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

/* In-place layers keep nothing new: they belong to the layer before. */
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

/* The inputs of checkpointed blocks are little beside the logits, but the blocks run most. */
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
        ck_assert_uint_eq(iterations, level == CHAIN_LOOPS ? 4 : 0);
        destroy();
        create();
    }
}
END_TEST

/* Of the last block before those that are trained, only the output is kept. */
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

/* One that takes long once, as a library is loaded, counts like the others. */
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
    ck_assert(!chain_is_modules(&chain, 4)); /* the model's own */
    ck_assert(!chain_goes_on(&chain, 0));
    ck_assert(chain_goes_on(&chain, 1) && chain_goes_on(&chain, 2));
    ck_assert(!chain_goes_on(&chain, 3) && !chain_goes_on(&chain, 4));
}
END_TEST

/* Both images of a pair go through the model, at two lines and twice at a third. What another model
 * keeps in between is no run of it. */
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

/* Allocations are counted from the first one in the model's forward, though it keeps nothing yet.
 */
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

/* The first call may begin with other lines that keep nothing, but not the call before it. */
START_TEST(the_first_call_begins_where_it_makes_something)
{
    pass_by(5, "t9 m50 a1");
    for (int line = 10; line <= 12; line++) { /* a block that is frozen */
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

/* What a line calls may change: then it is another call. */
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

/* The result of a module that is then concatenated with another: it keeps nothing, and belongs to
 * the line that keeps what it is part of, not to the block before. */
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

/* An iteration that concatenates has other code than calls of modules, so it is divided. */
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
    ck_assert(!chain_goes_on(&chain, 4));
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

/* The pass of the step with the peak, not a larger one elsewhere, nor a validation before it. */
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

/* Gradients of three passes are accumulated. The second one's peak is the highest. */
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

/* What the backward pass did not get to is in the chain as well. */
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
        options = (struct chain_options){(enum chain_level)level, 1 + (size_t)_i % 3, "b*", 1000};
        ck_assert(forward_chain_build(&chain, capture.timeline, capture.sites, &options, &err));
        int64_t found = 0;
        for (size_t i = 0; i < chain.count; i++)
            found += chain.elements[i].activation_bytes;
        ck_assert_int_eq(found, sum);
        ck_assert_int_eq(chain.activation_bytes, sum);
        for (size_t i = 0; i < chain.part_count; i++)
            for (size_t k = 0; k < i; k++)
                ck_assert_uint_ne(chain.parts[i].name, chain.parts[k].name);
        forward_chain_release(&chain);
    }
}
END_TEST

TCase *forward_chain_tests(void)
{
    TCase *tests = tcase_create("forward_chain");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_loop_lies_between_lines);
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
    tcase_add_test(tests, other_levels_are_asked_for);
    tcase_add_test(tests, extras_are_what_was_there);
    tcase_add_test(tests, what_is_there_at_the_end_of_a_line_crosses);
    tcase_add_test(tests, what_an_operator_keeps_for_itself_stays);
    tcase_add_test(tests, a_result_may_be_kept_by_its_operator);
    tcase_add_test(tests, what_the_program_holds_crosses);
    tcase_add_test(tests, what_keeps_nothing_joins_its_neighbour);
    tcase_add_test(tests, checkpointed_blocks_are_a_loop);
    tcase_add_test(tests, frozen_blocks_are_iterations);
    tcase_add_test(tests, checkpointed_layers_are_told);
    tcase_add_test(tests, equal_iterations_take_the_median);
    tcase_add_test(tests, blocks_are_calls_of_a_line);
    tcase_add_test(tests, each_run_of_the_model_numbers_its_calls);
    tcase_add_test(tests, calls_have_the_allocations_that_they_make);
    tcase_add_test(tests, the_first_call_begins_where_it_makes_something);
    tcase_add_test(tests, other_modules_are_other_calls);
    tcase_add_test(tests, what_keeps_nothing_leads_on_to_other_code);
    tcase_add_test(tests, other_code_is_divided_at_calls);
    tcase_add_test(tests, operators_are_weighed_by_class);
    tcase_add_test(tests, without_operators_nothing_is_weighed);
    tcase_add_test(tests, the_pass_is_that_of_the_peak);
    tcase_add_test(tests, passes_of_one_model_are_alike);
    tcase_add_test(tests, inference_keeps_nothing);
    tcase_add_test(tests, without_stacks_there_are_no_layers);
    tcase_add_test(tests, an_empty_trace_has_none);
    tcase_add_test(tests, a_pass_may_run_out_of_memory);
    tcase_add_test(tests, a_backward_pass_may_run_out_of_memory);
    tcase_add_loop_test(tests, elements_cover_the_pass, 0, 40);
    return tests;
}
