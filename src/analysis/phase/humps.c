/* Finds passes by the number of live blocks that are saved for a backward pass: it rises in the
 * forward pass and falls in the backward pass. */
#include "analysis/phase/humps.h"

#include <string.h>

#include "analysis/phase/births.h"

#define LEAST_KEPT_GRAPHS 2 /* passes that only kept graphs show */
#define MOST_AFTER        16 /* items after the only pair of passes, as a multiple of its own items */

/* The number of blocks that certainly are no gradients, while a hump rises. */
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

/* The turn of a hump. Gradients that wait for others, to which they are added, make the count rise
 * further. If most blocks certainly are no gradients, the turn is where the number of those is
 * highest. */
static uint32_t turn_of(const struct hump *hump, const struct certain *certain, int64_t top)
{
    return certain->top * 4 >= top * 3 ? certain->top_item : hump->top;
}

/* Splits the trace into humps. A hump ends where the count stops falling, once it has fallen to
 * half of its highest value. */
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

/* Finds passes by the blocks that pattern->change counts. */
static bool find_passes(struct pattern *pattern, struct error *err)
{
    pattern->saved_count = pattern->most_members = pattern->most_sizes = 0;
    pattern->most_gradients = 0;
    pattern->is_open = false;
    pattern->candidate = (struct candidate){0};
    pattern->chain_count = pattern->chain_until = 0;
    if (!find_humps(pattern, hump_measure, err) || !find_humps(pattern, hump_add, err) ||
        !hump_add_probe(pattern, err))
        return false;
    size_t certain = pattern_training_passes(pattern) - pattern->kept_graphs;
    if (certain == 0 && pattern->steps->count == 0 && pattern->kept_graphs < LEAST_KEPT_GRAPHS)
        pattern->pass_count = pattern->kept_graphs = pattern->probes = 0;
    return true;
}

/* The passes and kept graphs that one way of counting finds, for a comparison with another. */
struct found {
    struct passes *passes;
    size_t pass_count, pass_capacity, kept_graphs, probes;
};

static struct found exchange(struct pattern *pattern, struct found found)
{
    struct found old = {pattern->passes, pattern->pass_count, pattern->pass_capacity,
                        pattern->kept_graphs, pattern->probes};
    pattern->passes = found.passes;
    pattern->pass_count = found.pass_count;
    pattern->pass_capacity = found.pass_capacity;
    pattern->kept_graphs = found.kept_graphs;
    pattern->probes = found.probes;
    return old;
}

/* True if the backward pass leaves gradients of at least two sizes, or leaves no gradients. */
static bool leaves_sizes(const struct pattern *pattern, const struct passes *passes)
{
    const struct timeline *timeline = pattern->timeline;
    uint64_t first = 0;
    for (size_t i = births_from(timeline, passes->backward);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < passes->end; i++) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if (!(pattern->flags[i] & PATTERN_WEIGHT) || size < LEAST_WEIGHT ||
            lifetime_end(&timeline->lifetimes[i]) < passes->end)
            continue;
        if (first > 0 && size != first)
            return true;
        first = size;
    }
    return first == 0;
}

/* Drops the only pair of passes if it leaves blocks of one size, and much more follows than an
 * update of the weights. Then it was a layer that made its cache of keys and values. */
static void drop_lone_pass(struct pattern *pattern)
{
    size_t items = pattern->timeline->trace->count;
    if (pattern->pass_count != 1 || pattern->steps->count > 0)
        return;
    const struct passes *passes = &pattern->passes[0];
    size_t own = passes->end - passes->forward;
    if ((items - passes->end) / MOST_AFTER >= own && !leaves_sizes(pattern, passes))
        pattern->pass_count = pattern->kept_graphs = 0;
}

/* Finds passes with and without blocks of the sizes of weights that are freed before a step. Some
 * activations are such blocks, so they count. But they may include gradients of an earlier pass
 * than the one that the step uses, as in sharpness-aware minimization, which hide the fall between
 * the passes. So if no step seems to have two passes, and more passes are found without such
 * blocks, those passes are taken. */
static bool find_in_both(struct pattern *pattern, struct error *err)
{
    count_saved(pattern);
    if (!find_passes(pattern, err))
        return false;
    size_t training = pattern_training_passes(pattern);
    if (training > pattern->steps->count)
        return true;
    struct found found = exchange(pattern, (struct found){0});
    memcpy(pattern->change, pattern->certain,
           (pattern->timeline->trace->count + 1) * sizeof(*pattern->change));
    bool ok = find_passes(pattern, err);
    if (!ok || pattern_training_passes(pattern) <= training)
        found = exchange(pattern, found);
    vec_free(found.passes, found.pass_capacity, sizeof(struct passes), pattern->budget);
    return ok;
}

bool passes_from_humps(struct pattern *pattern, struct error *err)
{
    if (!find_in_both(pattern, err))
        return false;
    drop_lone_pass(pattern);
    return true;
}
