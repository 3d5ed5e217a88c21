/* Timelines of random traces against the definitions. */
#include <stdlib.h>
#include <string.h>

#include "unit/model/model.h"
#include "unit/model/random_script.h"
#include "unit/model/reference.h"
#include "unit/unit.h"

#define WILD_TRACES  4000
#define VALID_TRACES 1500

/* Check's own assertions write to a pipe each time, which millions of them cannot afford. */
#define MUST(condition, seed)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("seed %llu: %s", (unsigned long long)(seed), #condition);                 \
    } while (0)

struct piece {
    uint64_t addr, size;
};

static int by_piece(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

static bool same_pieces(struct piece *a, size_t a_count, struct piece *b, size_t b_count)
{
    if (a_count != b_count)
        return false;
    qsort(a, a_count, sizeof(*a), by_piece);
    qsort(b, b_count, sizeof(*b), by_piece);
    for (size_t i = 0; i < a_count; i++) {
        if (by_piece(&a[i], &b[i]) != 0)
            return false;
    }
    return true;
}

static void check_live(const struct timeline *timeline, const struct reference *want, int64_t item,
                       uint64_t seed)
{
    struct piece got_pieces[SCRIPT_EVENTS + SCRIPT_BLOCKS],
        want_pieces[SCRIPT_EVENTS + SCRIPT_BLOCKS];
    struct live_list list;
    struct error err;
    size_t wanted = 0;
    int64_t sum = 0;
    MUST(timeline_live(timeline, item, &list, &err), seed);
    for (size_t i = 0; i < list.count; i++) {
        got_pieces[i] = (struct piece){list.items[i].addr, list.items[i].size};
        sum += (int64_t)list.items[i].size;
    }
    for (size_t i = 0; i < want->entry_count; i++) {
        const struct reference_entry *entry = &want->entries[i];
        if (entry->from <= item && item < entry->to)
            want_pieces[wanted++] = (struct piece){entry->addr, entry->size};
    }
    MUST(same_pieces(got_pieces, list.count, want_pieces, wanted), seed);
    MUST(sum + list.unexplained_bytes == want->active_at[item + 1], seed);
    MUST(list.unexplained_bytes == 0 || want->size_changed > 0, seed);
    live_list_release(&list);
}

static void check_items(const struct timeline *timeline, const struct reference *want,
                        uint64_t seed)
{
    for (int64_t item = -1; item < (int64_t)timeline->trace->count; item++) {
        struct moment moment;
        timeline_moment(timeline, item, &moment);
        MUST(moment.item == item, seed);
        MUST(moment.active_bytes == want->active_at[item + 1], seed);
        MUST(moment.allocated_bytes == want->allocated_at[item + 1], seed);
        MUST(moment.reserved_bytes == want->reserved_at[item + 1], seed);
        check_live(timeline, want, item, seed);
    }
}

/* An allocation may be in only one of the curves. The sums of both must be right. */
static void check_allocated(const struct timeline *timeline, const struct reference *want,
                            uint64_t seed)
{
    const struct trace *trace = timeline->trace;
    int64_t baseline = 0, end = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        MUST(preexisting->in_active || preexisting->in_allocated, seed);
        baseline += preexisting->in_allocated ? (int64_t)preexisting->size : 0;
        if (preexisting->in_allocated && preexisting->free_requested == EVENT_NEVER)
            end += (int64_t)preexisting->size;
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        if (timeline->lifetimes[i].free_requested == EVENT_NEVER)
            end += (int64_t)trace_size(trace, timeline->lifetimes[i].alloc);
    }
    MUST(baseline == want->allocated.baseline_bytes, seed);
    MUST(end == want->allocated.end_bytes || want->size_changed, seed);
}

static void check_device(const struct timeline *timeline, const struct reference *want,
                         uint64_t seed)
{
    /* a wild trace may look like one without allocs and frees */
    const struct curve *active = &timeline->literal.active;
    const struct curve *allocated = &timeline->literal.allocated;
    struct reserved_curve reserved = timeline->reserved;
    reserved.at_active_peak_bytes = timeline->literal.reserved_at_active_peak_bytes;
    MUST(memcmp(active, &want->active, sizeof(want->active)) == 0, seed);
    MUST(memcmp(allocated, &want->allocated, sizeof(want->allocated)) == 0, seed);
    MUST(memcmp(&reserved, &want->reserved, sizeof(want->reserved)) == 0, seed);
    MUST(memcmp(&timeline->state, &want->state, sizeof(want->state)) == 0, seed);
    MUST(timeline->flaws.reallocated == want->reallocated, seed);
    MUST(timeline->flaws.size_changed == want->size_changed, seed);
    MUST(timeline->flaws.active_minus_dump_bytes ==
             want->active.end_bytes - (int64_t)want->state.requested_bytes,
         seed);
    check_items(timeline, want, seed);
    check_allocated(timeline, want, seed);
}

static struct script script;
static struct reference want;

START_TEST(wild_traces_follow_the_definitions)
{
    for (uint64_t seed = 1; seed <= unit_share(WILD_TRACES); seed++) {
        struct dice dice = dice_init(seed);
        random_wild_script(&dice, &script);
        struct snapshot *snapshot = script_must_load(&script, NULL);
        for (uint32_t device = 0; device < SCRIPT_DEVICES; device++) {
            struct timeline *timeline = script_timeline(snapshot, device);
            reference_compute(&script, device, &want);
            check_device(timeline, &want, seed);
            timeline_destroy(timeline);
        }
        snapshot_destroy(snapshot);
    }
}
END_TEST

START_TEST(valid_traces_add_up)
{
    for (uint64_t seed = 1; seed <= unit_share(VALID_TRACES); seed++) {
        struct dice dice = dice_init(seed);
        random_valid_script(&dice, &script);
        struct snapshot *snapshot = script_must_load(&script, NULL);
        for (uint32_t device = 0; device < script.devices; device++) {
            struct timeline *timeline = script_timeline(snapshot, device);
            reference_compute(&script, device, &want);
            check_device(timeline, &want, seed);
            MUST(timeline->flaws.reallocated == 0, seed);
            MUST(timeline->flaws.size_changed == 0, seed);
            MUST(timeline->flaws.active_minus_dump_bytes == 0, seed);
            timeline_destroy(timeline);
        }
        snapshot_destroy(snapshot);
    }
}
END_TEST

TCase *timeline_random_tests(void)
{
    TCase *tests = tcase_create("timeline of random traces");
    tcase_add_test(tests, wild_traces_follow_the_definitions);
    tcase_add_test(tests, valid_traces_add_up);
    return tests;
}
