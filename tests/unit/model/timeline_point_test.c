/* Which item a point means. */
#include "unit/model/model.h"
#include "unit/model/script.h"

static struct script script;
static struct snapshot *snapshot;
static struct timeline *timeline;
static struct error err;

static void destroy(void)
{
    timeline_destroy(timeline);
    snapshot_destroy(snapshot);
}

/* Four allocs at 1000, none, 1020, 1030. */
static void create(void)
{
    script_init(&script);
    for (uint64_t addr = 0; addr < 4; addr++)
        script_event(&script, ACTION_ALLOC, addr, 1);
    script.events[1].row.time_us = TIME_NONE;
    snapshot = script_must_load(&script, NULL);
    timeline = script_timeline(snapshot, 0);
}

static void cut(struct window window)
{
    destroy();
    snapshot = script_must_load(&script, &window);
    timeline = script_timeline(snapshot, 0);
}

static int64_t item_at(enum point_kind kind, int64_t value)
{
    int64_t item = -99;
    struct point point = {kind, value};
    if (!timeline_item_at(timeline, point, &item, &err)) {
        ck_assert_int_eq(err.status, STATUS_USAGE);
        ck_assert_int_eq(item, -99);
        return -2;
    }
    return item;
}

START_TEST(events)
{
    ck_assert_int_eq(item_at(POINT_EVENT, 0), 0);
    ck_assert_int_eq(item_at(POINT_EVENT, 3), 3);
    ck_assert_int_eq(item_at(POINT_EVENT, 4), -2);
    ck_assert_str_eq(err.text, "event 4 is not among the events 0 to 3 of device 0");
    ck_assert_int_eq(item_at(POINT_EVENT, -1), -2);
    ck_assert_int_eq(item_at(POINT_OPEN, 0), 3);
}
END_TEST

START_TEST(times)
{
    ck_assert_int_eq(item_at(POINT_TIME, 999), -2);
    ck_assert_int_eq(item_at(POINT_TIME, 1000), 0);
    ck_assert_int_eq(item_at(POINT_TIME, 1019), 0);
    ck_assert_int_eq(item_at(POINT_TIME, 1020), 2);
    ck_assert_int_eq(item_at(POINT_TIME, 1030), 3);
    ck_assert_int_eq(item_at(POINT_TIME, 1031), -2);
    ck_assert_str_eq(err.text,
                     "@1031 lies outside the events of device 0, which run from @1000 to @1030");
    ck_assert_int_eq(item_at(POINT_OFFSET, 0), 0);
    ck_assert_int_eq(item_at(POINT_OFFSET, 25), 2);
    ck_assert_int_eq(item_at(POINT_OFFSET, INT64_MAX), -2);
    ck_assert_int_eq(item_at(POINT_OFFSET, 31), -2);
    ck_assert_str_eq(err.text,
                     "+31us lies outside the events of device 0, which run from +0us to +30us");
}
END_TEST

START_TEST(inside_a_range)
{
    cut((struct window){{POINT_EVENT, 2}, {POINT_OPEN, 0}});
    ck_assert_int_eq(item_at(POINT_EVENT, 1), -2);
    ck_assert_str_eq(err.text, "event 1 is not among the events 2 to 3 of device 0");
    ck_assert_int_eq(item_at(POINT_EVENT, 3), 1);
    ck_assert_int_eq(item_at(POINT_OFFSET, 10), -2);
    ck_assert_int_eq(item_at(POINT_OFFSET, 20), 0);
    ck_assert_int_eq(item_at(POINT_TIME, 1030), 1);
}
END_TEST

START_TEST(without_times)
{
    cut((struct window){{POINT_EVENT, 1}, {POINT_EVENT, 2}});
    ck_assert_int_eq(item_at(POINT_EVENT, 1), 0);
    ck_assert_int_eq(item_at(POINT_TIME, 1000), -2);
    ck_assert_str_eq(err.text, "the events of device 0 carry no time: give an event number from "
                               "1 to 1");
    timeline_destroy(timeline);
    timeline = script_timeline(snapshot, 1);
    ck_assert_int_eq(item_at(POINT_TIME, 1000), -2);
    ck_assert_int_eq(item_at(POINT_EVENT, 0), -2);
    ck_assert_str_eq(err.text, "device 1 has no events");
    ck_assert_int_eq(item_at(POINT_OPEN, 0), -1);
}
END_TEST

START_TEST(extreme_times)
{
    script.events[0].row.time_us = INT64_MAX;
    script.events[2].row.time_us = INT64_MIN + 1;
    cut((struct window){{POINT_EVENT, 0}, {POINT_OPEN, 0}});
    ck_assert_int_eq(item_at(POINT_TIME, INT64_MAX), 3);
    ck_assert_int_eq(item_at(POINT_OFFSET, 1), -2);
    ck_assert_int_eq(item_at(POINT_OFFSET, 0), 3);
}
END_TEST

TCase *timeline_point_tests(void)
{
    TCase *tests = tcase_create("points of a timeline");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, events);
    tcase_add_test(tests, times);
    tcase_add_test(tests, inside_a_range);
    tcase_add_test(tests, without_times);
    tcase_add_test(tests, extreme_times);
    return tests;
}
