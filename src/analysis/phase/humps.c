/* Finds passes by how blocks saved for a backward pass pile up and go. */
#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"
#include "base/bisect.h"

#define LEAST_PART        8    /* a pass has at least this part of the largest one */
#define LEAST_SIZES       4    /* the same of the different sizes of weights in its fall */
#define NO_GRADIENTS      1024 /* a smaller part of the weights is none */
#define LEAST_KEPT_GRAPHS 2    /* passes that only these show */
#define MOST_OPEN         256  /* blocks followed from one hump to the next */

/* One rise and fall of the count. */
struct hump {
    uint32_t first, top, end; /* items; `top` is the first that reaches the highest count */
    uint32_t turn;            /* from forward to backward */
};

/* The number of blocks that cannot be gradients, while a hump rises. */
struct certain {
    int64_t now, top;
    uint32_t top_item;
};

typedef bool visit_hump(struct pattern *pattern, const struct hump *hump, struct error *err);

static void count_saved(struct pattern *pattern)
{
    const struct timeline *timeline = pattern->timeline;
    size_t items = timeline->trace->count;
    for (size_t i = 0; i <= items; i++)
        pattern->change[i] = pattern->certain[i] = 0;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        if (!pattern_may_be_saved(pattern, i, false))
            continue;
        uint32_t birth = timeline->lifetimes[i].alloc, end = lifetime_end(&timeline->lifetimes[i]);
        int is_certain = !(pattern->flags[i] & PATTERN_RARE);
        pattern->change[birth]++;
        pattern->change[end]--;
        pattern->certain[birth] += is_certain;
        pattern->certain[end] -= is_certain;
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

/* True if most of pattern->saved are scalars, as are the norms of all gradients, of which a program
 * makes a list. */
static bool are_scalars(const struct pattern *pattern)
{
    const struct timeline *timeline = pattern->timeline;
    size_t scalars = 0;
    for (size_t i = 0; i < pattern->saved_count; i++)
        scalars += trace_size(timeline->trace, pattern->saved[i].birth) < LEAST_WEIGHT;
    return scalars * 2 > pattern->saved_count;
}

/* Adds the blocks that are alive at the top of a hump to pattern->saved. */
static bool add_members(struct pattern *pattern, const struct hump *hump, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    for (size_t i = births_from(timeline, hump->first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc <= hump->top; i++) {
        struct saved saved = {timeline->lifetimes[i].alloc, lifetime_end(&timeline->lifetimes[i])};
        if (pattern_may_be_saved(pattern, i, false) && saved.end > hump->top &&
            !add_saved(pattern, &saved, err))
            return false;
    }
    return true;
}

static struct passes passes_of(const struct pattern *pattern, const struct hump *hump)
{
    struct passes passes = {.forward = pattern->saved[0].birth, .backward = hump->turn + 1};
    passes.end = passes.updated = passes_end_of_backward(pattern, hump->top, hump->end);
    return passes;
}

/* The blocks of the weights' sizes that are made while a hump falls. */
struct weight_births {
    double kept, all; /* bytes; kept beyond the fall: gradients */
    size_t sizes;     /* different ones */
};

static struct weight_births births_in_fall(const struct pattern *pattern, const struct hump *hump)
{
    const struct timeline *timeline = pattern->timeline;
    struct weight_births births = {0};
    memset(pattern->marks, 0, pattern->stay_count);
    for (size_t i = births_from(timeline, hump->top);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc <= hump->end; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        uint64_t size = trace_size(timeline->trace, item);
        bool counts = (pattern->flags[i] & (PATTERN_WEIGHT | PATTERN_IN_STEP)) == PATTERN_WEIGHT;
        if (!counts || size < LEAST_WEIGHT)
            continue;
        births.all += (double)size;
        size_t at = bisect_less_64(pattern->stays, sizeof(size), pattern->stay_count, size);
        births.sizes += !pattern->marks[at];
        pattern->marks[at] = 1;
        births.kept += lifetime_end(&timeline->lifetimes[i]) > hump->end ? (double)size : 0;
    }
    return births;
}

/* True if the fall of a hump may be a backward pass: it leaves gradients; or it adds to those of
 * another, and the hump is not much smaller than others. Networks without gradients, and the
 * temporaries of one layer, make humps as well. */
static bool makes_gradients(const struct pattern *pattern, const struct hump *hump)
{
    struct weight_births births = births_in_fall(pattern, hump);
    bool is_main = pattern->saved_count * 2 >= pattern->most_members;
    if (pattern->most_gradients * NO_GRADIENTS < pattern->stay_bytes)
        return is_main && births.all * LEAST_PART * LEAST_PART >= pattern->stay_bytes;
    return births.kept * LEAST_PART > pattern->most_gradients ||
           (is_main && births.sizes * LEAST_SIZES >= pattern->most_sizes &&
            (births.kept > 0 || births.all * 2 >= pattern->most_gradients));
}

/* True if the hump lies within the backward pass that is open: what that has left to free in the
 * fall, it frees after most of the hump's own blocks. `own` is the index of the first of these in
 * pattern->saved; sorts them by their ends. */
static bool is_nested(struct pattern *pattern, const struct hump *hump, size_t own)
{
    size_t count = pattern->saved_count - own, nested = 0, crossing = 0;
    if (count > 0)
        qsort(&pattern->saved[own], count, sizeof(*pattern->saved), saved_compare_ends);
    uint32_t middle = count > 0 ? pattern->saved[own + count / 2].end : hump->top;
    for (size_t i = 0; i < own; i++) {
        bool in_fall = pattern->saved[i].end <= hump->end;
        nested += in_fall && pattern->saved[i].end >= middle;
        crossing += in_fall && pattern->saved[i].end < middle;
    }
    return nested > crossing;
}

/* A hump is a pair of passes if its blocks go in the reverse order, and its fall makes blocks of
 * the sizes of weights: gradients. It is part of the backward pass before it if it nests in that:
 * checkpointing recomputes a part of the forward. Otherwise the forward pass goes on. */
static bool add_hump(struct pattern *pattern, const struct hump *hump, struct error *err)
{
    keep_ending_after(pattern, hump->top);
    size_t before = pattern->saved_count;
    if (!add_members(pattern, hump, err))
        return false;
    bool may_nest = pattern->is_open && before > 0;
    if (may_nest && is_nested(pattern, hump, before)) {
        struct passes *open = &pattern->passes[pattern->pass_count - 1];
        open->end = open->updated = hump->end + 1;
        pattern->saved_count = before;
        keep_ending_after(pattern, hump->end);
        return true;
    }
    /* What the last passes left is no part of these, nor is the little that other code left. */
    if (pattern->is_open || before * 4 < pattern->saved_count) {
        pattern->saved_count -= before;
        memmove(pattern->saved, &pattern->saved[before],
                pattern->saved_count * sizeof(*pattern->saved));
    }
    if (may_nest && pattern->saved_count > 0) /* is_nested() left them in another order */
        qsort(pattern->saved, pattern->saved_count, sizeof(*pattern->saved), saved_compare_births);
    pattern->is_open = pattern->saved_count >= LEAST_SAVED && makes_gradients(pattern, hump) &&
                       !are_scalars(pattern) && are_reversed(pattern->saved, pattern->saved_count);
    if (pattern->is_open) {
        struct passes passes = passes_of(pattern, hump);
        pattern->is_open = !pattern_makes_model(pattern, &passes);
        if (pattern->is_open && !pattern_add_passes(pattern, passes, err))
            return false;
    } else if (pattern->saved_count >= LEAST_SAVED && !are_scalars(pattern) &&
               !passes_add_kept_graph(pattern, err)) {
        return false;
    }
    keep_ending_after(pattern, hump->end);
    return true;
}

/* Notes the largest hump. */
static bool measure_hump(struct pattern *pattern, const struct hump *hump, struct error *err)
{
    (void)err;
    const struct timeline *timeline = pattern->timeline;
    struct weight_births births = births_in_fall(pattern, hump);
    size_t members = 0;
    for (size_t i = births_from(timeline, hump->first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc <= hump->top; i++)
        members += pattern_may_be_saved(pattern, i, false) &&
                   lifetime_end(&timeline->lifetimes[i]) > hump->top;
    if (births.kept > pattern->most_gradients)
        pattern->most_gradients = births.kept;
    if (births.sizes > pattern->most_sizes)
        pattern->most_sizes = births.sizes;
    if (members > pattern->most_members)
        pattern->most_members = members;
    return true;
}

/* Gradients that wait for others, to which they are added, make the count rise further. If most
 * blocks are certainly none, the turn is where those are most. */
static uint32_t turn_of(const struct hump *hump, const struct certain *certain, int64_t top)
{
    return certain->top * 4 >= top * 3 ? certain->top_item : hump->top;
}

/* Splits the trace into humps. A hump ends where the count, having fallen to half of its top, stops
 * falling. */
static bool find_humps(struct pattern *pattern, visit_hump *visit, struct error *err)
{
    size_t items = pattern->timeline->trace->count;
    struct hump hump = {0};
    int64_t now = 0, top = 0, low = 0;
    uint32_t low_item = 0;
    struct certain certain = {0};
    bool falling = false;
    for (size_t i = 0; i < items; i++) {
        now += pattern->change[i];
        certain.now += pattern->certain[i];
        if (certain.now > certain.top && !falling) {
            certain.top = certain.now;
            certain.top_item = (uint32_t)i;
        }
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
            hump.turn = turn_of(&hump, &certain, top);
            if (!visit(pattern, &hump, err))
                return false;
            hump = (struct hump){.first = low_item + 1, .top = (uint32_t)i};
            top = now;
            certain.top = certain.now;
            certain.top_item = (uint32_t)i;
            falling = false;
        }
    }
    hump.end = items > 0 ? (uint32_t)items - 1 : 0;
    hump.turn = turn_of(&hump, &certain, top);
    return top < LEAST_SAVED || visit(pattern, &hump, err);
}

bool passes_from_humps(struct pattern *pattern, struct error *err)
{
    count_saved(pattern);
    if (!find_humps(pattern, measure_hump, err) || !find_humps(pattern, add_hump, err))
        return false;
    if (pattern->pass_count == pattern->kept_graphs && pattern->kept_graphs < LEAST_KEPT_GRAPHS)
        pattern->pass_count = pattern->kept_graphs = 0;
    return true;
}
