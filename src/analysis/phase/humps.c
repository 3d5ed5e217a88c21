/* Finds passes by how blocks saved for a backward pass pile up and go. */
#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"

#define LEAST_OPEN 2   /* blocks that a backward pass still has to free */
#define MOST_OPEN  256 /* blocks followed from one hump to the next */

/* One rise and fall of the count. */
struct hump {
    uint32_t first, top, end; /* items; `top` is the first that reaches the highest count */
};

static void count_saved(struct pattern *pattern)
{
    const struct timeline *timeline = pattern->timeline;
    size_t items = timeline->trace->count;
    for (size_t i = 0; i <= items; i++)
        pattern->change[i] = 0;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        if (!pattern_may_be_saved(pattern, i, false))
            continue;
        pattern->change[timeline->lifetimes[i].alloc]++;
        pattern->change[lifetime_end(&timeline->lifetimes[i])]--;
    }
}

/* True if blocks mostly end in the reverse order of their birth. Each is compared with the one a
 * quarter of the blocks later, since blocks saved by one node end together. */
static bool are_reversed(const struct saved *saved, size_t count)
{
    size_t lag = (count + 3) / 4, reversed = 0;
    for (size_t i = 0; i + lag < count; i++)
        reversed += saved[i].end > saved[i + lag].end;
    return reversed * 4 >= (count - lag) * 3;
}

static bool add_saved(struct pattern *pattern, const struct saved *saved, struct error *err)
{
    if (!vec_grow((void **)&pattern->saved, &pattern->saved_capacity, pattern->saved_count + 1,
                  sizeof(*saved), pattern->budget, err))
        return false;
    pattern->saved[pattern->saved_count++] = *saved;
    return true;
}

/* Keeps those of pattern->saved that end after an item, at most MOST_OPEN of them. */
static void keep_ending_after(struct pattern *pattern, uint32_t item)
{
    size_t kept = 0;
    for (size_t i = 0; i < pattern->saved_count && kept < MOST_OPEN; i++)
        if (pattern->saved[i].end > item)
            pattern->saved[kept++] = pattern->saved[i];
    pattern->saved_count = kept;
}

/* Adds the blocks that are alive at the top of a hump to pattern->saved. */
static bool add_members(struct pattern *pattern, const struct hump *hump, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    for (size_t i = births_from(timeline, hump->first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc <= hump->top; i++) {
        struct saved saved = {timeline->lifetimes[i].alloc, lifetime_end(&timeline->lifetimes[i])};
        if (saved.end > hump->top && pattern_may_be_saved(pattern, i, false) &&
            !add_saved(pattern, &saved, err))
            return false;
    }
    return true;
}

static bool add_passes(struct pattern *pattern, const struct hump *hump, struct error *err)
{
    struct passes passes = {.forward = pattern->saved[0].birth, .backward = hump->top + 1};
    passes.end = passes.backward;
    for (size_t i = 0; i < pattern->saved_count; i++)
        if (pattern->saved[i].end <= hump->end && pattern->saved[i].end + 1 > passes.end)
            passes.end = pattern->saved[i].end + 1;
    return pattern_add_passes(pattern, passes, err);
}

/* A hump is a pair of passes if its blocks go in the reverse order. It is part of the backward pass
 * before it if that has blocks left to free: checkpointing recomputes a part of the forward. */
static bool add_hump(struct pattern *pattern, const struct hump *hump, struct error *err)
{
    keep_ending_after(pattern, hump->top);
    bool in_backward = pattern->is_open && pattern->saved_count >= LEAST_OPEN;
    if (in_backward) {
        pattern->passes[pattern->pass_count - 1].end = hump->end + 1;
        keep_ending_after(pattern, hump->end);
        return true;
    }
    if (pattern->is_open)
        pattern->saved_count = 0;
    if (!add_members(pattern, hump, err))
        return false;
    pattern->is_open =
        pattern->saved_count >= LEAST_SAVED && are_reversed(pattern->saved, pattern->saved_count);
    if (pattern->is_open && !add_passes(pattern, hump, err))
        return false;
    keep_ending_after(pattern, hump->end);
    return true;
}

/* Splits the trace into humps. A hump ends where the count, having fallen to half of its top, stops
 * falling. */
bool passes_from_humps(struct pattern *pattern, struct error *err)
{
    count_saved(pattern);
    size_t items = pattern->timeline->trace->count;
    struct hump hump = {0};
    int64_t now = 0, top = 0, low = 0;
    uint32_t low_item = 0;
    bool falling = false;
    for (size_t i = 0; i < items; i++) {
        now += pattern->change[i];
        if (!falling && now > top) {
            top = now;
            hump.top = (uint32_t)i;
        } else if (!falling && top >= LEAST_SAVED && now * 2 <= top) {
            falling = true;
            low = now;
            low_item = (uint32_t)i;
        } else if (falling && now <= low) {
            low = now;
            low_item = (uint32_t)i;
        } else if (falling && now >= low * 2 && now >= low + LEAST_SAVED) {
            hump.end = low_item;
            if (!add_hump(pattern, &hump, err))
                return false;
            hump = (struct hump){.first = low_item + 1, .top = (uint32_t)i};
            top = now;
            falling = false;
        }
    }
    hump.end = items > 0 ? (uint32_t)items - 1 : 0;
    return top < LEAST_SAVED || add_hump(pattern, &hump, err);
}
