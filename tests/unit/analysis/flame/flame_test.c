/* The frames of a stack that a flame graph shows, and their weights. */
#include <inttypes.h>
#include <string.h>

#include "analysis/flame/flame.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

static struct capture capture;
static struct flame *flame;

static void create(void)
{
    capture_init(&capture);
    flame = NULL;
}

static void destroy(void)
{
    flame_destroy(flame);
    capture_release(&capture);
}

static void build(struct flame_options options)
{
    struct error err;
    capture_load(&capture);
    flame = flame_build(capture.timeline, capture.sites, &options, &err);
    if (!flame)
        ck_abort_msg("no flame graph: %s", err.text);
}

/* Checks all stacks, one "frame;frame weight" per line. */
static void check_stacks(const char *expected)
{
    struct buffer text = BUFFER_INIT;
    struct flame_visitor visitor;
    uint64_t sum = 0;
    flame_visitor_begin(&visitor, flame);
    while (flame_visitor_next(&visitor)) {
        const struct flame_node *node = &flame->nodes[visitor.path[visitor.depth - 1]];
        if (node->self == 0)
            continue;
        for (size_t i = 0; i < visitor.depth; i++) {
            buffer_puts(&text, i ? ";" : "");
            flame_label(flame, flame->nodes[visitor.path[i]].frame, &text);
        }
        buffer_printf(&text, " %" PRIu64 "\n", node->self);
        sum += node->self;
    }
    ck_assert_str_eq(text.bytes ? text.bytes : "", expected);
    ck_assert_uint_eq(sum, flame->total);
    ck_assert_uint_eq(flame->nodes[0].total, flame->total);
    buffer_release(&text);
}

START_TEST(calls_that_only_pass_on_are_left_out)
{
    capture_event(&capture, "alloc", 4096, 512, CPP("torch::unwind::unwind()") "," STACK_FORWARD);
    build((struct flame_options){0});
    check_stacks("train.py:9 <module>;model.py:3 forward;aten::mm 512\n");
}
END_TEST

/* torch.compile's code, whose frames name the lines of the model. */
START_TEST(generated_code_is_shown_as_the_model)
{
    static const char frames[] =
        "{\"name\":\"forward\",\"filename\":\"/tmp/fx_generated_1.py\",\"line\":7,"
        "\"fx_original_trace\":\"  File \\\"/home/u/model.py\\\", line 31, in attend\\n    q @ "
        "k\"}," SCRIPT;
    capture_event(&capture, "alloc", 4096, 512, frames);
    build((struct flame_options){.all_frames = _i == 1});
    check_stacks(_i == 1 ? "train.py:9 <module>;fx_generated_1.py:7 forward 512\n"
                         : "train.py:9 <module>;model.py:31 attend 512\n");
}
END_TEST

START_TEST(without_code_of_the_user_they_stay)
{
    capture_event(&capture, "alloc", 4096, 512, CPP("at::_ops::mm::call(x)") "," CALL);
    build((struct flame_options){0});
    check_stacks("torch/nn/modules/module.py:1790 _call_impl;aten::mm 512\n");
}
END_TEST

START_TEST(all_frames_are_shown_on_request)
{
    capture_event(&capture, "alloc", 4096, 512, CPP("torch::unwind::unwind()") "," STACK_FORWARD);
    build((struct flame_options){.all_frames = true});
    check_stacks("train.py:9 <module>;torch/nn/modules/module.py:1790 _call_impl;"
                 "model.py:3 forward;at::_ops::mm::call(x);torch::unwind::unwind() 512\n");
}
END_TEST

START_TEST(backward_hangs_under_its_forward)
{
    capture_event(&capture, "alloc", 4096, 512, STACK_FORWARD);
    capture_event_with(&capture, "alloc", 8192, 1024, STACK_BACKWARD,
                       ",\"forward_frames\":[" STACK_FORWARD "]");
    capture_event(&capture, "alloc", 16384, 2048, STACK_BACKWARD);
    build((struct flame_options){0});
    check_stacks("(backward pass, no Python stack);MmBackward0;aten::mm 2048\n"
                 "train.py:9 <module>;model.py:3 forward;(its backward);MmBackward0;aten::mm 1024\n"
                 "train.py:9 <module>;model.py:3 forward;aten::mm 512\n");
}
END_TEST

START_TEST(files_of_one_name_are_told_apart)
{
    capture_event(&capture, "alloc", 4096, 1, PY("f", "/home/a/model.py", 3));
    capture_event(&capture, "alloc", 8192, 2, PY("f", "/home/b/model.py", 3));
    build((struct flame_options){0});
    check_stacks("b/model.py:3 f 2\na/model.py:3 f 1\n");
}
END_TEST

START_TEST(plain_cpp_is_shown_whole)
{
    capture_event(&capture, "alloc", 4096, 7,
                  CPP("torch::unwind::unwind()") "," CPP("mine::step()") "," CPP("main"));
    build((struct flame_options){0});
    check_stacks("(C++ frames only);main;mine::step() 7\n");
}
END_TEST

START_TEST(deep_stacks_lose_their_middle)
{
    struct buffer frames = BUFFER_INIT;
    struct flame_visitor visitor;
    size_t deepest = 0, cut = 0;
    for (unsigned i = 0; i < 20000; i++)
        buffer_printf(&frames, "%s{\"name\":\"f\",\"filename\":\"/home/u/a.py\",\"line\":%u}",
                      i ? "," : "", i + 1);
    for (unsigned i = 0; i < 100; i++)
        capture_event_with(&capture, "alloc", 4096 * (i + 1), 10, STACK_BACKWARD, "");
    capture_event(&capture, "alloc", 1 << 30, 512, frames.bytes);
    buffer_release(&frames);
    build((struct flame_options){0});
    flame_visitor_begin(&visitor, flame);
    while (flame_visitor_next(&visitor)) {
        struct flame_frame frame =
            flame->frames[flame->nodes[visitor.path[visitor.depth - 1]].frame];
        deepest = visitor.depth > deepest ? visitor.depth : deepest;
        cut += frame.kind == FLAME_WORD && frame.id == FLAME_CUT;
    }
    ck_assert_uint_eq(deepest, FLAME_STACK_MOST + 1);
    ck_assert_uint_eq(cut, 1);
    ck_assert_uint_eq(flame->nodes[0].total, 1512);
}
END_TEST

START_TEST(two_deep_stacks_fit_the_visitor)
{
    struct buffer own = BUFFER_INIT, forward = BUFFER_INIT, more = BUFFER_INIT;
    struct flame_visitor visitor;
    size_t deepest = 0;
    for (unsigned i = 0; i < 2000; i++) {
        buffer_printf(&own, "%s" CPP("torch::autograd::X%u::apply(x)"), i ? "," : "", i);
        buffer_printf(&forward, "%s" PY("f%u", "/home/u/a.py", 3), i ? "," : "", i);
    }
    buffer_puts(&own, "," ENGINE);
    buffer_printf(&more, ",\"forward_frames\":[%s]", forward.bytes);
    capture_event_with(&capture, "alloc", 4096, 512, own.bytes, more.bytes);
    buffer_release(&own);
    buffer_release(&forward);
    buffer_release(&more);
    build((struct flame_options){.by = FLAME_BY_CATEGORY});
    flame_visitor_begin(&visitor, flame);
    while (flame_visitor_next(&visitor))
        deepest = visitor.depth > deepest ? visitor.depth : deepest;
    ck_assert_uint_gt(deepest, 2 * FLAME_STACK_MOST);
    ck_assert_uint_le(deepest, FLAME_DEPTH);
}
END_TEST

START_TEST(time_is_counted_from_and_to_the_ends_of_the_trace)
{
    capture_block(&capture, 1 << 20, 100, ""); /* before the trace, for all of it */
    capture_event(&capture, "alloc", 4096, 512, STACK_FORWARD);
    capture_event(&capture, "snapshot", 0, 0, "");
    capture_free(&capture, 4096, 512, "");
    build((struct flame_options){.weight = FLAME_BYTES_TIME});
    uint64_t whole =
        (uint64_t)(trace_time(capture.timeline->trace, 3) - trace_time(capture.timeline->trace, 0));
    ck_assert_uint_ge(whole, 3);
    struct buffer expected = BUFFER_INIT;
    buffer_printf(&expected,
                  "train.py:9 <module>;model.py:3 forward;aten::mm %" PRIu64
                  "\n(allocated before recording began) %" PRIu64 "\n",
                  512 * whole, 100 * whole);
    check_stacks(expected.bytes);
    buffer_release(&expected);
}
END_TEST

START_TEST(categories_and_phases_are_roots)
{
    capture_event(&capture, "alloc", 4096, 512, STACK_FORWARD);
    capture_event(&capture, "alloc", 8192, 256, STACK_STEP);
    build((struct flame_options){.by = FLAME_BY_PHASE, .weight = FLAME_COUNT});
    check_stacks("forward;train.py:9 <module>;model.py:3 forward;aten::mm 1\n"
                 "optimizer_step;train.py:9 <module>;optimizer.py:7 step;aten::zeros_like 1\n");
}
END_TEST

TCase *flame_tests(void)
{
    TCase *tests = tcase_create("flame");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, calls_that_only_pass_on_are_left_out);
    tcase_add_loop_test(tests, generated_code_is_shown_as_the_model, 0, 2);
    tcase_add_test(tests, without_code_of_the_user_they_stay);
    tcase_add_test(tests, all_frames_are_shown_on_request);
    tcase_add_test(tests, backward_hangs_under_its_forward);
    tcase_add_test(tests, files_of_one_name_are_told_apart);
    tcase_add_test(tests, plain_cpp_is_shown_whole);
    tcase_add_test(tests, deep_stacks_lose_their_middle);
    tcase_add_test(tests, two_deep_stacks_fit_the_visitor);
    tcase_add_test(tests, time_is_counted_from_and_to_the_ends_of_the_trace);
    tcase_add_test(tests, categories_and_phases_are_roots);
    return tests;
}
