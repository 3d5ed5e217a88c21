/* Forward passes and updates of loops in plain code, whose variables hold the results. */
#include "analysis/phase/phases.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define ITERATIONS 3
#define WEIGHT     64
#define AT(line)   PY("<module>", "/home/u/train.py", line)
#define OP(name)   CPP("at::_ops::" name "::call(x)") ","

static struct capture capture;
static uint64_t held[4]; /* addresses of what the variables hold */
static uint64_t next;

static void create(void)
{
    capture_init(&capture);
    next = 1;
    for (size_t i = 0; i < 4; i++)
        held[i] = 0;
}

static void destroy(void)
{
    capture_release(&capture);
}

static uint64_t born(uint64_t size, const char *frames)
{
    capture_event(&capture, "alloc", next, size, frames);
    return next++;
}

static void scratch(uint64_t size, const char *frames)
{
    uint64_t addr = born(size, frames);
    capture_free(&capture, addr, size, frames);
}

/* variable = result; what it held before is freed */
static uint64_t assign(size_t variable, uint64_t size, const char *frames)
{
    uint64_t before = held[variable];
    held[variable] = born(size, frames);
    if (before)
        capture_free(&capture, before, size, frames);
    return held[variable];
}

/* x = data[index]; h = x @ w + b; a = relu(h); loss.backward(); w -= rate * w.grad */
static void loop(const char *batch, const char *product, const char *sum, const char *relu,
                 const char *backward, const char *update)
{
    born(WEIGHT, AT(1));
    for (unsigned i = 0; i < ITERATIONS; i++) {
        assign(0, 100, batch);
        scratch(500, product);
        assign(1, 500, sum);
        assign(2, 500, relu);
        uint64_t gradient = born(WEIGHT, backward);
        scratch(500, backward);
        scratch(WEIGHT, update);
        capture_free(&capture, gradient, WEIGHT, update);
    }
}

static void load(struct phases *phases)
{
    struct error err;
    capture_load(&capture);
    ck_assert(phases_build(phases, capture.timeline, capture.sites, &err));
}

/* The phase in which `addr` is allocated: the addresses count the allocations from 1. */
static enum phase phase_of(const struct phases *phases, uint64_t addr)
{
    ck_assert_uint_le(addr, capture.timeline->lifetime_count);
    uint32_t item = capture.timeline->lifetimes[addr - 1].alloc;
    return (enum phase)phases->runs[phases_run_of(phases, item)].phase;
}

static void expect_phases(void)
{
    /* weight, then batch, product, sum, relu, gradient, scratch, update of each iteration */
    static const enum phase expected[] = {PHASE_OTHER,    PHASE_FORWARD,  PHASE_FORWARD,
                                          PHASE_FORWARD,  PHASE_BACKWARD, PHASE_BACKWARD,
                                          PHASE_OPTIMIZER};
    struct phases phases;
    load(&phases);
    for (uint64_t i = 0; i < (uint64_t)ITERATIONS * 7; i++)
        ck_assert_msg(phase_of(&phases, 2 + i) == expected[i % 7], "allocation %d: phase %d",
                      (int)(2 + i), (int)phase_of(&phases, 2 + i));
    phases_release(&phases);
}

START_TEST(variables_hold_what_operators_computed)
{
    loop(OP("index_Tensor") AT(2), OP("mm") AT(3), OP("add_Tensor") AT(3), OP("clamp_min") AT(4),
         STACK_BACKWARD, OP("mul_Tensor") AT(6));
    expect_phases();
}
END_TEST

START_TEST(the_first_line_makes_the_batch)
{
    loop(AT(2), AT(3), AT(3), AT(4), PY("backward", TORCH "_tensor.py", 500) "," AT(5), AT(6));
    expect_phases();
}
END_TEST

START_TEST(a_loss_in_plain_code_is_forward)
{
    struct phases phases;
    born(WEIGHT, OP("zeros") AT(1));
    for (unsigned i = 0; i < ITERATIONS; i++) {
        assign(0, 100, OP("index_Tensor") AT(2));
        assign(1, 500, STACK_FORWARD);
        uint64_t loss = assign(2, 500, OP("exp") AT(3));
        born(WEIGHT, STACK_BACKWARD);
        held[3] = loss;
    }
    load(&phases);
    ck_assert_int_eq(phase_of(&phases, held[3]), PHASE_FORWARD);
    ck_assert_int_ne(phase_of(&phases, held[0]), PHASE_FORWARD);
    phases_release(&phases);
}
END_TEST

#define DEEPCOPY                                                                                   \
    PY("__deepcopy__", TORCH "_tensor.py", 174)                                                    \
    "," PY("deepcopy", "/usr/lib/copy.py", 153) "," AT(8)

/* The phase of an allocation of a weight's size after a backward pass, with an annotation of the
 * optimizer step, which allocates nothing, in between or not. */
static enum phase phase_after_pass(const char *frames, bool is_marked)
{
    struct phases phases;
    uint64_t copy = 0;
    born(WEIGHT, AT(1));
    for (unsigned i = 0; i < ITERATIONS; i++) {
        uint64_t saved = born(500, STACK_FORWARD), gradient = born(WEIGHT, STACK_BACKWARD);
        capture_free(&capture, saved, 500, ENGINE);
        if (is_marked) {
            capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
            capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
        }
        copy = born(WEIGHT, frames);
        capture_free(&capture, gradient, WEIGHT, AT(9));
    }
    load(&phases);
    enum phase phase = phase_of(&phases, copy);
    phases_release(&phases);
    return phase;
}

START_TEST(plain_code_of_the_weights_sizes_updates_them)
{
    ck_assert_int_eq(phase_after_pass(OP("clone") AT(8), false), PHASE_OPTIMIZER);
}
END_TEST

START_TEST(an_annotated_step_is_the_update)
{
    ck_assert_int_eq(phase_after_pass(OP("clone") AT(8), true), PHASE_OTHER);
}
END_TEST

START_TEST(a_deep_copy_is_no_update)
{
    ck_assert_int_eq(phase_after_pass(DEEPCOPY, false), PHASE_OTHER);
}
END_TEST

TCase *forward_tests(void)
{
    TCase *tests = tcase_create("forward");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, variables_hold_what_operators_computed);
    tcase_add_test(tests, the_first_line_makes_the_batch);
    tcase_add_test(tests, a_loss_in_plain_code_is_forward);
    tcase_add_test(tests, plain_code_of_the_weights_sizes_updates_them);
    tcase_add_test(tests, an_annotated_step_is_the_update);
    tcase_add_test(tests, a_deep_copy_is_no_update);
    return tests;
}
