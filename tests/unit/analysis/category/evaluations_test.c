/* Batches and results of an evaluation after each epoch of a training, by the order of its lines.
 * Variables hold both until the next iteration, and the last ones over the whole next epoch. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

#define EVALUATE(line) PY("evaluate", "/home/u/train.py", line) "," SCRIPT
#define FORWARD        PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT
#define OP(name)       CPP("at::_ops::" name "::call(x)") ","

#define BATCH  100
#define LABELS 200
#define SCORES 300
#define PARTS  3 /* iterations of an evaluation */

static void train(void)
{
    for (int step = 0; step < 2; step++) {
        born(5, 500, FORWARD);
        born(8, 30, STACK_BACKWARD);
        born(6, 1000, STACK_BACKWARD);
        freed(5, 500, STACK_BACKWARD);
        freed(8, 30, STACK_BACKWARD);
        born(7, 10, STACK_STEP);
        freed(7, 10, STACK_STEP);
        freed(6, 1000, SCRIPT);
    }
}

/* Makes block `addr`, and drops the one that its variable held. */
static void assign(uint64_t addr, uint64_t size, const char *made)
{
    born(addr, size, made);
    if (addr % 100 > 0)
        freed(addr - 1, size, EVALUATE(99));
}

static void run_epochs(const char *batch, const char *labels, const char *scores)
{
    born(1, 1000, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (uint64_t epoch = 0, part = 0; epoch < 3; epoch++) {
        train();
        for (int i = 0; i < PARTS; i++, part++) {
            assign(BATCH + part, 300, batch);
            assign(LABELS + part, 30, labels);
            born(5, 400, FORWARD);
            freed(5, 400, FORWARD);
            assign(SCORES + part, 700, scores);
        }
    }
    capture_load(&capture);
}

static void expect(uint64_t first, enum category category)
{
    for (uint64_t part = 0; part < 2 * PARTS; part++) {
        uint8_t reason;
        enum category found = capture_category_why(&capture, first + part, &reason);
        ck_assert_msg(found == category, "%d: %s: %s", (int)(first + part), category_name(found),
                      reason_name(reason));
    }
}

/* Python frames show no operators. But a line that made a batch before makes the next one. */
START_TEST(scores_by_lines)
{
    run_epochs(EVALUATE(3), EVALUATE(4), _i == 0 ? EVALUATE(5) : EVALUATE(2));
    expect(BATCH, CATEGORY_INPUT);
    expect(LABELS, CATEGORY_INPUT);
    expect(SCORES, CATEGORY_ACTIVATION);
}
END_TEST

/* Operators show no batch if it is made of data on the device. */
START_TEST(batches_of_stored_data)
{
    run_epochs(_i == 0 ? OP("cat") EVALUATE(3) : OP("upsample_nearest2d") EVALUATE(3),
               OP("repeat") EVALUATE(4), OP("_softmax") EVALUATE(5));
    expect(BATCH, CATEGORY_INPUT);
    expect(LABELS, CATEGORY_INPUT);
    expect(SCORES, CATEGORY_ACTIVATION);
}
END_TEST

/* A line makes scores and a temporary as large. */
START_TEST(scores_of_a_line_with_temporaries)
{
    born(1, 1000, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (uint64_t epoch = 0, part = 0; epoch < 3; epoch++) {
        train();
        for (int i = 0; i < PARTS; i++, part++) {
            assign(BATCH + part, 300, EVALUATE(3));
            born(5, 400, FORWARD);
            freed(5, 400, FORWARD);
            born(SCORES + part, 700, EVALUATE(5));
            born(6, 700, EVALUATE(5));
            freed(6, 700, EVALUATE(5));
            if (part > 0)
                freed(SCORES + part - 1, 700, EVALUATE(5));
        }
    }
    capture_load(&capture);
    expect(BATCH, CATEGORY_INPUT);
    expect(SCORES, CATEGORY_ACTIVATION);
}
END_TEST

/* An agent acts, draws a batch, and asks a target network, before it learns from the batch. The
 * target network has no other input. But several passes over one batch have one, and leave results.
 */
START_TEST(batches_between_passes_without_gradients)
{
    born(1, 1000, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (uint64_t step = 0; step < 6; step++) {
        bool is_drawn = _i == 0;
        if (!is_drawn)
            assign(LABELS + step, 300, EVALUATE(2));
        born(5, 60, FORWARD);
        freed(5, 60, FORWARD);
        assign(BATCH + step, 300, EVALUATE(3));
        born(5, 400, FORWARD);
        freed(5, 400, FORWARD);
        born(9, 20, EVALUATE(4));
        freed(9, 20, EVALUATE(4));
        train();
    }
    capture_load(&capture);
    expect(BATCH, _i == 0 ? CATEGORY_INPUT : CATEGORY_ACTIVATION);
    if (_i == 1)
        expect(LABELS, CATEGORY_INPUT);
}
END_TEST

TCase *category_evaluations_tests(void)
{
    TCase *tests = tcase_create("evaluations");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, scores_by_lines, 0, 2);
    tcase_add_loop_test(tests, batches_of_stored_data, 0, 2);
    tcase_add_test(tests, scores_of_a_line_with_temporaries);
    tcase_add_loop_test(tests, batches_between_passes_without_gradients, 0, 2);
    return tests;
}
