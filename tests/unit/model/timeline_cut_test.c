/* Ranges of random traces against the same items of the whole. */
#include <stdlib.h>
#include <string.h>

#include "unit/model/model.h"
#include "unit/model/random_script.h"
#include "unit/unit.h"

#define TRACES 4000

#define MUST(condition, seed)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("seed %llu: %s", (unsigned long long)(seed), #condition);                 \
    } while (0)

static struct script script;
static uint64_t seed;

static struct point random_point(struct dice *dice)
{
    switch (dice_roll(dice, 4)) {
    case 0:
        return (struct point){POINT_EVENT, (int64_t)dice_roll(dice, 70)};
    case 1:
        return (struct point){POINT_OFFSET, (int64_t)dice_roll(dice, 300)};
    case 2:
        return (struct point){POINT_TIME, 5000 + (int64_t)dice_roll(dice, 400)};
    default:
        return (struct point){POINT_OPEN, 0};
    }
}

static bool at_or_after(const struct trace *whole, size_t event, struct point point)
{
    int64_t time = trace_time(whole, event);
    if (point.kind == POINT_EVENT)
        return (int64_t)event >= point.value;
    if (time == TIME_NONE || point.kind == POINT_OPEN)
        return false;
    if (point.kind == POINT_TIME)
        return time >= point.value;
    size_t first = 0;
    while (trace_time(whole, first) == TIME_NONE)
        first++;
    return time - trace_time(whole, first) >= point.value;
}

static void expected_range(const struct trace *whole, const struct window *window, size_t *from,
                           size_t *to)
{
    *from = 0;
    if (window->from.kind != POINT_OPEN) {
        while (*from < whole->count && !at_or_after(whole, *from, window->from))
            (*from)++;
    }
    *to = *from;
    while (*to < whole->count && !at_or_after(whole, *to, window->to))
        (*to)++;
}

static int by_live(const void *a, const void *b)
{
    const struct live *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

static void check_item(const struct timeline *whole, const struct timeline *cut, int64_t offset,
                       int64_t item)
{
    struct moment want, got;
    struct live_list want_live, got_live;
    struct error err;
    timeline_moment(whole, offset + item, &want);
    timeline_moment(cut, item, &got);
    MUST(got.active_bytes == want.active_bytes, seed);
    MUST(got.allocated_bytes == want.allocated_bytes, seed);
    MUST(got.reserved_bytes == want.reserved_bytes, seed);
    MUST(timeline_live(whole, offset + item, &want_live, &err), seed);
    MUST(timeline_live(cut, item, &got_live, &err), seed);
    MUST(got_live.unexplained_bytes == want_live.unexplained_bytes, seed);
    MUST(got_live.count == want_live.count, seed);
    qsort(want_live.items, want_live.count, sizeof(*want_live.items), by_live);
    qsort(got_live.items, got_live.count, sizeof(*got_live.items), by_live);
    for (size_t i = 0; i < want_live.count; i++)
        MUST(by_live(&want_live.items[i], &got_live.items[i]) == 0, seed);
    live_list_release(&want_live);
    live_list_release(&got_live);
}

/* The curve over the items of the range alone. */
static void check_peak(const struct timeline *cut)
{
    struct moment moment;
    timeline_moment(cut, -1, &moment);
    struct curve active = {moment.active_bytes, moment.active_bytes, moment.active_bytes, -1};
    int64_t reserved_at_peak = moment.reserved_bytes;
    for (int64_t item = 0; item < (int64_t)cut->trace->count; item++) {
        timeline_moment(cut, item, &moment);
        active.end_bytes = moment.active_bytes;
        if (moment.active_bytes > active.peak_bytes) {
            active.peak_bytes = moment.active_bytes;
            active.peak_event = item;
            reserved_at_peak = moment.reserved_bytes;
        }
    }
    MUST(memcmp(&active, &cut->active, sizeof(active)) == 0, seed);
    MUST(cut->reserved.at_active_peak_bytes == reserved_at_peak, seed);
    MUST(cut->reserved.end_bytes == moment.reserved_bytes, seed);
}

static uint32_t shifted(uint32_t item, size_t from, size_t to)
{
    return item < to ? item - (uint32_t)from : EVENT_NEVER;
}

static void check_lifetimes(const struct timeline *whole, const struct timeline *cut, size_t from,
                            size_t to)
{
    size_t next = 0;
    for (size_t i = 0; i < whole->lifetime_count; i++) {
        struct lifetime want = whole->lifetimes[i];
        if (want.alloc < from || want.alloc >= to)
            continue;
        want =
            (struct lifetime){shifted(want.alloc, from, to), shifted(want.free_requested, from, to),
                              shifted(want.free_completed, from, to)};
        MUST(next < cut->lifetime_count, seed);
        MUST(memcmp(&want, &cut->lifetimes[next++], sizeof(want)) == 0, seed);
    }
    MUST(next == cut->lifetime_count, seed);
}

static void check_edge(const struct trace *whole, const struct trace *cut)
{
    for (size_t i = 0; i < cut->edge.held_count; i++) {
        const struct edge_allocation *held = &cut->edge.held[i];
        MUST(held->event < cut->first_event, seed);
        MUST(i == 0 || held[-1].event < held->event, seed);
        MUST(whole->action[held->event] == ACTION_ALLOC, seed);
        MUST(trace_addr(whole, held->event) == held->addr, seed);
        MUST(trace_size(whole, held->event) == held->size, seed);
        MUST(whole->stack[held->event] == held->stack, seed);
        MUST(trace_time(whole, held->event) == held->time_us, seed);
        MUST(!held->free_completed || !held->free_requested, seed);
    }
}

static void check_device(const struct snapshot *whole, const struct snapshot *cut, uint32_t device,
                         const struct window *window)
{
    struct timeline *whole_line = script_timeline(whole, device);
    struct timeline *cut_line = script_timeline(cut, device);
    const struct trace *trace = cut_line->trace;
    size_t from, to;
    expected_range(whole_line->trace, window, &from, &to);
    MUST(trace->first_event == from, seed);
    MUST(trace->count == to - from, seed);
    MUST(trace->file_events == whole_line->trace->count, seed);
    MUST(trace->edge.skipped_before == from, seed);
    MUST(trace->edge.skipped_after == whole_line->trace->count - to, seed);
    MUST(memcmp(&whole_line->state, &cut_line->state, sizeof(cut_line->state)) == 0, seed);
    MUST(memcmp(&whole_line->flaws, &cut_line->flaws, sizeof(cut_line->flaws)) == 0, seed);
    for (int64_t item = -1; item < (int64_t)trace->count; item++)
        check_item(whole_line, cut_line, (int64_t)from, item);
    check_peak(cut_line);
    check_lifetimes(whole_line, cut_line, from, to);
    check_edge(whole_line->trace, trace);
    timeline_destroy(whole_line);
    timeline_destroy(cut_line);
}

/* A window may be refused only if no device has an event in the range. Returns whether it was
 * accepted. */
static bool check_window(const struct snapshot *whole, const struct window *window)
{
    struct error err;
    struct snapshot *cut = script_load(&script, window, 0, &err);
    if (!cut) {
        MUST(err.status == STATUS_USAGE, seed);
        for (size_t d = 0; d < whole->trace_count; d++) {
            size_t from, to;
            expected_range(&whole->traces[d], window, &from, &to);
            MUST(from == to, seed);
        }
        return false;
    }
    for (uint32_t d = 0; d < script.devices; d++)
        check_device(whole, cut, d, window);
    snapshot_destroy(cut);
    return true;
}

static void check_traces(void (*make)(struct dice *, struct script *))
{
    size_t kept = 0;
    for (seed = 1; seed <= unit_share(TRACES); seed++) {
        struct dice dice = dice_init(seed);
        make(&dice, &script);
        struct window window = {random_point(&dice), random_point(&dice)};
        struct snapshot *whole = script_must_load(&script, NULL);
        kept += check_window(whole, &window);
        snapshot_destroy(whole);
    }
    ck_assert_uint_gt(kept, unit_share(TRACES) / 4);
}

START_TEST(valid_ranges_equal_the_whole)
{
    check_traces(random_valid_script);
}
END_TEST

START_TEST(wild_ranges_equal_the_whole)
{
    check_traces(random_wild_script);
}
END_TEST

START_TEST(a_moment_between_events)
{
    script_init(&script);
    script_event(&script, ACTION_ALLOC, 1, 100);
    script_event(&script, ACTION_ALLOC, 2, 10)->time_us = 5000;
    script.device = 1;
    script.devices = 2;
    script_event(&script, ACTION_ALLOC, 3, 1)->time_us = 2000;
    struct window window = {{POINT_TIME, 1500}, {POINT_TIME, 3000}};
    struct snapshot *cut = script_must_load(&script, &window);
    struct timeline *timeline = script_timeline(cut, 0);
    ck_assert_uint_eq(timeline->trace->count, 0);
    ck_assert_uint_eq(timeline->trace->first_event, 1);
    ck_assert_int_eq(timeline->active.baseline_bytes, 100);
    timeline_destroy(timeline);
    snapshot_destroy(cut);
}
END_TEST

START_TEST(a_range_beside_the_trace_is_refused)
{
    script_init(&script);
    script_event(&script, ACTION_ALLOC, 1, 100)->time_us = TIME_NONE;
    struct error err;
    struct window late = {{POINT_EVENT, 1}, {POINT_OPEN, 0}};
    struct window timed = {{POINT_OFFSET, 0}, {POINT_OPEN, 0}};
    ck_assert_ptr_null(script_load(&script, &late, 0, &err));
    ck_assert_int_eq(err.status, STATUS_USAGE);
    ck_assert_str_eq(err.text, "no event lies in the range: device 0 has the events 0 to 0");
    ck_assert_ptr_null(script_load(&script, &timed, 0, &err));
    ck_assert_int_eq(err.status, STATUS_USAGE);
    ck_assert_str_eq(err.text, "the events carry no time: give the range as event numbers");
}
END_TEST

TCase *timeline_cut_tests(void)
{
    TCase *tests = tcase_create("timeline of a range");
    tcase_add_test(tests, valid_ranges_equal_the_whole);
    tcase_add_test(tests, wild_ranges_equal_the_whole);
    tcase_add_test(tests, a_moment_between_events);
    tcase_add_test(tests, a_range_beside_the_trace_is_refused);
    return tests;
}
