/* Limits of the loader; it releases everything when it fails. */
#include <stdio.h>
#include <string.h>

#include "model/sums.h"
#include "unit/model/model.h"
#include "unit/model/random_script.h"
#include "unit/unit.h"

#define MOST_MEMORY ((size_t)256 * 1024)

static struct error err;
static const struct load_options EVERYTHING;

START_TEST(too_many_devices)
{
    struct loader *loader = loader_create(&EVERYTHING, &err);
    struct row_sink sink = loader_sink(loader);
    struct event_row row = {.action = ACTION_ALLOC};
    struct segment_row segment = {.device = DEVICE_HOST - 1};
    ck_assert(sink.trace(sink.self, LOADER_MAX_DEVICES - 1, &err));
    ck_assert(!sink.trace(sink.self, LOADER_MAX_DEVICES, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert(!sink.event(sink.self, DEVICE_HOST - 1, &row, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert(!sink.event(sink.self, DEVICE_HOST - 2, &row, &err));
    ck_assert(!sink.segment(sink.self, &segment, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    loader_destroy(loader);
}
END_TEST

START_TEST(a_trace_comes_once)
{
    struct loader *loader = loader_create(&EVERYTHING, &err);
    struct row_sink sink = loader_sink(loader);
    ck_assert(sink.trace(sink.self, 1, &err));
    ck_assert(sink.trace(sink.self, 0, &err));
    ck_assert(!sink.trace(sink.self, 1, &err));
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    loader_destroy(loader);
}
END_TEST

START_TEST(too_many_unknown_actions)
{
    struct loader *loader = loader_create(&EVERYTHING, &err);
    struct row_sink sink = loader_sink(loader);
    struct event_row row = {.action = ACTION_OTHER};
    for (int i = 0; i <= ACTION_CODES - ACTION_OTHER; i++) {
        char name[8];
        int size = snprintf(name, sizeof(name), "x%d", i);
        ck_assert(
            symbols_string(loader_symbols(loader), name, (size_t)size, &row.action_name, &err));
        bool taken = sink.event(sink.self, 0, &row, &err);
        ck_assert_int_eq(taken, i < ACTION_CODES - ACTION_OTHER);
    }
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    loader_destroy(loader);
}
END_TEST

START_TEST(repeated_events_outside_the_range)
{
    struct load_options options = {.window = {{POINT_EVENT, 1}, {POINT_EVENT, 3}}};
    struct event_row row = {.action = ACTION_ALLOC};
    struct loader *loader = loader_create(&options, &err);
    struct row_sink sink = loader_sink(loader);
    for (row.addr = 0; row.addr < 4; row.addr++)
        ck_assert(sink.event(sink.self, 0, &row, &err));
    ck_assert(sink.event_again(sink.self, 0, 2, &err));
    ck_assert(!sink.event_again(sink.self, 0, 0, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert(!sink.event_again(sink.self, 0, 3, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    loader_destroy(loader);
}
END_TEST

/* Every budget from none to enough: either the whole snapshot or STATUS_LIMIT. */
START_TEST(any_budget)
{
    static struct script script;
    const struct window windows[] = {{{POINT_OPEN, 0}, {POINT_OPEN, 0}},
                                     {{POINT_EVENT, 20}, {POINT_EVENT, 40}}};
    struct dice dice = dice_init(3);
    do
        random_valid_script(&dice, &script);
    while (script.event_count < 100);
    for (size_t w = 0; w < 2; w++) {
        size_t loaded = 0, refused = 0;
        for (size_t memory = 1; memory < MOST_MEMORY; memory += 1 + memory / 40) {
            struct snapshot *snapshot = script_load(&script, &windows[w], memory, &err);
            if (snapshot) {
                ck_assert_uint_le(snapshot->budget->used, memory);
                loaded++;
            } else {
                ck_assert_int_eq(err.status, STATUS_LIMIT);
                refused++;
            }
            snapshot_destroy(snapshot);
        }
        ck_assert_uint_gt(loaded, 0);
        ck_assert_uint_gt(refused, 0);
    }
}
END_TEST

START_TEST(sizes_beyond_62_bits)
{
    static struct script script;
    script_init(&script);
    script_event(&script, ACTION_ALLOC, 1, LARGEST_SUM);
    script_event(&script, ACTION_ALLOC, 2, 1);
    struct snapshot *snapshot = script_must_load(&script, NULL);
    ck_assert_ptr_null(timeline_build(snapshot, 0, &err));
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    snapshot_destroy(snapshot);

    script_init(&script);
    script_segment(&script, UINT64_MAX);
    snapshot = script_must_load(&script, NULL);
    ck_assert_ptr_null(timeline_build(snapshot, 0, &err));
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "device 0"));
    snapshot_destroy(snapshot);

    script_init(&script);
    script_event(&script, ACTION_SEGMENT_FREE, 1, LARGEST_SUM);
    script_event(&script, ACTION_FREE_COMPLETED, 1, LARGEST_SUM);
    script_event(&script, ACTION_FREE_COMPLETED, 1, LARGEST_SUM);
    snapshot = script_must_load(&script, NULL);
    ck_assert_ptr_null(timeline_build(snapshot, 0, &err));
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    snapshot_destroy(snapshot);
}
END_TEST

/* Sizes near the bound of sums, whole and cut: an answer or STATUS_BAD_INPUT. */
START_TEST(huge_sizes)
{
    static struct script script;
    const uint64_t huge[] = {LARGEST_SUM, LARGEST_SUM / 2, (uint64_t)LARGEST_SUM + 1, INT64_MAX, 1};
    const struct window windows[] = {{{POINT_OPEN, 0}, {POINT_OPEN, 0}},
                                     {{POINT_EVENT, 4}, {POINT_EVENT, 9}}};
    for (uint64_t seed = 1; seed < unit_share(3000); seed++) {
        struct dice dice = dice_init(seed);
        random_wild_script(&dice, &script);
        for (size_t i = 0; i < script.event_count; i++) {
            if (dice_roll(&dice, 4) == 0)
                script.events[i].row.size = huge[dice_roll(&dice, 5)];
        }
        for (size_t w = 0; w < 2; w++) {
            struct snapshot *snapshot = script_load(&script, &windows[w], 0, &err);
            struct timeline *timeline = snapshot ? timeline_build(snapshot, 0, &err) : NULL;
            for (int64_t item = -1; timeline && item < (int64_t)timeline->trace->count; item++) {
                struct moment moment;
                timeline_moment(timeline, item, &moment);
                if (moment.active_bytes > timeline->active.peak_bytes)
                    ck_abort_msg("seed %d: above the peak", (int)seed);
            }
            timeline_destroy(timeline);
            snapshot_destroy(snapshot);
        }
    }
}
END_TEST

TCase *loader_limit_tests(void)
{
    TCase *tests = tcase_create("loader limits");
    tcase_add_test(tests, too_many_devices);
    tcase_add_test(tests, a_trace_comes_once);
    tcase_add_test(tests, too_many_unknown_actions);
    tcase_add_test(tests, repeated_events_outside_the_range);
    tcase_add_test(tests, any_budget);
    tcase_add_test(tests, sizes_beyond_62_bits);
    tcase_add_test(tests, huge_sizes);
    return tests;
}
