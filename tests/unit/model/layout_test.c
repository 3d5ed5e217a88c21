/* Compares the layout at every moment of random traces with the state of the allocator. */
#include "model/layout.h"

#include <stdlib.h>
#include <string.h>

#include "unit/model/model.h"
#include "unit/model/toy_allocator.h"
#include "unit/unit.h"

#define TRACES      150
#define WILD_TRACES 500
#define MOST        (TOY_REGIONS * TOY_CELLS)
#define LEAST_GAP   (UINT64_C(1) << 20)

#define MUST(condition, seed)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("seed %llu: %s", (unsigned long long)(seed), #condition);                 \
    } while (0)

struct seen {
    struct layout_segment segments[MOST];
    size_t segment_count;
    struct layout_span spans[MOST];
    size_t span_count;
};

static bool see(void *self, const struct layout_segment *segment, struct error *err)
{
    struct seen *seen = self;
    (void)err;
    unit_assert(seen->segment_count < MOST);
    unit_assert(seen->span_count + segment->span_count <= MOST);
    seen->segments[seen->segment_count++] = *segment;
    for (size_t i = 0; i < segment->span_count; i++)
        seen->spans[seen->span_count++] = segment->spans[i];
    return true;
}

static void expect(const struct toy_region *regions, struct seen *want)
{
    static const enum span_state states[] = {SPAN_HOLE, SPAN_HOLE, SPAN_ALLOCATED, SPAN_PENDING};
    *want = (struct seen){.segment_count = 0};
    for (size_t r = 0; r < TOY_REGIONS; r++) {
        const struct toy_region *region = &regions[r];
        struct layout_segment *open = NULL;
        for (size_t i = 0; i < region->count; i++) {
            const struct toy_cell *cell = &region->cells[i];
            if (cell->state == TOY_UNMAPPED) {
                open = NULL;
                continue;
            }
            if (!open) {
                open = &want->segments[want->segment_count++];
                *open = (struct layout_segment){.address = cell->addr,
                                                .stream = region->stream,
                                                .is_small = region->small,
                                                .is_expandable = region->expandable};
            }
            open->size += cell->size;
            open->span_count++;
            want->spans[want->span_count++] = (struct layout_span){
                .addr = cell->addr,
                .size = cell->size,
                .requested = cell->state == TOY_FREE ? 0 : cell->requested,
                .state = states[cell->state],
            };
        }
    }
}

static void compare_segments(const struct seen *got, const struct seen *want, uint64_t seed)
{
    MUST(got->segment_count == want->segment_count, seed);
    for (size_t i = 0; i < got->segment_count; i++) {
        const struct layout_segment *a = &got->segments[i], *b = &want->segments[i];
        MUST(a->address == b->address && a->size == b->size && a->stream == b->stream, seed);
        MUST(a->is_small == b->is_small && a->is_expandable == b->is_expandable, seed);
    }
}

/* Returns the bytes by which blocks came out smaller than they were. */
static uint64_t compare_spans(const struct seen *got, const struct seen *want, uint64_t seed)
{
    uint64_t missed = 0;
    MUST(got->span_count == want->span_count, seed);
    for (size_t i = 0; i < got->span_count; i++) {
        const struct layout_span *a = &got->spans[i], *b = &want->spans[i];
        MUST(a->state == b->state && a->requested == b->requested, seed);
        if (a->state == SPAN_HOLE) {
            MUST(a->addr + a->size == b->addr + b->size && a->addr <= b->addr, seed);
            continue;
        }
        MUST(a->addr == b->addr && a->size <= b->size && b->size - a->size <= LEAST_GAP, seed);
        missed += b->size - a->size;
    }
    return missed;
}

static struct toy toy;
static struct seen got, want;

struct tally {
    uint64_t exact, unsure;
};

static void check_item(const struct timeline *timeline, int64_t item, uint64_t seed, bool exact,
                       struct tally *tally)
{
    const struct layout_visitor visitor = {&got, see};
    struct layout_doubts doubts;
    struct live_list live;
    struct error err;
    MUST(timeline_live(timeline, item, &live, &err), seed);
    got = (struct seen){.segment_count = 0};
    MUST(layout_at(timeline, item, live.items, live.count, exact, &visitor, &doubts, &err), seed);
    expect(toy.truth[item], &want);
    compare_segments(&got, &want, seed);
    uint64_t missed = compare_spans(&got, &want, seed);
    MUST(missed <= doubts.unsure_bytes, seed);
    MUST(doubts.stray_blocks == 0 && !doubts.after_range, seed);
    struct moment moment;
    timeline_moment(timeline, item, &moment);
    MUST((int64_t)doubts.reserved_bytes == moment.reserved_bytes, seed);
    tally->exact += exact && doubts.unsure_bytes == 0;
    tally->unsure += exact && doubts.unsure_bytes > 0;
    live_list_release(&live);
}

START_TEST(layouts_are_those_the_allocator_had)
{
    struct tally tally = {0};
    for (uint64_t seed = 1; seed <= unit_share(TRACES); seed++) {
        struct buffer json = BUFFER_INIT;
        struct load_options options = {0};
        struct error err;
        toy_init(&toy, seed);
        for (uint64_t before = dice_roll(&toy.dice, 2) * dice_roll(&toy.dice, 200); before > 0;
             before--)
            toy_step(&toy);
        toy.recording = true;
        while (toy.event_count + TOY_REGIONS + 8 < TOY_EVENTS)
            toy_step(&toy);
        toy_dump(&toy, &json);
        struct snapshot *snapshot = snapshot_load_memory(json.bytes, json.size, &options, &err);
        MUST(snapshot, seed);
        struct timeline *timeline = timeline_build(snapshot, 0, &err);
        MUST(timeline, seed);
        for (size_t i = 0; i < toy.event_count; i++) {
            check_item(timeline, (int64_t)i, seed, true, &tally);
            check_item(timeline, (int64_t)i, seed, false, &tally);
        }
        timeline_destroy(timeline);
        snapshot_destroy(snapshot);
        buffer_release(&json);
    }
    buffer_release(&toy.events);
    /* Most results must be exact, or the test would check nothing. */
    ck_assert_uint_gt(tally.exact, 4 * tally.unsure);
    ck_assert_uint_gt(tally.unsure, 0);
}
END_TEST

static bool see_tiled(void *self, const struct layout_segment *segment, struct error *err)
{
    uint64_t *end = self, at = segment->address;
    (void)err;
    unit_assert(segment->address >= *end);
    for (size_t i = 0; i < segment->span_count; i++) {
        unit_assert(segment->spans[i].addr == at);
        at += segment->spans[i].size;
    }
    unit_assert(at - segment->address == segment->size);
    *end = at;
    return true;
}

static struct script script;

START_TEST(layouts_of_contradictions_are_still_layouts)
{
    for (uint64_t seed = 1; seed <= unit_share(WILD_TRACES); seed++) {
        struct dice dice = dice_init(seed);
        random_wild_script(&dice, &script);
        for (size_t i = 0; i < script.event_count; i++)
            script.events[i].row.addr *= UINT64_MAX / 8;
        struct snapshot *snapshot = script_must_load(&script, NULL);
        struct timeline *timeline = script_timeline(snapshot, 0);
        for (int64_t item = -1; item < (int64_t)timeline->trace->count; item++) {
            uint64_t end = 0;
            const struct layout_visitor visitor = {&end, see_tiled};
            struct layout_doubts doubts;
            struct live_list live;
            struct error err;
            MUST(timeline_live(timeline, item, &live, &err), seed);
            MUST(layout_at(timeline, item, live.items, live.count, true, &visitor, &doubts, &err),
                 seed);
            live_list_release(&live);
        }
        timeline_destroy(timeline);
        snapshot_destroy(snapshot);
    }
}
END_TEST

TCase *layout_tests(void)
{
    TCase *tests = tcase_create("layout");
    tcase_add_test(tests, layouts_are_those_the_allocator_had);
    tcase_add_test(tests, layouts_of_contradictions_are_still_layouts);
    return tests;
}
