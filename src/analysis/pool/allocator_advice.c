#include "analysis/pool/allocator_advice.h"

#include <stdarg.h>
#include <stdio.h>

static void count_active(struct advice_sums *sums, const struct layout_span *span)
{
    uint64_t plain = allocator_round_up(span->requested, ALLOCATOR_MIN_BLOCK);
    uint64_t rounded = allocator_round(&sums->rules, span->requested);
    if (rounded > plain && rounded <= span->size)
        sums->division_bytes += rounded - plain;
}

void advice_sums_add(struct advice_sums *sums, const struct layout_segment *segment)
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

/* As if each pool had its blocks side by side in whole pages. */
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

void advice_make(const struct advice_sums *sums, const struct pool_rows *pools, enum unit unit,
                 struct advice advice[SETTING_COUNT])
{
    for (int i = 0; i < SETTING_COUNT; i++)
        advice[i] = (struct advice){0};
    advise_expandable(&advice[SETTING_EXPANDABLE_SEGMENTS], sums, pools);
    advise_max_split(&advice[SETTING_MAX_SPLIT_SIZE], sums, unit);
    advise_collection(&advice[SETTING_GC_THRESHOLD], sums);
    advise_divisions(&advice[SETTING_ROUNDUP_DIVISIONS], sums);
}
