/* Small traces with the numbers worked out by hand. */
#include "model/timeline.h"

#include <stdlib.h>

#include "unit/model/model.h"
#include "unit/model/script.h"

static struct script script;
static struct snapshot *snapshot;
static struct timeline *timeline;
static struct error err;

static void create(void)
{
    script_init(&script);
    snapshot = NULL;
    timeline = NULL;
}

static void destroy(void)
{
    timeline_destroy(timeline);
    snapshot_destroy(snapshot);
}

static void build(uint32_t device)
{
    timeline_destroy(timeline);
    if (!snapshot)
        snapshot = script_must_load(&script, NULL);
    timeline = script_timeline(snapshot, device);
}

static void check_curve(const struct curve *curve, int64_t baseline, int64_t peak,
                        int64_t peak_event, int64_t end)
{
    ck_assert_int_eq(curve->baseline_bytes, baseline);
    ck_assert_int_eq(curve->peak_bytes, peak);
    ck_assert_int_eq(curve->peak_event, peak_event);
    ck_assert_int_eq(curve->end_bytes, end);
}

/* The sum of live bytes after `item`, and the excess of the curve over it. */
static void check_live(int64_t item, size_t count, int64_t bytes, int64_t unexplained)
{
    struct live_list list;
    int64_t sum = 0;
    ck_assert(timeline_live(timeline, item, &list, &err));
    for (size_t i = 0; i < list.count; i++)
        sum += (int64_t)list.items[i].size;
    ck_assert_uint_eq(list.count, count);
    ck_assert_int_eq(sum, bytes);
    ck_assert_int_eq(list.unexplained_bytes, unexplained);
    live_list_release(&list);
}

START_TEST(a_life)
{
    script_event(&script, ACTION_SEGMENT_ALLOC, 4096, 1000);
    script_event(&script, ACTION_ALLOC, 4096, 100);
    script_event(&script, ACTION_ALLOC, 4296, 50);
    script_event(&script, ACTION_FREE_REQUESTED, 4096, 100);
    script_event(&script, ACTION_ALLOC, 4396, 30);
    script_event(&script, ACTION_FREE_COMPLETED, 4096, 100);
    script_segment(&script, 1000);
    script_block(&script, 4096, 200, 100, BLOCK_INACTIVE);
    script_block(&script, 4296, 100, 50, BLOCK_ACTIVE_ALLOCATED);
    script_block(&script, 4396, 64, 30, BLOCK_ACTIVE_ALLOCATED);
    script_block(&script, 4460, 636, 0, BLOCK_INACTIVE);
    build(0);
    check_curve(&timeline->active, 0, 180, 4, 80);
    check_curve(&timeline->allocated, 0, 150, 2, 80);
    ck_assert_int_eq(timeline->reserved.start_bytes, 0);
    ck_assert_int_eq(timeline->reserved.peak_bytes, 1000);
    ck_assert_int_eq(timeline->reserved.peak_event, 0);
    ck_assert_int_eq(timeline->reserved.end_bytes, 1000);
    ck_assert_int_eq(timeline->reserved.at_active_peak_bytes, 1000);
    ck_assert_uint_eq(timeline->lifetime_count, 3);
    ck_assert_uint_eq(timeline->lifetimes[0].alloc, 1);
    ck_assert_uint_eq(timeline->lifetimes[0].free_requested, 3);
    ck_assert_uint_eq(timeline->lifetimes[0].free_completed, 5);
    ck_assert_uint_eq(timeline->lifetimes[2].free_completed, EVENT_NEVER);
    ck_assert_uint_eq(timeline->preexisting_count, 0);
    ck_assert_uint_eq(timeline->by_action[ACTION_ALLOC], 3);
    ck_assert_int_eq(timeline->flaws.active_minus_dump_bytes, 0);
    check_live(-1, 0, 0, 0);
    check_live(1, 1, 100, 0);
    check_live(4, 3, 180, 0);
    check_live(5, 2, 80, 0);
    check_live(1000, 2, 80, 0);
}
END_TEST

START_TEST(the_dump)
{
    script_segment(&script, 2048);
    script_block(&script, 0, 512, 500, BLOCK_ACTIVE_ALLOCATED);
    script_block(&script, 512, 1024, 600, BLOCK_ACTIVE_PENDING_FREE);
    script_block(&script, 1536, 512, 0, BLOCK_INACTIVE);
    script_segment(&script, 100);
    script_block(&script, 5000, 100, 9000, BLOCK_INACTIVE);
    build(0);
    const struct memory_state *state = &timeline->state;
    ck_assert_uint_eq(state->segments, 2);
    ck_assert_uint_eq(state->blocks, 4);
    ck_assert_uint_eq(state->reserved_bytes, 2148);
    ck_assert_uint_eq(state->allocated_bytes, 512);
    ck_assert_uint_eq(state->active_bytes, 1536);
    ck_assert_uint_eq(state->requested_bytes, 1100);
    ck_assert_int_eq(state->rounding_bytes, 436);
    ck_assert_uint_eq(state->inactive_bytes, 612);
    ck_assert_uint_eq(state->largest_inactive_block_bytes, 512);
    ck_assert_uint_eq(state->untold_bytes, 0);
    ck_assert_uint_eq(state->excess_bytes, 0);
    check_curve(&timeline->active, 1100, 1100, -1, 1100);
    check_curve(&timeline->allocated, 500, 500, -1, 500);
    check_live(-1, 2, 1100, 0);
    ck_assert_int_eq(timeline->preexisting[0].origin, ORIGIN_BLOCK);
    ck_assert_uint_ne(timeline->preexisting[0].stack, STACK_NONE);
}
END_TEST

START_TEST(blocks_that_are_not_their_segment)
{
    script_segment(&script, 2048);
    script_block(&script, 0, 512, 500, BLOCK_ACTIVE_ALLOCATED);
    script_segment(&script, 100);
    script_block(&script, 5000, 150, 0, BLOCK_INACTIVE);
    script_block(&script, 5150, 20, 20, BLOCK_ACTIVE_PENDING_FREE);
    script_segment(&script, 4);
    build(0);
    ck_assert_uint_eq(timeline->state.untold_bytes, 1536 + 4);
    ck_assert_uint_eq(timeline->state.excess_bytes, 70);
}
END_TEST

START_TEST(more_requested_than_there_is)
{
    script_segment(&script, 10);
    script_block(&script, 0, 10, 30, BLOCK_ACTIVE_ALLOCATED);
    build(0);
    ck_assert_int_eq(timeline->state.rounding_bytes, -20);
}
END_TEST

/* Four blocks from before the trace: kept, freed whole, freed by half, requested before it. */
START_TEST(from_before_the_trace)
{
    script_event(&script, ACTION_FREE_REQUESTED, 2, 20);
    script_event(&script, ACTION_FREE_COMPLETED, 4, 80);
    script_event(&script, ACTION_FREE_COMPLETED, 2, 20);
    script_event(&script, ACTION_FREE_REQUESTED, 3, 40);
    script_segment(&script, 1000);
    script_block(&script, 1, 100, 10, BLOCK_ACTIVE_ALLOCATED);
    script_block(&script, 3, 100, 40, BLOCK_ACTIVE_PENDING_FREE);
    build(0);
    check_curve(&timeline->active, 150, 150, -1, 50);
    check_curve(&timeline->allocated, 70, 70, -1, 10);
    ck_assert_uint_eq(timeline->preexisting_count, 4);
    const struct preexisting *whole = &timeline->preexisting[0],
                             *requested = &timeline->preexisting[1],
                             *half = &timeline->preexisting[2], *kept = &timeline->preexisting[3];
    ck_assert_int_eq(whole->origin, ORIGIN_FREED);
    ck_assert(whole->in_active && whole->in_allocated);
    ck_assert_uint_eq(whole->free_requested, 0);
    ck_assert_uint_eq(whole->free_completed, 2);
    ck_assert_int_eq(requested->origin, ORIGIN_FREED);
    ck_assert(requested->in_active && !requested->in_allocated);
    ck_assert_int_eq(half->origin, ORIGIN_BLOCK);
    ck_assert(half->in_active && half->in_allocated);
    ck_assert_uint_ne(half->stack, STACK_NONE);
    ck_assert_uint_eq(half->free_requested, 3);
    ck_assert_uint_eq(half->free_completed, EVENT_NEVER);
    ck_assert_int_eq(kept->origin, ORIGIN_BLOCK);
    ck_assert_uint_eq(kept->free_requested, EVENT_NEVER);
    ck_assert_int_eq(timeline->flaws.active_minus_dump_bytes, 0);
    check_live(-1, 4, 150, 0);
    check_live(3, 2, 50, 0);
}
END_TEST

START_TEST(an_address_allocated_twice)
{
    script_event(&script, ACTION_ALLOC, 1, 100);
    script_event(&script, ACTION_ALLOC, 1, 10);
    script_event(&script, ACTION_FREE_REQUESTED, 1, 10);
    script_event(&script, ACTION_FREE_COMPLETED, 1, 10);
    script_event(&script, ACTION_FREE_COMPLETED, 1, 100);
    build(0);
    check_curve(&timeline->active, 100, 210, 1, 100);
    check_curve(&timeline->allocated, 0, 110, 1, 100);
    ck_assert_uint_eq(timeline->flaws.reallocated, 1);
    ck_assert_uint_eq(timeline->flaws.size_changed, 0);
    ck_assert_int_eq(timeline->flaws.active_minus_dump_bytes, 100);
    ck_assert_uint_eq(timeline->lifetimes[0].free_completed, EVENT_NEVER);
    ck_assert_uint_eq(timeline->lifetimes[1].free_completed, 3);
    ck_assert_int_eq(timeline->preexisting[0].origin, ORIGIN_FREED);
    check_live(1, 3, 210, 0);
    check_live(4, 1, 100, 0);
}
END_TEST

START_TEST(a_free_of_another_size)
{
    script_event(&script, ACTION_ALLOC, 1, 100);
    script_event(&script, ACTION_FREE_REQUESTED, 1, 100);
    script_event(&script, ACTION_FREE_COMPLETED, 1, 70);
    script_event(&script, ACTION_ALLOC, 2, 5);
    build(0);
    check_curve(&timeline->active, 0, 100, 0, 35);
    ck_assert_uint_eq(timeline->flaws.size_changed, 1);
    check_live(0, 1, 100, 0);
    check_live(2, 0, 0, 30);
    check_live(3, 1, 5, 30);
}
END_TEST

START_TEST(blocks_that_claim_one_address)
{
    script_segment(&script, 1000);
    script_block(&script, 1, 100, 60, BLOCK_ACTIVE_ALLOCATED);
    script_block(&script, 1, 100, 50, BLOCK_ACTIVE_PENDING_FREE);
    build(0);
    check_curve(&timeline->active, 50, 50, -1, 50);
    check_curve(&timeline->allocated, 60, 60, -1, 60);
    ck_assert_uint_eq(timeline->state.requested_bytes, 110);
}
END_TEST

START_TEST(memory_mapped_and_unmapped)
{
    script_event(&script, ACTION_SEGMENT_MAP, 0, 20);
    script_event(&script, ACTION_SEGMENT_UNMAP, 0, 50);
    script_event(&script, ACTION_SEGMENT_FREE, 0, 5);
    script_event(&script, ACTION_ALLOC, 0, 7);
    script_event(&script, ACTION_SEGMENT_ALLOC, 0, 5);
    script_segment(&script, 100);
    build(0);
    ck_assert_int_eq(timeline->reserved.start_bytes, 130);
    ck_assert_int_eq(timeline->reserved.peak_bytes, 150);
    ck_assert_int_eq(timeline->reserved.peak_event, 0);
    ck_assert_int_eq(timeline->reserved.at_active_peak_bytes, 95);
    ck_assert_int_eq(timeline->reserved.end_bytes, 100);
}
END_TEST

START_TEST(other_events_count_for_nothing)
{
    script_event(&script, ACTION_OOM, 12345, 1 << 30);
    script_event(&script, ACTION_SNAPSHOT, 0, 77);
    script_event(&script, ACTION_WORKSPACE_SNAPSHOT, 0, 77);
    script_event(&script, ACTION_OTHER, 0, UINT64_MAX)->action_name = 1;
    build(0);
    check_curve(&timeline->active, 0, 0, -1, 0);
    check_curve(&timeline->allocated, 0, 0, -1, 0);
    ck_assert_uint_eq(timeline->by_action[ACTION_OOM], 1);
    ck_assert_uint_eq(timeline->by_action[ACTION_OTHER], 1);
    ck_assert_uint_eq(timeline->lifetime_count, 0);
    check_live(3, 0, 0, 0);
}
END_TEST

START_TEST(devices_are_apart)
{
    script.devices = 2;
    script_event(&script, ACTION_ALLOC, 1, 100);
    script_segment(&script, 1000);
    script.device = 1;
    script_event(&script, ACTION_FREE_COMPLETED, 1, 7);
    script_segment(&script, 50);
    script_block(&script, 1, 50, 40, BLOCK_ACTIVE_ALLOCATED);
    build(0);
    check_curve(&timeline->active, 0, 100, 0, 100);
    ck_assert_int_eq(timeline->reserved.end_bytes, 1000);
    build(1);
    check_curve(&timeline->active, 47, 47, -1, 40);
    ck_assert_int_eq(timeline->reserved.end_bytes, 50);
    ck_assert_uint_eq(timeline->device, 1);
}
END_TEST

START_TEST(a_device_without_a_trace)
{
    script.devices = 0;
    script.device = 5;
    script_segment(&script, 1000);
    script_block(&script, 64, 1000, 900, BLOCK_ACTIVE_ALLOCATED);
    build(5);
    ck_assert_uint_eq(timeline->trace->count, 0);
    ck_assert_uint_eq(timeline->trace->device, 5);
    check_curve(&timeline->active, 900, 900, -1, 900);
    check_live(-1, 1, 900, 0);
    build(6);
    check_curve(&timeline->active, 0, 0, -1, 0);
}
END_TEST

TCase *timeline_tests(void)
{
    TCase *tests = tcase_create("timeline");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_life);
    tcase_add_test(tests, the_dump);
    tcase_add_test(tests, blocks_that_are_not_their_segment);
    tcase_add_test(tests, more_requested_than_there_is);
    tcase_add_test(tests, from_before_the_trace);
    tcase_add_test(tests, an_address_allocated_twice);
    tcase_add_test(tests, a_free_of_another_size);
    tcase_add_test(tests, blocks_that_claim_one_address);
    tcase_add_test(tests, memory_mapped_and_unmapped);
    tcase_add_test(tests, other_events_count_for_nothing);
    tcase_add_test(tests, devices_are_apart);
    tcase_add_test(tests, a_device_without_a_trace);
    return tests;
}
