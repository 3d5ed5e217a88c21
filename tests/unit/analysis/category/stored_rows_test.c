/* Data on the device from which batches are taken, in traces without stacks. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define WEIGHT 4000u
#define LAYERS 6u

enum { TABLE = 20, TARGETS, RINGS }; /* addresses */
#define ROW    120u
#define TARGET 8u

static void make_model(void)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, WEIGHT + i, "");
}

/* A step on a batch, whose two tensors variables hold until the next one. */
static void train(unsigned steps, uint64_t table_part, uint64_t target_part)
{
    for (unsigned step = 0; step < steps; step++) {
        uint64_t at = 1000 * (1 + step);
        born(at, table_part);
        born(at + 1, target_part);
        if (step > 0) {
            freed(at - 1000, table_part);
            freed(at - 999, target_part);
        }
        for (unsigned i = 0; i < LAYERS; i++)
            born(at + 10 + i, 600 + i);
        for (unsigned i = LAYERS; i-- > 0;) {
            born(at + 30 + i, WEIGHT + i);
            freed(at + 10 + i, 600 + i);
        }
        capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
        born(60, 16);
        freed(60, 16);
        capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
        for (unsigned i = 0; i < LAYERS; i++)
            freed(at + 30 + i, WEIGHT + i);
    }
    capture_load(&capture);
}

static void store(uint64_t rows)
{
    capture_block(&capture, TABLE, rows * ROW, "");
    capture_block(&capture, TARGETS, rows * TARGET, "");
}

/* The data is smaller than the model. Of other tensors, a batch is not the same part. */
START_TEST(batches_have_rows_of_stored_data)
{
    enum category category = _i == 0 ? CATEGORY_INPUT : CATEGORY_PARAMETER;
    make_model();
    store(100);
    train(4, 10 * ROW, _i == 0 ? 10 * TARGET : 11 * TARGET);
    ck_assert_int_eq(capture_category(&capture, 1000), CATEGORY_INPUT);
    capture_expect(&capture, TABLE, category, CONFIDENCE_LOW);
    capture_expect(&capture, TARGETS, category, CONFIDENCE_LOW);
    ck_assert_int_eq(capture_category(&capture, 1), CATEGORY_PARAMETER);
}
END_TEST

/* Two rings have the same size, and a buffer of the model is no part of the data. */
START_TEST(only_what_batches_have_rows_of_is_data)
{
    make_model();
    store(90);
    capture_block(&capture, RINGS, 90 * ROW, "");
    capture_block(&capture, RINGS + 1, 777, "");
    train(4, 20 * ROW, 20 * TARGET);
    for (uint64_t addr = TABLE; addr <= RINGS; addr++)
        capture_expect(&capture, addr, CATEGORY_INPUT, CONFIDENCE_LOW);
    capture_expect(&capture, RINGS + 1, CATEGORY_PARAMETER, CONFIDENCE_LOW);
}
END_TEST

/* A frozen model has many sizes. */
START_TEST(many_sizes_are_a_model)
{
    make_model();
    store(100);
    for (uint64_t i = 0; i < 8; i++)
        capture_block(&capture, RINGS + i, 100 + 10 * i, "");
    train(4, 10 * ROW, 10 * TARGET);
    ck_assert_int_eq(capture_category(&capture, TABLE), CATEGORY_PARAMETER);
}
END_TEST

/* Positions that a model adds to its batches may be as large as data by chance, but lie between the
 * weights. */
START_TEST(what_is_made_with_the_model_is_no_data)
{
    uint64_t at = _i == 0 ? LAYERS : LAYERS / 2;
    for (uint64_t i = 0; i < LAYERS; i++) {
        if (i == at)
            born(TABLE, 100 * ROW);
        born(1 + i, WEIGHT + i);
    }
    if (at == LAYERS)
        born(TABLE, 100 * ROW);
    born(TARGETS, 100 * TARGET);
    train(6, 10 * ROW, 10 * TARGET);
    ck_assert_int_eq(capture_category(&capture, TABLE),
                     _i == 0 ? CATEGORY_INPUT : CATEGORY_PARAMETER);
}
END_TEST

TCase *category_stored_rows_tests(void)
{
    TCase *tests = tcase_create("stored rows");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, batches_have_rows_of_stored_data, 0, 2);
    tcase_add_test(tests, only_what_batches_have_rows_of_is_data);
    tcase_add_test(tests, many_sizes_are_a_model);
    tcase_add_loop_test(tests, what_is_made_with_the_model_is_no_data, 0, 2);
    return tests;
}
