/* The memory of a timeline is charged to the budget, and the sum of live bytes cannot overflow. */
#include "model/timeline.h"

#include "model/sums.h"
#include "unit/model/model.h"
#include "unit/model/script.h"

#define MANY 200
#define HALF (UINT64_C(1) << 61)

static struct script script;
static struct error err;

static void many_allocations(void)
{
    script_init(&script);
    script_segment(&script, MANY * 512);
    for (uint64_t i = 0; i < MANY; i++)
        script_event(&script, ACTION_ALLOC, 4096 + i * 512, 512);
    script_event(&script, ACTION_FREE_COMPLETED, 1, 7);
}

START_TEST(all_is_counted_and_given_back)
{
    many_allocations();
    struct snapshot *snapshot = script_must_load(&script, NULL);
    size_t before = snapshot->budget->used;
    struct timeline *timeline = script_timeline(snapshot, 0);
    struct live_list list;
    size_t least = MANY * sizeof(*timeline->lifetimes) + sizeof(*timeline->preexisting);
    size_t built = snapshot->budget->used;
    ck_assert_uint_ge(built, before + least);
    ck_assert(timeline_live(timeline, MANY - 1, &list, &err));
    ck_assert_uint_eq(list.count, MANY + 1);
    ck_assert_uint_ge(snapshot->budget->used, built + MANY * sizeof(*list.items));
    live_list_release(&list);
    ck_assert_uint_eq(snapshot->budget->used, built);
    timeline_destroy(timeline);
    ck_assert_uint_eq(snapshot->budget->used, before);
    snapshot_destroy(snapshot);
}
END_TEST

/* With any budget below the need, STATUS_LIMIT is reported, and nothing stays charged. */
START_TEST(the_limit_holds)
{
    many_allocations();
    struct snapshot *snapshot = script_must_load(&script, NULL);
    struct timeline *timeline = NULL;
    size_t before = snapshot->budget->used, refused = 0;
    for (size_t room = 0; !timeline; room += 256) {
        snapshot->budget->limit = before + room;
        timeline = timeline_build(snapshot, 0, &err);
        if (timeline)
            break;
        refused++;
        ck_assert_int_eq(err.status, STATUS_LIMIT);
        ck_assert_uint_eq(snapshot->budget->used, before);
    }
    /* The addresses that are live, each in a slot of a table that is at most half full. */
    ck_assert_uint_ge(refused * 256, MANY * 2 * 24);
    struct live_list list;
    snapshot->budget->limit = snapshot->budget->used;
    ck_assert(!timeline_live(timeline, MANY - 1, &list, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    timeline_destroy(timeline);
    snapshot_destroy(snapshot);
}
END_TEST

/* The curve stays low, because a free of another address subtracts the same size. */
static void more_than_fits(uint64_t size)
{
    script_init(&script);
    for (uint64_t i = 0; i < 2; i++) {
        script_event(&script, ACTION_ALLOC, 4096 * (i + 1), size);
        script_event(&script, ACTION_FREE_REQUESTED, 4096 * (i + 1), size);
        script_event(&script, ACTION_ALLOC, 1 << 20, 1);
        script_event(&script, ACTION_FREE_COMPLETED, 1 << 20, size);
    }
}

START_TEST(a_list_that_sums_beyond_62_bits_is_refused)
{
    struct live_list list;
    more_than_fits(HALF);
    struct snapshot *snapshot = script_must_load(&script, NULL);
    struct timeline *timeline = script_timeline(snapshot, 0);
    ck_assert(timeline_live(timeline, 3, &list, &err));
    live_list_release(&list);
    size_t used = snapshot->budget->used;
    ck_assert(!timeline_live(timeline, 7, &list, &err));
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    ck_assert_uint_eq(snapshot->budget->used, used);
    timeline_destroy(timeline);
    snapshot_destroy(snapshot);

    more_than_fits(HALF - 1);
    snapshot = script_must_load(&script, NULL);
    timeline = script_timeline(snapshot, 0);
    ck_assert(timeline_live(timeline, 7, &list, &err));
    ck_assert_uint_eq(list.count, 2);
    ck_assert_int_eq(list.unexplained_bytes, 2 - LARGEST_SUM + 1);
    live_list_release(&list);
    timeline_destroy(timeline);
    snapshot_destroy(snapshot);
}
END_TEST

TCase *timeline_bounds_tests(void)
{
    TCase *tests = tcase_create("timeline_bounds");
    tcase_add_test(tests, all_is_counted_and_given_back);
    tcase_add_test(tests, the_limit_holds);
    tcase_add_test(tests, a_list_that_sums_beyond_62_bits_is_refused);
    return tests;
}
