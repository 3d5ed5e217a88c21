/* Batches and results of an evaluation after each epoch of a training, by the order of its lines.
 * Variables hold both until the next iteration, and the last ones over the whole next epoch. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

#define EVALUATE(line) PY("evaluate", "/home/u/train.py", line) "," SCRIPT
#define FORWARD        PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT
#define SAMPLE         PY("sample", "/home/u/model.py", 8)
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
 * And where plain code calls a method of the model, it computes what it hands to the target. */
START_TEST(batches_between_passes_without_gradients)
{
    born(1, 1000, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (uint64_t step = 0; step < 6; step++) {
        bool is_drawn = _i != 1;
        if (!is_drawn)
            assign(LABELS + step, 300, EVALUATE(2));
        born(5, 60, FORWARD);
        born(9, 20, SAMPLE "," FORWARD);
        freed(9, 20, FORWARD);
        freed(5, 60, FORWARD);
        if (_i == 2)
            born(9, 20, SAMPLE "," SCRIPT);
        assign(BATCH + step, 300, EVALUATE(3));
        if (_i == 2)
            freed(9, 20, SCRIPT);
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

#define COPIED     OP("_to_copy") CPP("at::_ops::to_dtype_layout::call(x)") ","
#define PROPAGATE  PY("propagate", "/home/u/model.py", 7) ","
#define IN_FORWARD PROPAGATE FORWARD

/* How a program evaluates its model after an epoch, or prepares its data. */
enum between {
    BY_PRODUCTS,   /* the script scores by matrix products, which only operators show */
    BY_METHOD,     /* it calls a method that forward() calls as well; no operators are known */
    PICKED_FROM,   /* each step takes its batch from what a product has made for an epoch */
    FOR_EACH_STEP, /* each step makes its own by a product, and two passes of it use that */
};

/* A step whose batch a variable holds until the next one; two passes use it. */
static void train_with_batch(uint64_t step, enum between between)
{
    bool is_named = between != BY_METHOD;
    if (between == FOR_EACH_STEP) {
        assign(SCORES + step, 700, OP("mm") EVALUATE(5));
        assign(LABELS + step, 30, COPIED EVALUATE(4));
    }
    assign(BATCH + step, 300,
           between == PICKED_FROM ? OP("index") EVALUATE(3)
           : is_named             ? COPIED EVALUATE(3)
                                  : EVALUATE(3));
    if (!is_named) {
        born(4, 40, IN_FORWARD);
        freed(4, 40, IN_FORWARD);
    }
    train();
    train();
}

/* An evaluation after each epoch keeps its last scores, and copies something on its own. */
static void evaluate_plainly(uint64_t epoch, enum between between)
{
    bool is_named = between != BY_METHOD;
    born(8, 90, is_named ? COPIED EVALUATE(8) : EVALUATE(8));
    born(9, 650, is_named ? OP("mm") EVALUATE(9) : PROPAGATE EVALUATE(9));
    assign(SCORES + epoch, 700, is_named ? OP("sigmoid") EVALUATE(5) : EVALUATE(5));
    freed(9, 650, EVALUATE(9));
    freed(8, 90, EVALUATE(8));
}

/* What plain code computes by a model is a result, if it lives longer than the next batch. But data
 * may be made by the same operators. */
START_TEST(evaluations_without_calls)
{
    enum between between = (enum between)_i;
    born(1, 1000, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (uint64_t epoch = 0, step = 0; epoch < 8; epoch++) {
        for (int i = 0; i < 3; i++, step++)
            train_with_batch(step, between);
        if (between != FOR_EACH_STEP)
            evaluate_plainly(epoch, between);
    }
    capture_load(&capture);
    expect(BATCH + 1, CATEGORY_INPUT);
    expect(SCORES + 1, between <= BY_METHOD ? CATEGORY_ACTIVATION : CATEGORY_INPUT);
    if (between <= BY_METHOD)
        ck_assert_int_eq(capture_category(&capture, SCORES + 7), CATEGORY_ACTIVATION);
}
END_TEST

static void train_tables(uint64_t step, const char *forward)
{
    assign(BATCH + step, 300, COPIED EVALUATE(3));
    born(5, 500, forward);
    born(6, 3000, STACK_BACKWARD);
    born(7, 5000, STACK_BACKWARD);
    freed(5, 500, STACK_BACKWARD);
    born(8, 10, STACK_STEP);
    freed(8, 10, STACK_STEP);
    freed(6, 3000, SCRIPT);
    freed(7, 5000, SCRIPT);
}

/* The embeddings of a graph are as large as all tables, as a vector of all weights is. */
START_TEST(embeddings_are_no_vector_of_weights)
{
    bool is_vector = _i == 2, is_named = _i != 1;
    born(1, 3000, PY("__init__", TORCH "nn/modules/sparse.py", 167) "," SCRIPT);
    born(2, 5000, PY("__init__", TORCH "nn/modules/sparse.py", 167) "," SCRIPT);
    for (uint64_t epoch = 0, step = 0; epoch < 8; epoch++) {
        for (int i = 0; i < 3; i++, step++)
            train_tables(step, is_named ? FORWARD : IN_FORWARD);
        if (!is_vector)
            born(9, 650, is_named ? OP("addmm") EVALUATE(9) : PROPAGATE EVALUATE(9));
        assign(SCORES + epoch, 8000,
               is_vector  ? OP("cat") EVALUATE(5)
               : is_named ? OP("mean") EVALUATE(5)
                          : PROPAGATE EVALUATE(5));
        if (!is_vector)
            freed(9, 650, EVALUATE(9));
    }
    capture_load(&capture);
    expect(SCORES + 1, is_vector ? CATEGORY_PARAMETER : CATEGORY_ACTIVATION);
}
END_TEST

TCase *category_evaluations_tests(void)
{
    TCase *tests = tcase_create("evaluations");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, scores_by_lines, 0, 2);
    tcase_add_loop_test(tests, batches_of_stored_data, 0, 2);
    tcase_add_test(tests, scores_of_a_line_with_temporaries);
    tcase_add_loop_test(tests, batches_between_passes_without_gradients, 0, 3);
    tcase_add_loop_test(tests, evaluations_without_calls, BY_PRODUCTS, FOR_EACH_STEP + 1);
    tcase_add_loop_test(tests, embeddings_are_no_vector_of_weights, 0, 3);
    return tests;
}
