#include "analysis/pool/fragmentation.h"

#include <stdarg.h>
#include <stdio.h>

/* Sums over the segments of a layout. */
struct advice_sums {
    struct allocator_rules rules;
    uint64_t split_bytes;       /* holes in large segments above 20 MiB that are partly in use */
    uint64_t collectable_bytes; /* large segments of the default pool that are entirely free */
    uint64_t division_bytes;    /* what roundup_power2_divisions added to the active blocks */
};

static void count_active(struct advice_sums *sums, const struct layout_span *span)
{
    uint64_t plain = allocator_round_up(span->requested, ALLOCATOR_MIN_BLOCK);
    uint64_t rounded = allocator_round(&sums->rules, span->requested);
    if (rounded > plain && rounded <= span->size)
        sums->division_bytes += rounded - plain;
}

static void advice_sums_add(struct advice_sums *sums, const struct layout_segment *segment)
{
    uint64_t holes = 0;
    bool in_use = false;
    for (size_t i = 0; i < segment->span_count; i++) {
        const struct layout_span *span = &segment->spans[i];
        if (span->state == SPAN_HOLE) {
            holes += span->size;
            continue;
        }
        in_use = true;
        count_active(sums, span);
    }
    if (segment->is_small || segment->is_expandable)
        return;
    if (in_use && segment->size > ALLOCATOR_LARGE_SEGMENT)
        sums->split_bytes += holes;
    if (!in_use && segment->pool[0] == 0 && segment->pool[1] == 0)
        sums->collectable_bytes += holes;
}

static void explain(struct advice *advice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void explain(struct advice *advice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(advice->why, sizeof(advice->why), format, arguments);
    va_end(arguments);
}

/* The bytes that expandable segments would save, as if the blocks of each pool lay side by side in
 * whole pages. */
static uint64_t expandable_saves(const struct pool_rows *pools)
{
    uint64_t saved = 0;
    for (size_t i = 0; i < pools->count; i++) {
        const struct pool_row *row = &pools->items[i];
        uint64_t page = allocator_page(row->key.is_small);
        uint64_t needs = allocator_round_up(row->fixed_active_bytes, page);
        if (row->fixed_reserved_bytes > needs)
            saved += row->fixed_reserved_bytes - needs;
    }
    return saved;
}

static void advise_expandable(struct advice *advice, const struct advice_sums *sums,
                              const struct pool_rows *pools)
{
    advice->setting = "expandable_segments";
    advice->in_force = sums->rules.expandable_segments;
    advice->is_derivable = true;
    advice->would_save_bytes = expandable_saves(pools);
    if (advice->in_force && pools->total.fixed_reserved_bytes == 0)
        explain(advice,
                "in force: segments grow and shrink by pages, so there is nothing more to save");
    else if (advice->in_force)
        explain(advice, "in force, but some segments cannot expand: they were made before it was "
                        "set, or are in a pool without it");
    else
        explain(advice, "segments then grow and shrink by pages (2 MiB for small requests, 20 MiB "
                        "for large ones), which at best leaves no unused memory between blocks");
}

static void advise_max_split(struct advice *advice, const struct advice_sums *sums, enum unit unit)
{
    char size[UNITS_TEXT_SIZE];
    advice->setting = "max_split_size_mb";
    advice->in_force = sums->rules.max_split_size != UINT64_MAX;
    advice->is_derivable = true;
    advice->would_save_bytes = sums->split_bytes;
    if (sums->rules.expandable_segments) {
        advice->would_save_bytes = 0;
        explain(advice, "has no effect together with expandable_segments");
    } else if (advice->in_force)
        explain(advice,
                "in force: blocks of %s or more are not split, and serve only requests of that "
                "size or more; a lower limit would keep more blocks whole",
                units_bytes(size, (int64_t)sums->rules.max_split_size, unit));
    else
        explain(advice, "blocks above the limit are not split, so a small request cannot keep a "
                        "large segment from being released; at best this saves all unused memory "
                        "in segments above 20 MiB; the limit must be above 20");
}

static void advise_collection(struct advice *advice, const struct advice_sums *sums)
{
    advice->setting = "garbage_collection_threshold";
    advice->in_force = sums->rules.gc_threshold > 0;
    advice->is_derivable = true;
    advice->would_save_bytes = sums->collectable_bytes;
    explain(advice,
            "%sreleases wholly unused segments to the device before it is full; PyTorch also does "
            "so before it runs out of memory, so only other processes benefit; it needs "
            "torch.cuda.set_per_process_memory_fraction()",
            advice->in_force ? "in force: " : "");
}

static void advise_divisions(struct advice *advice, const struct advice_sums *sums)
{
    advice->setting = "roundup_power2_divisions";
    for (int i = 0; i < ALLOCATOR_DIVISIONS; i++)
        advice->in_force = advice->in_force || sums->rules.divisions[i] > 1;
    advice->is_derivable = advice->in_force;
    advice->would_save_bytes = sums->division_bytes;
    if (advice->in_force)
        explain(advice, "in force: without it the active blocks would be smaller by this amount, "
                        "but blocks of more different sizes leave more holes");
    else
        explain(advice,
                "rounds sizes up, so that a freed block serves the next request of a similar size; "
                "this costs memory at once, and a capture does not show how much it saves later");
}

/* `pools` must be those of the same layout, before pool_rows_finish(). */
static void advice_make(const struct advice_sums *sums, const struct pool_rows *pools,
                        enum unit unit, struct advice advice[SETTING_COUNT])
{
    for (int i = 0; i < SETTING_COUNT; i++)
        advice[i] = (struct advice){0};
    advise_expandable(&advice[SETTING_EXPANDABLE_SEGMENTS], sums, pools);
    advise_max_split(&advice[SETTING_MAX_SPLIT_SIZE], sums, unit);
    advise_collection(&advice[SETTING_GC_THRESHOLD], sums);
    advise_divisions(&advice[SETTING_ROUNDUP_DIVISIONS], sums);
}

#define NOTABLE 10 /* a tenth of reserved memory */

/* The sums that are made while the segments are visited. */
struct gather {
    struct cut_up *cut_up;
    struct advice_sums sums;
    struct pins *pins; /* NULL if not needed */
};

static bool take(void *self, const struct layout_segment *segment, struct error *err)
{
    struct gather *gather = self;
    advice_sums_add(&gather->sums, segment);
    return pool_rows_add(&gather->cut_up->pools, segment, NULL, err) &&
           (!gather->pins || pins_add(gather->pins, segment, err));
}

static void finish(struct gather *gather, enum unit unit)
{
    advice_make(&gather->sums, &gather->cut_up->pools, unit, gather->cut_up->advice);
    pool_rows_finish(&gather->cut_up->pools);
}

static bool make_dump(const struct live_set *set, enum unit unit, struct fragmentation *made,
                      struct error *err)
{
    const struct timeline *timeline = set->timeline;
    struct pins pins;
    struct gather gather = {&made->dump, {.rules = timeline->snapshot->rules}, &pins};
    const struct layout_visitor visitor = {&gather, take};
    pins_init(&pins, timeline->snapshot->budget);
    bool ok = layout_of_dump(timeline->snapshot, timeline->device, &visitor, err) &&
              pins_resolve_dump(&pins, timeline, err) &&
              pin_rows_make(&pins, set, PIN_ROWS_MOST, &made->pinned, err);
    finish(&gather, unit);
    pins_release(&pins);
    return ok;
}

/* True if the moment is the end of the trace, which is the dump. */
static bool is_at_dump(const struct timeline *timeline, const struct moment *moment)
{
    const struct trace *trace = timeline->trace;
    return moment->item == (int64_t)trace->count - 1 && trace_has_end(trace);
}

static bool visit_moment(const struct live_set *set, const struct moment *moment,
                         const struct layout_visitor *visitor, struct fragmentation *made,
                         struct error *err)
{
    const struct timeline *timeline = set->timeline;
    if (is_at_dump(timeline, moment) && timeline->flaws.active_minus_dump_bytes == 0)
        return layout_of_dump(timeline->snapshot, timeline->device, visitor, err);
    if (!layout_at(timeline, moment->item, set->items, set->count, false, visitor,
                   &made->moment_doubts, err))
        return false;
    made->no_moment = layout_doubts_text(&made->moment_doubts, moment->reserved_bytes);
    return true;
}

static bool make_moment(const struct live_set *set, const struct moment *moment, enum unit unit,
                        struct fragmentation *made, struct error *err)
{
    const struct timeline *timeline = set->timeline;
    struct gather gather = {&made->moment, {.rules = timeline->snapshot->rules}, NULL};
    const struct layout_visitor visitor = {&gather, take};
    if (timeline->trace->count == 0)
        return true;
    if (!visit_moment(set, moment, &visitor, made, err))
        return false;
    made->has_moment = !made->no_moment;
    finish(&gather, unit);
    return true;
}

bool cut_up_is_notable(const struct cut_up *cut_up)
{
    const struct pool_row *total = &cut_up->pools.total;
    return total->inactive_split_bytes > total->reserved_bytes / NOTABLE;
}

bool fragmentation_make(const struct live_set *set, const struct moment *moment, enum unit unit,
                        struct fragmentation *fragmentation, struct error *err)
{
    struct budget *budget = set->timeline->snapshot->budget;
    struct fragmentation made = {.has_moment = false};
    pool_rows_init(&made.dump.pools, budget);
    pool_rows_init(&made.moment.pools, budget);
    if (set->timeline->snapshot->profile.is_profile) {
        made.no_moment = "a profiler trace does not have the allocator's segments";
        *fragmentation = made;
        return true;
    }
    if (!make_dump(set, unit, &made, err) || !make_moment(set, moment, unit, &made, err)) {
        fragmentation_release(&made);
        return false;
    }
    *fragmentation = made;
    return true;
}

const struct cut_up *fragmentation_then(const struct fragmentation *fragmentation,
                                        const struct timeline *timeline,
                                        const struct moment *moment)
{
    if (fragmentation->has_moment)
        return &fragmentation->moment;
    return is_at_dump(timeline, moment) ? &fragmentation->dump : NULL;
}

void fragmentation_release(struct fragmentation *fragmentation)
{
    pool_rows_release(&fragmentation->dump.pools);
    pool_rows_release(&fragmentation->moment.pools);
    pin_rows_release(&fragmentation->pinned);
}
