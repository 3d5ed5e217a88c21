#include "analysis/report/report.h"

#include <string.h>

#include "analysis/pool/given_back.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

static struct capture capture;
static struct device_report *report;

static void create(void)
{
    report = NULL;
    capture_init(&capture);
}

static void destroy(void)
{
    device_report_destroy(report);
    capture_release(&capture);
}

static void check_sums(void)
{
    int64_t categories = 0, sites = 0;
    for (size_t i = 0; i < report->category_count; i++)
        categories += report->categories[i].bytes;
    for (size_t i = 0; i < report->site_count; i++)
        sites += report->sites[i].group.bytes;
    ck_assert_int_eq(categories, report->at.active_bytes);
    ck_assert_int_eq(sites, report->at.active_bytes);
}

static void make_report(size_t top)
{
    capture_load(&capture);
    report = capture_report(&capture, top);
    check_sums();
}

static void check_site(size_t index, const char *label, int64_t bytes, uint64_t count)
{
    ck_assert_uint_lt(index, report->site_count);
    ck_assert_str_eq(report->sites[index].label.full, label);
    ck_assert_int_eq(report->sites[index].group.bytes, bytes);
    ck_assert_uint_eq(report->sites[index].group.count, count);
}

START_TEST(live_allocations_are_grouped)
{
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 300, STACK_FORWARD "," PY("main", "/home/u/train.py", 1));
    capture_event(&capture, "alloc", 3, 350, STACK_LOSS);
    capture_block(&capture, 9, 20, "");
    make_report(0);
    ck_assert_uint_eq(report->site_count, 3);
    check_site(0, "model.py:3 forward", 400, 2);
    ck_assert_uint_eq(report->sites[0].group.stacks, 2);
    ck_assert_uint_eq(report->sites[0].group.source.shown, capture.timeline->trace->stack[1]);
    check_site(1, "loss.py:4 loss", 350, 1);
    check_site(2, "(allocated before recording began)", 20, 1);
    ck_assert_uint_eq(report->largest_count, 4);
    ck_assert_uint_eq(report->largest[0].live.size, 350);
    ck_assert_int_eq(report->largest[0].born_item, 2);
    ck_assert_int_eq(report->largest[0].freed_item, -1);
    ck_assert_int_eq(report->largest[3].born_item, -1);
}
END_TEST

START_TEST(operators_and_files_are_not_merged)
{
    capture_event(&capture, "alloc", 1, 100,
                  CPP("at::_ops::mm::call(x)") "," PY("f", "/a/m.py", 1));
    capture_event(&capture, "alloc", 2, 100,
                  CPP("at::_ops::exp::call(x)") "," PY("f", "/a/m.py", 1));
    capture_event(&capture, "alloc", 3, 100,
                  CPP("at::_ops::mm::call(x)") "," PY("f", "/b/m.py", 1));
    make_report(0);
    ck_assert_uint_eq(report->site_count, 3);
    check_site(0, "a/m.py:1 f", 100, 1); /* equal bytes: by file, then operator */
    check_site(1, "a/m.py:1 f", 100, 1);
    check_site(2, "b/m.py:1 f", 100, 1);
    struct text op = symbols_text(capture.snapshot->symbols, report->sites[0].group.source.site.op);
    ck_assert_str_eq(op.bytes, "aten::exp");
}
END_TEST

START_TEST(a_limit_leaves_a_labelled_remainder)
{
    capture_event(&capture, "alloc", 1, 100, PY("a", "/u/m.py", 1));
    capture_event(&capture, "alloc", 2, 90, PY("b", "/u/m.py", 2));
    capture_event(&capture, "alloc", 3, 80, PY("c", "/u/m.py", 3));
    make_report(1);
    ck_assert_uint_eq(report->site_count, 2);
    ck_assert_uint_eq(report->largest_count, 1);
    check_site(1, "(2 more sites)", 170, 2);
    ck_assert(report->sites[1].is_remainder);
}
END_TEST

START_TEST(what_has_no_stack_comes_after_the_call_sites)
{
    capture_event(&capture, "alloc", 1, 100, PY("a", "/u/m.py", 1));
    capture_event(&capture, "alloc", 2, 90, PY("b", "/u/m.py", 2));
    capture_event(&capture, "alloc", 3, 500, "");
    capture_event(&capture, "alloc", 4, 50, STACK_BACKWARD);
    capture_block(&capture, 9, 800, "");
    make_report(1);
    ck_assert_uint_eq(report->site_count, 4);
    check_site(0, "m.py:1 a", 100, 1);
    check_site(1, "(allocated before recording began)", 800, 1);
    check_site(2, "(no stack recorded)", 500, 1);
    check_site(3, "(2 more sites)", 140, 2);
    ck_assert_uint_eq(report->largest[0].live.size, 800);
}
END_TEST

START_TEST(what_the_trace_does_not_explain_is_a_row)
{
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_free(&capture, 1, 30, STACK_FORWARD); /* of another size */
    capture_event(&capture, "alloc", 2, 200, STACK_FORWARD);
    make_report(0);
    ck_assert_int_eq(report->at.active_bytes, 270);
    check_site(1, "(not explained: the trace contradicts itself)", 70, 0);
    ck_assert(report->sites[1].is_remainder);
    ck_assert_str_eq(category_name(CATEGORY_COUNT), "unexplained");
}
END_TEST

START_TEST(forward_frames_name_the_code)
{
    capture_event_with(&capture, "alloc", 1, 100, STACK_BACKWARD,
                       ",\"forward_frames\":[" STACK_FORWARD "]");
    capture_event(&capture, "alloc", 2, 60, STACK_BACKWARD);
    make_report(0);
    check_site(0, "model.py:3 forward (its backward)", 100, 1);
    ck_assert(report->sites[0].group.source.site.has_backward);
    check_site(1, "MmBackward0 (backward pass, no Python stack)", 60, 1);
    ck_assert_str_eq(report->sites[1].label.brief, "MmBackward0 (backward)");
}
END_TEST

/* torch.compile: the line of the model, not of the code generated from it. */
START_TEST(generated_code_names_its_original)
{
    capture_event(&capture, "alloc", 1, 100,
                  "{\"name\":\"forward\",\"filename\":\"/tmp/fx_generated_1.py\",\"line\":7,"
                  "\"fx_node_op\":\"call_function\",\"fx_original_trace\":"
                  "\"  File \\\"/home/u/train.py\\\", line 9, in main\\n    m(x)\\n"
                  "  File \\\"/home/u/model.py\\\", line 31, in attend\\n    q @ k\"}");
    make_report(0);
    check_site(0, "model.py:31 attend", 100, 1);
}
END_TEST

START_TEST(any_moment_can_be_asked_for)
{
    struct error err;
    struct report_options options = {.at = {.kind = WHEN_POINT, .point = {POINT_EVENT, 0}}};
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 50, STACK_FORWARD);
    capture_annotate(&capture, "START", "at the peak", 0);
    capture_free(&capture, 1, 100, STACK_FORWARD);
    capture_block(&capture, 2, 50, "");
    capture_load(&capture);
    report = device_report_build(capture.timeline, capture.sites, &options, &err);
    ck_assert_ptr_nonnull(report);
    check_sums();
    ck_assert_int_eq(report->at.active_bytes, 100);
    ck_assert_int_eq(report->peak.active_bytes, 150);
    ck_assert_uint_eq(report->annotations.count, 0);
    ck_assert_uint_eq(report->peak_annotations.count, 1);
    device_report_destroy(report);

    options = (struct report_options){.at.kind = WHEN_END};
    report = device_report_build(capture.timeline, capture.sites, &options, &err);
    ck_assert_ptr_nonnull(report);
    check_sums();
    ck_assert_int_eq(report->at.active_bytes, 50);
    device_report_destroy(report);

    options = (struct report_options){.at = {.kind = WHEN_POINT, .point = {POINT_EVENT, 99}}};
    report = device_report_build(capture.timeline, capture.sites, &options, &err);
    ck_assert_ptr_null(report);
    ck_assert_int_eq(err.status, STATUS_USAGE);
}
END_TEST

static void check_open(size_t index, const char *name)
{
    ck_assert_uint_lt(index, report->annotations.count);
    struct text text =
        symbols_text(capture.snapshot->symbols, report->annotations.items[index].name);
    ck_assert_str_eq(text.bytes, name);
}

START_TEST(annotations_nest_and_repeat)
{
    capture_annotate(&capture, "END", "stray", 0);
    capture_annotate(&capture, "START", "epoch", 0);
    capture_annotate(&capture, "START", "step", 0);
    capture_annotate(&capture, "START", "elsewhere", 1);
    capture_event(&capture, "alloc", 1, 10, STACK_FORWARD);
    capture_annotate(&capture, "START", "step", 0);
    capture_annotate(&capture, "START", "done", 0);
    capture_event(&capture, "alloc", 2, 10, STACK_FORWARD);
    capture_annotate(&capture, "END", "done", 0);
    capture_event(&capture, "alloc", 3, 10, STACK_FORWARD);
    capture_event(&capture, "alloc", 4, 10, STACK_FORWARD); /* the peak */
    capture_free(&capture, 1, 10, STACK_FORWARD);
    capture_annotate(&capture, "START", "later", 0);
    make_report(0);
    ck_assert_int_eq(report->at_item, 3);
    ck_assert_uint_eq(report->annotations.count, 3);
    check_open(0, "epoch");
    check_open(1, "step");
    check_open(2, "step");
}
END_TEST

static const struct finding *finding_of(enum finding_kind kind)
{
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i].kind == kind)
            return &report->findings.items[i];
    return NULL;
}

#define EMPTY_CACHE PY("empty_cache", TORCH "cuda/memory.py", 280) "," SCRIPT

START_TEST(memory_given_back_and_asked_for_again)
{
    for (int i = 0; i < 3; i++) {
        capture_event(&capture, "segment_alloc", 4096, 1000, STACK_FORWARD);
        capture_event(&capture, "alloc", 4096, 900, STACK_FORWARD);
        capture_free(&capture, 4096, 900, STACK_FORWARD);
        capture_event(&capture, "segment_free", 4096, 1000, i < 2 ? EMPTY_CACHE : STACK_FORWARD);
    }
    capture_load(&capture);
    report = capture_report(&capture, 0);
    struct given_back given;
    struct error err;
    ck_assert(given_back_find(&given, capture.timeline, capture.sites, &err));
    ck_assert_int_eq(given.bytes, 2000);
    ck_assert_int_eq(given.again_bytes, 2000);
    ck_assert_uint_eq(given.calls, 2);
    ck_assert_uint_eq(given.mallocs, 2);
    ck_assert_ptr_nonnull(finding_of(FINDING_EMPTY_CACHE));
}
END_TEST

/* torch.cuda.graph() empties the cache itself. */
START_TEST(memory_given_back_for_a_capture)
{
    for (int i = 0; i < 3; i++) {
        capture_event(&capture, "segment_alloc", 4096, 1000, STACK_FORWARD);
        capture_event(&capture, "alloc", 4096, 900, STACK_FORWARD);
        capture_free(&capture, 4096, 900, STACK_FORWARD);
        capture_event(&capture, "segment_free", 4096, 1000,
                      PY("empty_cache", TORCH "cuda/memory.py",
                         280) "," PY("__enter__", TORCH "cuda/graphs.py", 200) "," SCRIPT);
    }
    capture_load(&capture);
    report = capture_report(&capture, 0);
    ck_assert_ptr_null(finding_of(FINDING_EMPTY_CACHE));
}
END_TEST

#define STACK_CLIP                                                                                 \
    CPP("at::_ops::linalg_vector_norm::call(x)")                                                   \
    "," PY("clip_grad_norm_", TORCH "nn/utils/clip_grad.py", 215) "," SCRIPT

/* A step of `passes` passes whose gradient, of `size`, belongs to a parameter of 100. */
static void one_step(uint64_t size, unsigned passes, bool clips)
{
    capture_event(&capture, "alloc", 9, 100,
                  PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (unsigned pass = 0; pass < passes; pass++) {
        capture_event(&capture, "alloc", 1, 40, STACK_FORWARD);
        if (pass == 0)
            capture_event(&capture, "alloc", 2, size, STACK_BACKWARD);
        capture_event(&capture, "alloc", 4, 10, STACK_BACKWARD);
        capture_free(&capture, 4, 10, STACK_BACKWARD);
        capture_free(&capture, 1, 40, ENGINE);
    }
    if (clips) {
        capture_event(&capture, "alloc", 5, 4, STACK_CLIP);
        capture_free(&capture, 5, 4, STACK_CLIP);
    }
    capture_event(&capture, "alloc", 3, 10, STACK_STEP);
    capture_free(&capture, 3, 10, STACK_STEP);
    capture_free(&capture, 2, size, SCRIPT);
    capture_load(&capture);
    report = capture_report(&capture, 0);
}

/* Only gradients that are complete, and looked at one by one, can be freed in a hook. */
START_TEST(gradients_of_parameters)
{
    static const struct {
        unsigned passes;
        bool clips;
        const char *next;
    } cases[] = {{1, false, "register_post_accumulate_grad_hook"},
                 {1, true, "clip_grad_norm_()"},
                 {2, false, "Several backward passes"}};
    one_step(100, cases[_i].passes, cases[_i].clips);
    const struct finding *finding = finding_of(FINDING_GRADIENTS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_nonnull(strstr(finding->next, cases[_i].next));
}
END_TEST

START_TEST(gradients_larger_than_any_parameters)
{
    one_step(5000, 1, false);
    const struct finding *finding = finding_of(FINDING_GRADIENTS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_nonnull(strstr(finding->what, "50.0 times the parameters"));
    ck_assert_ptr_null(strstr(finding->next, "hook"));
}
END_TEST

START_TEST(no_allocation_no_peak)
{
    capture_block(&capture, 9, 20, "");
    capture_event(&capture, "free_completed", 1, 100, "");
    make_report(0);
    ck_assert(!timeline_knows_peak(capture.timeline));
    for (size_t i = 0; i < report->notice_count; i++)
        ck_assert_int_ne(report->notices[i].kind, NOTICE_MORE_THAN_RESERVED);
}
END_TEST

#define IN_ATTENTION     PY("forward", "/home/u/attention.py", 4) "," CALL "," SCRIPT
#define PRODUCT          CPP("at::_ops::bmm::call(x)") "," IN_ATTENTION
#define SOFTMAX          CPP("at::_ops::_softmax::call(x)") "," IN_ATTENTION
#define OTHER_ACTIVATION CPP("at::_ops::gelu::call(x)") "," IN_ATTENTION

static int64_t attention_bytes(void)
{
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i].kind == FINDING_ATTENTION)
            return report->findings.items[i].save_bytes;
    return 0;
}

/* A product, softmax, a mask of dropout in bytes, and the product with the values. */
static void attend(void)
{
    capture_event(&capture, "alloc", 1, 400, PRODUCT);
    capture_event(&capture, "alloc", 2, 400, SOFTMAX);
    capture_event(&capture, "alloc", 3, 100, OTHER_ACTIVATION);
    capture_event(&capture, "alloc", 4, 50, OTHER_ACTIVATION); /* smaller: of values, say */
    capture_event(&capture, "alloc", 5, 80, PRODUCT);
    capture_event(&capture, "alloc", 6, 400, SOFTMAX); /* of another size: a classifier's */
    capture_event(&capture, "alloc", 7, 400, PRODUCT);
    capture_event(&capture, "alloc", 8, 1, STACK_BACKWARD);
    for (uint64_t addr = 1; addr < 8; addr++)
        capture_free(&capture, addr,
                     addr == 3   ? 100
                     : addr == 4 ? 50
                     : addr == 5 ? 80
                                 : 400,
                     ENGINE);
}

START_TEST(attention_by_hand)
{
    attend();
    make_report(0);
    ck_assert_int_eq(attention_bytes(), 900);
}
END_TEST

/* Without the matrices, the peak of 1,831 would be that of the step: 1,501. */
START_TEST(attention_that_is_not_all_of_the_peak)
{
    attend();
    capture_event(&capture, "alloc", 9, 1500, STACK_STEP);
    make_report(0);
    ck_assert_int_eq(attention_bytes(), 330);
}
END_TEST

#define IN_MULTIHEAD                                                                               \
    PY("multi_head_attention_forward", TORCH "nn/functional.py", 6489) "," CALL "," SCRIPT

START_TEST(attention_with_weights)
{
    capture_event(&capture, "alloc", 1, 400, CPP("at::_ops::bmm::call(x)") "," IN_MULTIHEAD);
    capture_event(&capture, "alloc", 2, 400, CPP("at::_ops::_softmax::call(x)") "," IN_MULTIHEAD);
    capture_event(&capture, "alloc", 3, 80, CPP("at::_ops::bmm::call(x)") "," IN_MULTIHEAD);
    capture_event(&capture, "alloc", 4, 1, STACK_BACKWARD);
    capture_free(&capture, 1, 400, ENGINE);
    capture_free(&capture, 2, 400, ENGINE);
    capture_free(&capture, 3, 80, ENGINE);
    make_report(0);
    ck_assert_int_eq(attention_bytes(), 800);
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i].kind == FINDING_ATTENTION)
            ck_assert_ptr_nonnull(strstr(report->findings.items[i].next, "need_weights=False"));
}
END_TEST

#define LAST_LAYER  CPP("at::_ops::addmm::call(x)") "," SCRIPT
#define LAST_KERNEL CPP("at::_ops::conv2d::call(x)") "," SCRIPT
#define COPY        CPP("at::_ops::_to_copy::call(x)") "," SCRIPT
#define LOG_SOFTMAX CPP("at::_ops::_log_softmax::call(x)") "," SCRIPT
#define OF_LOSS                                                                                    \
    CPP("at::_ops::zeros_like::call(x)")                                                           \
    "," CPP("torch::autograd::generated::NllLossBackward0::apply(x)") "," ENGINE

/* A step whose last layer makes 400 bytes of logits in half precision. */
static const struct finding *logits_made_by(const char *last_layer)
{
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 400, last_layer);
    capture_event(&capture, "alloc", 3, 800, COPY);
    capture_event(&capture, "alloc", 4, 8, SCRIPT);
    capture_event(&capture, "alloc", 5, 800, LOG_SOFTMAX);
    capture_event(&capture, "alloc", 6, 800, OF_LOSS);
    capture_event(&capture, "alloc", 7, 800, STACK_BACKWARD); /* of another layer */
    for (uint64_t addr = 1; addr < 8; addr++)
        capture_free(&capture, addr,
                     addr == 1   ? 100
                     : addr == 2 ? 400
                     : addr == 4 ? 8
                                 : 800,
                     ENGINE);
    make_report(0);
    return finding_of(FINDING_LOGITS);
}

START_TEST(logits_of_a_language_model)
{
    const struct finding *finding = logits_made_by(LAST_LAYER);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 400 + 800 + 800 + 800);
    ck_assert_ptr_null(finding_of(FINDING_CASTS)); /* the copy is part of the logits */
}
END_TEST

START_TEST(logits_of_no_linear_layer)
{
    ck_assert_ptr_null(logits_made_by(LAST_KERNEL));
    ck_assert_ptr_nonnull(finding_of(FINDING_CASTS));
}
END_TEST

/* The loss of the next word leaves out the last of 16 positions. */
START_TEST(logits_without_the_last_position)
{
    capture_event(&capture, "alloc", 1, 800, LAST_LAYER);
    capture_event(&capture, "alloc", 2, 750, LOG_SOFTMAX);
    capture_event(&capture, "alloc", 3, 8, OF_LOSS);
    capture_free(&capture, 2, 750, ENGINE);
    capture_free(&capture, 1, 800, ENGINE);
    make_report(0);
    const struct finding *finding = finding_of(FINDING_LOGITS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 800 + 750);
}
END_TEST

#define CONVERSION CPP("at::_ops::_to_copy::call(x)") "," IN_ATTENTION
#define MOVE                                                                                       \
    CPP("at::_ops::_to_copy::call(x)")                                                             \
    "," CPP("at::_ops::to_dtype_layout::call(x)") "," IN_ATTENTION

/* A conversion of 800 bytes to 400, which are kept for backward. `freed_by` is the stack that frees
 * the source in the backward pass; NULL: plain code frees it in the forward pass. */
static const struct finding *cast_of_source(const char *frames, const char *freed_by)
{
    capture_event(&capture, "alloc", 1, 800, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 400, frames);
    if (!freed_by)
        capture_free(&capture, 1, 800, SCRIPT);
    capture_event(&capture, "alloc", 3, 300, STACK_FORWARD);
    capture_event(&capture, "alloc", 4, 1, STACK_BACKWARD);
    capture_free(&capture, 3, 300, ENGINE);
    capture_free(&capture, 2, 400, ENGINE);
    if (freed_by)
        capture_free(&capture, 1, 800, freed_by);
    make_report(0);
    return finding_of(FINDING_CASTS);
}

START_TEST(a_conversion_of_what_is_kept_costs_memory)
{
    const struct finding *finding = cast_of_source(CONVERSION, ENGINE);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 400);
}
END_TEST

START_TEST(a_conversion_may_save_memory)
{
    ck_assert_ptr_null(cast_of_source(CONVERSION, NULL));
}
END_TEST

START_TEST(a_tensor_that_may_come_from_another_device_is_no_conversion)
{
    ck_assert_ptr_null(cast_of_source(MOVE, ENGINE));
}
END_TEST

#define HOOK(name, file) PY(name, TORCH file, 7) "," PY("hook", "/home/u/train.py", 3) "," ENGINE

/* Gradients that an optimizer in a hook frees at once need no advice to do so. */
START_TEST(optimizers_in_hooks)
{
    for (int in_hook = 1; in_hook >= 0; in_hook--) {
        capture_event(&capture, "alloc", 1, 10, STACK_FORWARD);
        capture_event(&capture, "alloc", 2, 100, STACK_BACKWARD);
        if (in_hook)
            capture_free(&capture, 2, 100, HOOK("zero_grad", "optim/optimizer.py"));
        capture_free(&capture, 1, 10, ENGINE);
        capture_event(&capture, "alloc", 3, 5, STACK_STEP);
        make_report(0);
        bool is_told = false;
        for (size_t i = 0; i < report->findings.count; i++)
            is_told = is_told || report->findings.items[i].kind == FINDING_GRADIENTS;
        ck_assert_int_eq(is_told, !in_hook);
        destroy();
        create();
    }
}
END_TEST

#define MADE_MODEL                                                                                 \
    CPP("at::_ops::_to_copy::call(x)")                                                             \
    "," PY("_apply", TORCH "nn/modules/module.py", 900) "," SCRIPT
#define STATE(line)                                                                                \
    CPP("at::_ops::zeros_like::call(x)")                                                           \
    "," PY("_init_group", TORCH "optim/adam.py",                                                   \
           line) "," PY("wrapper", TORCH "optim/optimizer.py", 533) "," SCRIPT

static void train_once(void)
{
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 100, STACK_BACKWARD);
    capture_free(&capture, 1, 100, ENGINE);
}

/* Two optimizers that step one after the other, each with two states of 8 KiB for a parameter of
 * its own, or for the same one. */
static const struct finding *state_of_two(bool same_parameter)
{
    capture_event(&capture, "alloc", 10, 8192, MADE_MODEL);
    if (!same_parameter)
        capture_event(&capture, "alloc", 11, 8192, MADE_MODEL);
    for (uint64_t i = 0; i < 2; i++) {
        train_once();
        capture_event(&capture, "alloc", 20 + i, 8192, STATE(80));
        capture_event(&capture, "alloc", 30 + i, 8192, STATE(81));
        capture_free(&capture, 2, 100, STACK_STEP);
    }
    make_report(0);
    return finding_of(FINDING_REPEATED_STATE);
}

START_TEST(an_optimizer_made_twice)
{
    const struct finding *finding = state_of_two(true);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 2 * 8192);
}
END_TEST

START_TEST(two_optimizers_of_two_models)
{
    ck_assert_ptr_null(state_of_two(false));
}
END_TEST

/* As the step of SAM, which a script takes back later: the optimizer is made once. */
START_TEST(what_other_code_keeps_is_no_optimizer)
{
    capture_event(&capture, "alloc", 10, 8192, MADE_MODEL);
    for (uint64_t i = 0; i < 2; i++) {
        capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
        capture_event(&capture, "alloc", 2, 8192, STACK_BACKWARD);
        capture_free(&capture, 1, 100, ENGINE);
        capture_event(&capture, "alloc", 20 + i, 8192,
                      i == 0 ? CPP("at::_ops::mul::call(x)") "," SCRIPT : STATE(80));
        capture_free(&capture, 2, 8192, i == 0 ? SCRIPT : STACK_STEP);
    }
    make_report(0);
    ck_assert_int_eq(capture_category(&capture, 20), CATEGORY_OPTIMIZER_STATE);
    ck_assert_ptr_null(finding_of(FINDING_REPEATED_STATE));
}
END_TEST

/* What autograd.grad(create_graph=True) returned is no attribute of a weight, however long a
 * variable holds it. */
START_TEST(results_of_recorded_passes_are_no_kept_gradients)
{
    capture_block(&capture, 9, 8192, "");
    for (uint64_t i = 0; i < 4; i++) {
        capture_event(&capture, "alloc", 1, 4000, STACK_FORWARD);
        capture_event(&capture, "alloc", 2, 4000, STACK_FORWARD);
        capture_event(&capture, "alloc", 20 + i, 8192, STACK_BACKWARD);
        capture_event(&capture, "alloc", 3, 40, STACK_BACKWARD);
        capture_free(&capture, 3, 40, ENGINE);
        if (i > 0)
            capture_free(&capture, 19 + i, 8192, SCRIPT);
        capture_event(&capture, "alloc", 4, 50, STACK_FORWARD);
        capture_event(&capture, "alloc", 5, 8192, STACK_BACKWARD);
        capture_event(&capture, "alloc", 6, 60, STACK_BACKWARD);
        capture_event(&capture, "alloc", 7, 60, STACK_BACKWARD);
        capture_free(&capture, 4, 50, ENGINE);
        capture_free(&capture, 2, 4000, ENGINE);
        capture_free(&capture, 1, 4000, ENGINE);
        capture_free(&capture, 6, 60, ENGINE);
        capture_free(&capture, 7, 60, ENGINE);
        capture_event(&capture, "alloc", 8, 50, STACK_STEP);
        capture_free(&capture, 8, 50, STACK_STEP);
        capture_free(&capture, 5, 8192, SCRIPT);
    }
    make_report(0);
    ck_assert_int_eq(capture_category(&capture, 21), CATEGORY_GRADIENT);
    ck_assert_uint_eq(report->growth.gradients.count, 0);
}
END_TEST

/* An optimizer step whose temporaries, of 1200 bytes in all, cause the peak. */
static const char *advice_on_temporaries(uint64_t count)
{
    train_once();
    for (uint64_t i = 0; i < count; i++)
        capture_event(&capture, "alloc", 40 + i, 1200 / count, STACK_STEP);
    for (uint64_t i = 0; i < count; i++)
        capture_free(&capture, 40 + i, 1200 / count, STACK_STEP);
    capture_free(&capture, 2, 100, SCRIPT);
    make_report(0);
    const struct finding *finding = finding_of(FINDING_OPTIMIZER_TEMPORARIES);
    return finding ? finding->next : "";
}

START_TEST(temporaries_of_many_parameters)
{
    ck_assert_ptr_nonnull(strstr(advice_on_temporaries(4), "foreach=False avoids"));
}
END_TEST

START_TEST(temporaries_of_one_parameter)
{
    ck_assert_ptr_nonnull(strstr(advice_on_temporaries(2), "foreach=False does not"));
}
END_TEST

TCase *report_tests(void)
{
    TCase *tests = tcase_create("report");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, live_allocations_are_grouped);
    tcase_add_test(tests, operators_and_files_are_not_merged);
    tcase_add_test(tests, a_limit_leaves_a_labelled_remainder);
    tcase_add_test(tests, what_has_no_stack_comes_after_the_call_sites);
    tcase_add_test(tests, what_the_trace_does_not_explain_is_a_row);
    tcase_add_test(tests, forward_frames_name_the_code);
    tcase_add_test(tests, generated_code_names_its_original);
    tcase_add_test(tests, any_moment_can_be_asked_for);
    tcase_add_test(tests, annotations_nest_and_repeat);
    tcase_add_test(tests, memory_given_back_and_asked_for_again);
    tcase_add_test(tests, memory_given_back_for_a_capture);
    tcase_add_loop_test(tests, gradients_of_parameters, 0, 3);
    tcase_add_test(tests, gradients_larger_than_any_parameters);
    tcase_add_test(tests, no_allocation_no_peak);
    tcase_add_test(tests, attention_by_hand);
    tcase_add_test(tests, attention_that_is_not_all_of_the_peak);
    tcase_add_test(tests, attention_with_weights);
    tcase_add_test(tests, logits_of_a_language_model);
    tcase_add_test(tests, logits_of_no_linear_layer);
    tcase_add_test(tests, logits_without_the_last_position);
    tcase_add_test(tests, a_conversion_of_what_is_kept_costs_memory);
    tcase_add_test(tests, a_conversion_may_save_memory);
    tcase_add_test(tests, a_tensor_that_may_come_from_another_device_is_no_conversion);
    tcase_add_test(tests, optimizers_in_hooks);
    tcase_add_test(tests, temporaries_of_many_parameters);
    tcase_add_test(tests, temporaries_of_one_parameter);
    tcase_add_test(tests, an_optimizer_made_twice);
    tcase_add_test(tests, two_optimizers_of_two_models);
    tcase_add_test(tests, what_other_code_keeps_is_no_optimizer);
    tcase_add_test(tests, results_of_recorded_passes_are_no_kept_gradients);
    return tests;
}
