/* Float32 copies of parameters, and what is as large, in a step that a snapshot recorded. */
#include "unit/analysis/shard/recorded_step.h"

#define WEIGHTS    MADE(3)
#define COPIES     MADE(4)
#define OTHER      MADE(5)
#define PARAMETERS 4

static void hold_times(size_t times, uint64_t bytes, const char *line)
{
    for (size_t i = 0; i < times; i++)
        hold(bytes, line);
}

/* Two for each parameter. */
static void hold_states(uint64_t bytes)
{
    for (size_t i = 0; i < 2 * PARAMETERS; i++)
        capture_event_with(&capture, "alloc", next++, bytes, STACK_STEP,
                           ",\"category\":\"optimizer_state\"");
}

static void expect(int64_t masters, int64_t buffers)
{
    keep_blocks(PARAMETERS);
    build();
    ck_assert_int_eq(model.master_bytes, masters);
    ck_assert_int_eq(model.buffer_bytes, buffers);
    for (size_t unit = 0; unit < model.unit_count; unit++) {
        ck_assert_int_eq(elements(unit, false), unit > 0 ? 100 : 0);
        ck_assert_int_eq(elements(unit, true), 0);
    }
    destroy();
    create();
}

/* They may be made before the states or behind them, and by a constructor that makes the model. */
START_TEST(optimizer_updates_copies)
{
    hold_times(PARAMETERS, 400, WEIGHTS);
    hold_times(PARAMETERS, 800, COPIES);
    hold_states(800);
    expect(3200, 0);
    hold_times(PARAMETERS, 400, PY("__init__", "/home/u/trainer.py", 5) "," MADE(3));
    hold_states(800);
    hold_times(PARAMETERS, 800, PY("__init__", "/home/u/trainer.py", 6) "," MADE(3));
    expect(3200, 0);
}
END_TEST

/* Their sizes alone make them state: that is not counted twice. */
START_TEST(copies_may_be_known)
{
    hold_times(PARAMETERS, 400, WEIGHTS);
    for (size_t i = 0; i < PARAMETERS; i++)
        capture_event(&capture, "alloc", next++, 800, COPIES);
    hold_states(800);
    expect(3200, 0);
}
END_TEST

/* An average or gradients in float32 besides: one copy has the states. */
START_TEST(others_stay_buffers)
{
    hold_times(PARAMETERS, 400, WEIGHTS);
    hold_times(PARAMETERS, 800, COPIES);
    hold_times(PARAMETERS, 800, OTHER);
    hold_states(800);
    expect(3200, 3200);
}
END_TEST

static int64_t most_of_points(void)
{
    int64_t most = 0;
    for (size_t i = 0; i < model.point_count; i++)
        if (model.points[i].peak_bytes > most)
            most = model.points[i].peak_bytes;
    return most;
}

/* Gradients in float32 that live from step to step, one of each parameter or one of all. Those of
 * other sizes stay in the memory of the passes, as workspaces do. */
START_TEST(optimizer_keeps_gradients)
{
    static const struct {
        size_t count;
        uint64_t bytes;
        int64_t found;
    } programs[] = {{0, 0, 0}, {PARAMETERS, 800, 3200}, {1, 3200, 3200}, {PARAMETERS, 804, 0}};
    int64_t without = 0;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        hold_times(PARAMETERS, 400, WEIGHTS);
        hold_times(PARAMETERS, 800, COPIES);
        for (size_t k = 0; k < programs[i].count; k++)
            capture_event_with(&capture, "alloc", next++, programs[i].bytes, OTHER,
                               ",\"category\":\"gradient\"");
        hold_states(800);
        keep_blocks(PARAMETERS);
        build();
        ck_assert_int_eq(model.master_bytes, 3200);
        ck_assert_int_eq(model.main_gradient_bytes, programs[i].found);
        int64_t all = (int64_t)(programs[i].count * programs[i].bytes);
        without = i == 0 ? most_of_points() : without;
        ck_assert_int_eq(most_of_points(), without + all - programs[i].found);
        destroy();
        create();
    }
}
END_TEST

/* The optimizer has states of the parameters: it updates these. */
START_TEST(averages_are_not_updated)
{
    static const uint64_t sizes[] = {400, 800};
    for (size_t i = 0; i < 2; i++) {
        hold_times(PARAMETERS, 400, WEIGHTS);
        hold_times(PARAMETERS, sizes[i], COPIES);
        hold_states(400);
        expect(0, PARAMETERS * (int64_t)sizes[i]);
    }
}
END_TEST

/* The sizes of averages alone make them state: they are what the optimizer's own leaves. */
START_TEST(averages_may_look_like_state)
{
    for (int has_copies = 0; has_copies < 2; has_copies++) {
        hold_times(PARAMETERS, 400, WEIGHTS);
        if (has_copies)
            hold_times(PARAMETERS, 800, OTHER);
        for (size_t i = 0; i < PARAMETERS; i++)
            capture_event(&capture, "alloc", next++, 800, COPIES);
        hold_states(has_copies ? 800 : 400);
        keep_blocks(PARAMETERS);
        build();
        ck_assert_int_eq(model.master_bytes, has_copies ? 3200 : 0);
        ck_assert_int_eq(model.buffer_bytes, 3200);
        ck_assert_int_eq(model.average_bytes, 3200);
        destroy();
        create();
    }
}
END_TEST

/* One tensor of all parameters, or several, which the optimizer updates. */
START_TEST(copies_may_be_flat)
{
    for (size_t count_of = 1; count_of < 3; count_of++) {
        uint64_t bytes = 2 * PARAMETERS * 400 / count_of;
        hold_times(PARAMETERS, 400, WEIGHTS);
        hold_times(count_of, bytes, COPIES);
        for (size_t i = 0; i < 2 * count_of; i++)
            capture_event_with(&capture, "alloc", next++, bytes, STACK_STEP,
                               ",\"category\":\"optimizer_state\"");
        expect(3200, 0);
    }
    hold_times(PARAMETERS, 400, WEIGHTS);
    hold_times(1, 3200, COPIES);
    hold_states(400);
    expect(0, 3200);
}
END_TEST

/* Of another number or size than the parameters, or made with something else. */
START_TEST(buffers_are_no_copies)
{
    static const struct {
        size_t count;
        uint64_t bytes, more;
    } programs[] = {{PARAMETERS - 1, 800, 0},
                    {PARAMETERS + 1, 800, 0},
                    {PARAMETERS, 1600, 0},
                    {PARAMETERS, 800, 1200}};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        hold_times(PARAMETERS, 400, WEIGHTS);
        hold_times(programs[i].count, programs[i].bytes, COPIES);
        hold_times(programs[i].more > 0, programs[i].more, COPIES);
        hold_states(800);
        keep_blocks(PARAMETERS);
        build();
        ck_assert_int_eq(model.master_bytes, 0);
        destroy();
        create();
    }
}
END_TEST

TCase *shard_snapshot_masters_tests(void)
{
    TCase *tests = tcase_create("float32 copies in snapshots");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, optimizer_updates_copies);
    tcase_add_test(tests, copies_may_be_known);
    tcase_add_test(tests, others_stay_buffers);
    tcase_add_test(tests, optimizer_keeps_gradients);
    tcase_add_test(tests, averages_are_not_updated);
    tcase_add_test(tests, averages_may_look_like_state);
    tcase_add_test(tests, copies_may_be_flat);
    tcase_add_test(tests, buffers_are_no_copies);
    return tests;
}
