/* Frozen parameters, and models beside the one that is trained, in a step that a snapshot recorded.
 */
#include "unit/analysis/shard/recorded_step.h"

/* Of a step with the four blocks of hold_blocks(): each has an adapter, and nothing else is
 * trained.
 */
static void build_adapted(void)
{
    keep_blocks(4);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 4);
    for (size_t unit = 1; unit <= 4; unit++) {
        ck_assert_int_eq(elements(unit, false), 100);
        ck_assert_int_eq(elements(unit, true), 500);
    }
    ck_assert_int_eq(elements(SHARD_ROOT, true), 1002);
    ck_assert_int_eq(model.buffer_bytes, 0);
}

/* Blocks of one parameter each: frozen ones, and behind them those that are trained. */
static void build_frozen(size_t frozen, size_t trained)
{
    keep_blocks(trained);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + frozen + trained);
    for (size_t unit = 1; unit <= frozen + trained; unit++) {
        ck_assert_int_eq(elements(unit, false), unit > frozen ? 100 : 0);
        ck_assert_int_eq(elements(unit, true), unit > frozen ? 0 : 100);
    }
    ck_assert_int_eq(model.buffer_bytes, 0);
}

static void hold_times(size_t times, uint64_t bytes, const char *line)
{
    for (size_t i = 0; i < times; i++)
        hold(bytes, line);
}

/* Adapters beside weights that are frozen. */
START_TEST(frozen_parameters_are_of_their_blocks)
{
    hold_blocks(4, true, MADE(3));
    build_adapted();
}
END_TEST

/* Of blocks that are alike, some are trained: the sizes do not tell which. */
START_TEST(frozen_blocks_lie_between_trained_ones)
{
    static const bool trained[] = {true, false, true, false, true, true};
    hold(4000, MADE(3));
    for (size_t i = 0; i < 6; i++) {
        hold(400, MADE(3));
        hold(1200, MADE(3));
    }
    for (size_t i = 0; i < 6; i++) {
        keep(LINEAR "," BLOCK(20) "," SEQUENTIAL "," MODEL(6), trained[i]);
        keep(LINEAR "," BLOCK(21) "," SEQUENTIAL "," MODEL(6), false);
    }
    build();
    ck_assert_uint_eq(model.unit_count, 7);
    for (size_t unit = 1; unit < model.unit_count; unit++) {
        ck_assert_int_eq(elements(unit, false), trained[unit - 1] ? 100 : 0);
        ck_assert_int_eq(elements(unit, true), trained[unit - 1] ? 300 : 400);
    }
    for (size_t i = 0; i < model.tensor_count; i++) /* in the order in which they were made */
        if (model.tensors[i].elements == 100)
            ck_assert_uint_eq(model.tensors[i].place, 2 * model.tensors[i].unit - 1);
}
END_TEST

/* Adapters that are made after the model. */
START_TEST(adapters_may_come_later)
{
    hold_blocks(4, false, MADE(3));
    hold_times(4, 400, MADE(4));
    build_adapted();
}
END_TEST

#define CONSTRUCTED(line, inside)                                                                  \
    PY("__init__", TORCH "nn/modules/linear.py", 110)                                              \
    "," inside "," PY("__init__", "/home/u/model.py", line) "," MADE(3)

/* Constructors make the model on the device, each parameter at a line of its own. Adapters are
 * moved there. */
START_TEST(constructors_make_one_model)
{
    hold(4000, PY("__init__", "/home/u/model.py", 1) "," MADE(3));
    for (int i = 0; i < 4; i++) {
        hold(800, CONSTRUCTED(2, PY("__init__", "/home/u/block.py", 11)));
        hold(1200, CONSTRUCTED(2, PY("__init__", "/home/u/block.py", 12)));
    }
    hold(8, PY("__init__", "/home/u/model.py", 9) "," MADE(3));
    hold_times(4, 400, MADE(4));
    build_adapted();
}
END_TEST

/* The first blocks keep nothing for a backward pass, but are gathered. */
START_TEST(frozen_blocks_come_first)
{
    hold(4000, MADE(3));
    hold_times(7, 400, MADE(3));
    build_frozen(3, 4);
    for (size_t i = 1; i < model.point_count && !model.points[i].is_backward; i++)
        ck_assert_uint_eq(model.points[i].layer, i);
}
END_TEST

/* Each size that is trained is there three times, but no copy of the model is: that would have the
 * embedding twice. */
START_TEST(few_of_many_blocks_are_trained)
{
    hold(4000, MADE(3));
    hold_times(6, 400, MADE(3));
    build_frozen(4, 2);
}
END_TEST

/* What a frozen module that runs before the pass allocates, and frees at once. */
static void run_frozen(const char *frames, uint64_t bytes)
{
    capture_event(&capture, "alloc", next, bytes, frames);
    capture_free(&capture, next++, bytes, frames);
}

#define CONVOLUTION PY("forward", TORCH "nn/modules/conv.py", 553) "," CALL
#define NORM        PY("forward", TORCH "nn/modules/batchnorm.py", 193) "," CALL
#define OTHER       PY("<module>", "/home/u/train.py", 99)
#define FROZEN      PY("forward", "/home/u/frozen.py", 7) "," CALL

/* A layer, a block that runs twice, and another kind of block, which a Sequential calls; and one
 * that it does not. */
static void run_frozen_lists(void)
{
    run_frozen(CONVOLUTION "," SEQUENTIAL "," MODEL(4), 128);
    for (int i = 0; i < 2; i++) {
        run_frozen(CONVOLUTION "," BLOCK(30) "," SEQUENTIAL "," MODEL(4), 64);
        run_frozen(NORM "," BLOCK(31) "," SEQUENTIAL "," MODEL(4), 32);
    }
    run_frozen(CONVOLUTION "," FROZEN "," SEQUENTIAL "," MODEL(4), 16);
    run_frozen(CONVOLUTION "," MODEL(5), 16);
}

/* Blocks of two lines, of which the first has a parameter. */
static void run_frozen_copy(size_t blocks, const char *first, const char *second)
{
    for (size_t i = 0; i < blocks; i++) {
        run_frozen(first, 64);
        run_frozen(second, 64);
    }
}

/* Blocks of unequal sizes, which show only by their calls. */
START_TEST(frozen_calls_tell_blocks)
{
    static const uint64_t sizes[] = {1200, 2000, 40, 80, 4000, 60, 120, 6000, 1600};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        hold(sizes[i], MADE(3));
    hold_times(3, 400, MADE(3));
    run_frozen_lists();
    keep_blocks(3);
    build();
    static const int64_t frozen[] = {400, 300, 530, 1045, 1500};
    static const int64_t peaks[] = {0, 128, 64, 64, 16};
    ck_assert_uint_eq(model.unit_count, 1 + 4 + 3);
    for (size_t unit = 0; unit < 5; unit++)
        ck_assert_int_eq(elements(unit, true), frozen[unit]);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(model.layers[i].unit, i);
        ck_assert_int_eq(model.points[i].peak_bytes, peaks[i]);
    }
    for (size_t unit = 5; unit < model.unit_count; unit++)
        ck_assert_int_eq(elements(unit, false), 100);
    ck_assert_int_eq(model.buffer_bytes, 0);
}
END_TEST

/* Another number of parameters tells nothing of the blocks; one that the program calls beside the
 * model is no part of it. */
START_TEST(frozen_calls_must_fit)
{
    for (int i = 0; i < 20; i++)
        hold(404 + 4 * (uint64_t)i, MADE(3));
    hold_times(3, 400, MADE(3));
    run_frozen_lists();
    keep_blocks(3);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 3);
    destroy();
    create();
    hold_times(6, 400, MADE(3));
    run_frozen_copy(3, CONVOLUTION "," BLOCK(20) "," OTHER, BLOCK(21) "," OTHER);
    keep_blocks(3);
    build();
    ck_assert_int_eq(model.buffer_bytes, 1200);
}
END_TEST

/* A teacher with the sizes of the model, which runs it. */
START_TEST(a_teacher_may_be_part_of_the_model)
{
    hold_times(6, 400, MADE(3));
    run_frozen_copy(3, CONVOLUTION "," BLOCK(20) "," MODEL(4), BLOCK(21) "," MODEL(4));
    build_frozen(3, 3);
}
END_TEST

/* An average of the weights, a teacher, and both: bytes beside the model. */
START_TEST(other_models_are_not_frozen)
{
    static const struct {
        size_t averaged, taught;
    } programs[] = {{4, 0}, {0, 6}, {4, 6}};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        hold_times(4, 400, MADE(3));
        hold_times(programs[i].averaged, 400, MADE(4));
        hold_times(programs[i].taught, 1600, MADE(5));
        keep_blocks(4);
        build();
        ck_assert_int_eq(model.buffer_bytes,
                         400 * (int64_t)programs[i].averaged + 1600 * (int64_t)programs[i].taught);
        destroy();
        create();
    }
}
END_TEST

TCase *shard_snapshot_frozen_tests(void)
{
    TCase *tests = tcase_create("frozen parameters of snapshots");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, frozen_parameters_are_of_their_blocks);
    tcase_add_test(tests, frozen_blocks_lie_between_trained_ones);
    tcase_add_test(tests, adapters_may_come_later);
    tcase_add_test(tests, constructors_make_one_model);
    tcase_add_test(tests, frozen_blocks_come_first);
    tcase_add_test(tests, few_of_many_blocks_are_trained);
    tcase_add_test(tests, frozen_calls_tell_blocks);
    tcase_add_test(tests, frozen_calls_must_fit);
    tcase_add_test(tests, a_teacher_may_be_part_of_the_model);
    tcase_add_test(tests, other_models_are_not_frozen);
    return tests;
}
