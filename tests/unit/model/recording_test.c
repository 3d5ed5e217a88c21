/* Kinds of events that were not recorded are distinguished from damage. */
#include "model/recording.h"

#include "unit/model/model.h"
#include "unit/model/script.h"

#define TURNS 10

static struct script script;

/* Allocates and frees at one address, TURNS times, leaving out the actions in `skipped`; then
 * allocates at another one, which stays. */
static void record(uint32_t device, uint32_t skipped)
{
    static const enum action turn[] = {ACTION_ALLOC, ACTION_FREE_REQUESTED, ACTION_FREE_COMPLETED};
    script.device = device;
    script_event(&script, ACTION_SEGMENT_ALLOC, 1000, 400);
    for (size_t i = 0; i < 3 * TURNS; i++)
        if (!(skipped & ACTION_BIT(turn[i % 3])))
            script_event(&script, turn[i % 3], 1000, 100);
    if (!(skipped & ACTION_BIT(ACTION_ALLOC)))
        script_event(&script, ACTION_ALLOC, 1200, 30);
    script_segment(&script, 400);
    script_block(&script, 1000, 200, 0, BLOCK_INACTIVE);
    script_block(&script, 1200, 200, 30, BLOCK_ACTIVE_ALLOCATED);
}

static void check(uint32_t skipped, uint32_t found, int64_t peak, int64_t end)
{
    script_init(&script);
    script.devices = 1;
    record(0, skipped);
    struct snapshot *snapshot = script_must_load(&script, NULL);
    struct timeline *timeline = script_timeline(snapshot, 0);
    ck_assert_uint_eq(timeline->trace->unrecorded, found);
    ck_assert_int_eq(timeline->active.peak_bytes, peak);
    ck_assert_int_eq(timeline->active.end_bytes, end);
    ck_assert_int_eq(timeline->allocated.end_bytes, end);
    ck_assert_uint_eq(timeline->flaws.reallocated, 0);
    ck_assert_int_eq(timeline->flaws.active_minus_dump_bytes, 0);
    timeline_destroy(timeline);
    snapshot_destroy(snapshot);
}

#define ALLOCS    ACTION_BIT(ACTION_ALLOC)
#define REQUESTS  ACTION_BIT(ACTION_FREE_REQUESTED)
#define COMPLETES ACTION_BIT(ACTION_FREE_COMPLETED)

START_TEST(one_kind_of_free_stands_for_both)
{
    check(0, 0, 100, 30);
    check(COMPLETES, COMPLETES, 100, 30);
    check(REQUESTS, REQUESTS, 100, 30);
}
END_TEST

START_TEST(without_allocs_only_the_dump_is_known)
{
    check(ALLOCS, ALLOCS, 30, 30);
    check(ALLOCS | COMPLETES, ALLOCS | COMPLETES, 30, 30);
    check(ALLOCS | REQUESTS, ALLOCS | REQUESTS, 30, 30);
    check(REQUESTS | COMPLETES, REQUESTS | COMPLETES, 30, 30);
}
END_TEST

/* The figures by the definitions stay available. */
START_TEST(the_literal_curves_never_fall)
{
    script_init(&script);
    script.devices = 1;
    record(0, COMPLETES);
    struct snapshot *snapshot = script_must_load(&script, NULL);
    struct timeline *timeline = script_timeline(snapshot, 0);
    ck_assert_int_eq(timeline->literal.active.peak_bytes, 100 * TURNS + 30);
    ck_assert_int_eq(timeline->literal.allocated.peak_bytes, 100);
    ck_assert_int_eq(timeline->literal.reserved_at_active_peak_bytes, 400);
    timeline_destroy(timeline);
    snapshot_destroy(snapshot);
}
END_TEST

/* A range of a trace shows it, too: by the events outside of the range, or by the dump. */
START_TEST(ranges_follow_the_whole)
{
    const struct window window = {{POINT_EVENT, 4}, {POINT_EVENT, 15}};
    script_init(&script);
    script.devices = 1;
    record(0, COMPLETES);
    struct snapshot *snapshot = script_must_load(&script, &window);
    struct timeline *timeline = script_timeline(snapshot, 0);
    ck_assert_uint_eq(timeline->trace->unrecorded, COMPLETES);
    ck_assert_int_eq(timeline->active.peak_bytes, 100);
    ck_assert_int_eq(timeline->active.baseline_bytes, 100);
    ck_assert_int_eq(timeline->active.end_bytes, 0);
    timeline_destroy(timeline);
    snapshot_destroy(snapshot);
}
END_TEST

/* A segment of 400 bytes of the dump, for which the trace reserves `size` bytes. */
static void record_segment(uint64_t size, enum block_state state)
{
    script_init(&script);
    script.devices = 1;
    script_event(&script, ACTION_SEGMENT_ALLOC, 1000, size);
    script_segment(&script, 400);
    script.segments[0].row.address = 1000;
    script_block(&script, 1000, 400, state == BLOCK_INACTIVE ? 0 : 400, state);
}

static void check_not_found(void)
{
    struct snapshot *snapshot = script_must_load(&script, NULL);
    struct timeline *timeline = script_timeline(snapshot, 0);
    ck_assert_uint_eq(timeline->trace->unrecorded, 0);
    timeline_destroy(timeline);
    snapshot_destroy(snapshot);
}

/* Frees that wait for a stream leave a trace without free_completed, and blocks that wait. */
START_TEST(pending_frees_are_no_proof)
{
    script_init(&script);
    script.devices = 1;
    script_segment(&script, 400);
    for (uint64_t i = 0; i < 20; i++) {
        script_event(&script, ACTION_ALLOC, 10 * i, 10);
        script_event(&script, ACTION_FREE_REQUESTED, 10 * i, 10);
        script_block(&script, 10 * i, 10, 10, BLOCK_ACTIVE_PENDING_FREE);
    }
    check_not_found();
}
END_TEST

/* A block that the trace allocated is missing in the dump. */
START_TEST(a_contradiction_refutes_it)
{
    script_init(&script);
    script.devices = 1;
    record(0, COMPLETES);
    script_event(&script, ACTION_ALLOC, 1300, 30);
    check_not_found();
}
END_TEST

START_TEST(few_proofs_are_not_enough)
{
    script_init(&script);
    script.devices = 1;
    script_event(&script, ACTION_ALLOC, 1, 30);
    script_event(&script, ACTION_FREE_REQUESTED, 1, 30);
    script_event(&script, ACTION_ALLOC, 1, 30);
    check_not_found();
}
END_TEST

/* A segment is reserved for an allocation, which is not there. */
START_TEST(segments_show_that_nothing_else_was_recorded)
{
    record_segment(400, BLOCK_ACTIVE_ALLOCATED);
    struct snapshot *snapshot = script_must_load(&script, NULL);
    struct timeline *timeline = script_timeline(snapshot, 0);
    ck_assert_uint_eq(timeline->trace->unrecorded, ALLOCS | REQUESTS | COMPLETES);
    ck_assert(!timeline_knows_peak(timeline));
    timeline_destroy(timeline);
    snapshot_destroy(snapshot);
    record_segment(400, BLOCK_INACTIVE);
    check_not_found();
    record_segment(300, BLOCK_ACTIVE_ALLOCATED); /* another segment */
    check_not_found();
}
END_TEST

TCase *recording_tests(void)
{
    TCase *tests = tcase_create("recording");
    tcase_add_test(tests, one_kind_of_free_stands_for_both);
    tcase_add_test(tests, without_allocs_only_the_dump_is_known);
    tcase_add_test(tests, segments_show_that_nothing_else_was_recorded);
    tcase_add_test(tests, the_literal_curves_never_fall);
    tcase_add_test(tests, ranges_follow_the_whole);
    tcase_add_test(tests, pending_frees_are_no_proof);
    tcase_add_test(tests, a_contradiction_refutes_it);
    tcase_add_test(tests, few_proofs_are_not_enough);
    return tests;
}
