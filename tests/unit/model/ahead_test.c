/* Timelines that a thread began while the trace was read are those built afterwards. */
#include <string.h>

#include "model/ahead.h"
#include "model/loader.h"
#include "unit/model/model.h"
#include "unit/model/random_script.h"

#define EVENTS (3 * AHEAD_AFTER + 1000)

static struct error err;

/* What the trace has besides allocations and frees of few addresses, which contradict each other
 * now and then. */
struct kind {
    bool wide;     /* sizes and addresses that take more than 32 bits */
    bool annotate; /* annotations of allocations */
    bool sorted;   /* one event has a time before the one ahead of it */
    bool no_frees; /* no free_completed: the loader finds that they were not recorded */
    bool devices;  /* a second device, with as many events */
    size_t budget; /* 0: the default */
};

static struct event_row random_event(struct dice *dice, const struct kind *kind)
{
    enum action action = (enum action)dice_roll(dice, ACTION_SEGMENT_UNMAP + 1);
    struct event_row row = {.action = action == ACTION_FREE_COMPLETED && kind->no_frees
                                          ? ACTION_FREE_REQUESTED
                                          : action,
                            .addr = 512 * (1 + dice_roll(dice, 4096)),
                            .size = 512 * (1 + dice_roll(dice, 8))};
    if (kind->wide && dice_roll(dice, 16) == 0)
        row.size += UINT64_C(5) << 32;
    if (kind->wide && dice_roll(dice, 16) == 0)
        row.addr += (UINT64_C(1) << 60) + 1;
    return row;
}

static void push(struct loader *loader, uint32_t device, const struct kind *kind)
{
    struct row_sink sink = loader_sink(loader);
    struct dice dice = dice_init(7 + device);
    string_id annotate, note;
    ck_assert(symbols_string(loader_symbols(loader), "annotate", 8, &annotate, &err));
    ck_assert(symbols_string(loader_symbols(loader), "note", 4, &note, &err));
    ck_assert(sink.trace(sink.self, device, &err));
    for (size_t i = 0; i < EVENTS; i++) {
        struct event_row row = random_event(&dice, kind);
        row.time_us = (int64_t)i * 10 - (kind->sorted && i == EVENTS / 2 ? 25 : 0);
        row.stack = (stack_id)(i % 100);
        if (kind->annotate && dice_roll(&dice, 50) == 0) {
            row.action = ACTION_OTHER;
            row.action_name = annotate;
            row.extra.user_metadata = note;
        }
        unit_assert(sink.event(sink.self, device, &row, &err));
    }
}

static struct snapshot *load(const struct kind *kind, bool ahead)
{
    const struct load_options options = {.ahead = ahead, .max_memory = kind->budget};
    struct loader *loader = loader_create(&options, &err);
    ck_assert_ptr_nonnull(loader);
    push(loader, 0, kind);
    if (kind->devices)
        push(loader, 1, kind);
    struct snapshot *snapshot = loader_finish(loader, &err);
    ck_assert_ptr_nonnull(snapshot);
    return snapshot;
}

static void check_same(const struct timeline *a, const struct timeline *b)
{
    ck_assert_uint_eq(a->lifetime_count, b->lifetime_count);
    ck_assert_uint_eq(a->preexisting_count, b->preexisting_count);
    ck_assert_uint_eq(a->note_count, b->note_count);
    ck_assert(!a->lifetimes ||
              memcmp(a->lifetimes, b->lifetimes, a->lifetime_count * sizeof(*a->lifetimes)) == 0);
    for (size_t i = 0; i < a->preexisting_count; i++) {
        const struct preexisting *x = &a->preexisting[i], *y = &b->preexisting[i];
        if (x->origin != y->origin || x->addr != y->addr || x->size != y->size ||
            x->in_active != y->in_active || x->in_allocated != y->in_allocated ||
            x->free_requested != y->free_requested || x->free_completed != y->free_completed)
            ck_abort_msg("preexisting %zu differs", i);
    }
    ck_assert(memcmp(&a->active, &b->active, sizeof(a->active)) == 0);
    ck_assert(memcmp(&a->allocated, &b->allocated, sizeof(a->allocated)) == 0);
    ck_assert(memcmp(&a->reserved, &b->reserved, sizeof(a->reserved)) == 0);
    ck_assert(memcmp(&a->literal, &b->literal, sizeof(a->literal)) == 0);
    ck_assert(memcmp(&a->flaws, &b->flaws, sizeof(a->flaws)) == 0);
    ck_assert(memcmp(a->by_action, b->by_action, sizeof(a->by_action)) == 0);
}

static void check_kind(const struct kind *kind)
{
    struct snapshot *ahead = load(kind, true), *after = load(kind, false);
    for (uint32_t device = 0; device <= kind->devices; device++) {
        struct timeline *a = timeline_build(ahead, device, &err);
        struct timeline *b = timeline_build(after, device, &err);
        struct timeline *again = timeline_build(ahead, device, &err); /* the result is taken */
        ck_assert(a && b && again);
        check_same(a, b);
        check_same(again, b);
        timeline_destroy(again);
        timeline_destroy(b);
        timeline_destroy(a);
        ck_assert_uint_eq(ahead->budget->used, after->budget->used);
    }
    snapshot_destroy(after);
    snapshot_destroy(ahead);
}

START_TEST(timelines_are_the_same)
{
    static const struct kind kinds[] = {{0},
                                        {.wide = true},
                                        {.annotate = true},
                                        {.sorted = true},
                                        {.no_frees = true},
                                        {.devices = true},
                                        {.wide = true, .annotate = true, .sorted = true},
                                        {.budget = (size_t)32 << 20}};
    check_kind(&kinds[_i]);
}
END_TEST

/* A trace that is used ahead, and dropped before its timeline. */
START_TEST(results_that_nobody_takes_are_released)
{
    const struct kind kind = {0};
    const struct load_options options = {.ahead = true};
    snapshot_destroy(load(&kind, true));
    struct loader *loader = loader_create(&options, &err);
    push(loader, 0, &kind);
    loader_destroy(loader); /* as after a failure, while the thread runs */
}
END_TEST

TCase *ahead_tests(void)
{
    TCase *tests = tcase_create("ahead");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, timelines_are_the_same, 0, 8);
    tcase_add_test(tests, results_that_nobody_takes_are_released);
    return tests;
}
