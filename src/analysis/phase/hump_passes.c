/* Passes of a hump: see humps.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/phase/humps.h"
#include "base/bisect.h"

#define LEAST_PART 8 /* a pass has at least 1/8 of the bytes of the largest one */
/* The fall of a pass makes at least 1/4 of as many sizes of weights as that of the largest one. */
#define LEAST_SIZES  4
#define NO_GRADIENTS 1024 /* less than 1/1024 of the weights counts as no gradients */
#define LEAST_LEFT   4    /* at least 1/4 of a candidate's blocks are left after one checkpoint */
#define MOST_OPEN    256  /* blocks that are followed from one hump to the next */
/* A pass without gradients has at least 1/6 of the blocks of the largest one. */
#define PROBE_PART      6
#define MOSTLY_REVERSED 0.6 /* instead of HUMP_REVERSED, if the blocks are freed one by one */
#define LEAST_PROBE     12  /* blocks of such a pass; fewer are in reverse order by chance */

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

/* True if most of pattern->saved are scalars, such as the norms of all gradients in a list. */
static bool are_scalars(const struct pattern *pattern)
{
    const struct timeline *timeline = pattern->timeline;
    size_t scalars = 0;
    for (size_t i = 0; i < pattern->saved_count; i++)
        scalars += trace_size(timeline->trace, pattern->saved[i].birth) < LEAST_WEIGHT;
    return scalars * 2 > pattern->saved_count;
}

/* Adds the blocks that are live at the top of a hump to pattern->saved. */
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

/* True if the fall of a hump may be a backward pass. It leaves gradients, or it adds to those of
 * another pass and the hump is not much smaller than others. Networks without gradients, and the
 * temporaries of one layer, make humps as well. */
static bool makes_gradients(const struct pattern *pattern, const struct weight_births *births,
                            size_t members)
{
    bool is_main = members * 2 >= pattern->most_members;
    if (pattern->most_gradients * NO_GRADIENTS < pattern->stay_bytes)
        return is_main && births->all * LEAST_PART * LEAST_PART >= pattern->stay_bytes;
    return births->kept * LEAST_PART > pattern->most_gradients ||
           (is_main && births->sizes * LEAST_SIZES >= pattern->most_sizes &&
            (births->kept > 0 || births->all * 2 >= pattern->most_gradients));
}

/* True if a hump lies within the backward pass that is open: of the blocks that this pass still has
 * to free in the fall, most are freed after the hump's own. `own` is the index of the first of the
 * hump's own blocks in pattern->saved. Sorts these by their ends. */
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

/* True if a hump may be a checkpoint in the backward pass of the candidate, of whose blocks
 * `before` are left. The hump's own blocks are freed in reverse order, and the candidate still has
 * blocks after it, or had some after another hump. A hump in a forward pass frees all its blocks at
 * once. */
static bool leaves_candidate(const struct pattern *pattern, const struct hump *hump, size_t before)
{
    size_t left = 0;
    for (size_t i = 0; i < before; i++)
        left += pattern->saved[i].end > hump->end;
    return pattern->candidate.births.all > 0 &&
           hump_is_reversed(&pattern->saved[before], pattern->saved_count - before) &&
           (pattern->candidate.has_nested || left * LEAST_LEFT >= before);
}

/* Adds a hump to the backward pass in which it is nested, of whose blocks `before` are left. The
 * candidate becomes a pair of passes once it, with the humps nested in it, has made enough
 * gradients. */
static bool add_nested(struct pattern *pattern, const struct hump *hump, size_t before,
                       struct error *err)
{
    struct candidate *candidate = &pattern->candidate;
    size_t members = pattern->saved_count - before;
    pattern->saved_count = before;
    hump_end_chain(pattern, hump);
    keep_ending_after(pattern, hump->end);
    if (pattern->is_open) {
        struct passes *open = &pattern->passes[pattern->pass_count - 1];
        open->end = open->updated = hump->end + 1;
        return true;
    }
    struct weight_births births = births_in_fall(pattern, hump);
    candidate->passes.end = candidate->passes.updated = hump->end + 1;
    candidate->has_nested = true;
    candidate->births.kept += births.kept;
    candidate->births.all += births.all;
    if (births.sizes > candidate->births.sizes)
        candidate->births.sizes = births.sizes;
    if (members > candidate->members)
        candidate->members = members;
    pattern->is_open = makes_gradients(pattern, &candidate->births, candidate->members) &&
                       !pattern_makes_model(pattern, &candidate->passes);
    return !pattern->is_open || pattern_add_passes(pattern, candidate->passes, err);
}

/* True if the hump is a pair of passes that makes no gradients of weights, in a program that
 * trains: computation frees its blocks one by one, in the reverse order, and it is not much smaller
 * than other humps. */
static bool is_probe(const struct pattern *pattern, const struct hump *hump)
{
    const struct timeline *timeline = pattern->timeline;
    size_t made = births_from(timeline, hump->end) - births_from(timeline, hump->top);
    bool is_large = pattern->saved_count * PROBE_PART >= pattern->most_members;
    return is_large && pattern->saved_count >= LEAST_PROBE && made >= pattern->saved_count &&
           pattern->steps->count > 0 &&
           hump_gradual_share(pattern->timeline, pattern->saved, pattern->saved_count) >=
               HUMP_GRADUAL;
}

/* True if the blocks of the hump, pattern->saved, go as a backward pass frees them. A pass that
 * later ones go through again frees them in less order. */
static bool goes_backward(const struct pattern *pattern)
{
    double reversed = hump_reversed_share(pattern->saved, pattern->saved_count);
    if (reversed >= HUMP_REVERSED || pattern->steps->count == 0)
        return reversed >= HUMP_REVERSED;
    return reversed >= MOSTLY_REVERSED && pattern->saved_count * 2 >= pattern->most_members &&
           hump_gradual_share(pattern->timeline, pattern->saved, pattern->saved_count) >=
               HUMP_GRADUAL;
}

/* Adds the passes of a hump whose blocks are pattern->saved, if it has passes; otherwise the hump
 * may become the candidate. */
static bool add_passes(struct pattern *pattern, const struct hump *hump, struct error *err)
{
    struct weight_births births = births_in_fall(pattern, hump);
    bool is_pile = pattern->saved_count >= LEAST_SAVED && !are_scalars(pattern);
    bool is_reversed = is_pile && goes_backward(pattern);
    pattern->is_open = is_reversed && makes_gradients(pattern, &births, pattern->saved_count);
    pattern->candidate = (struct candidate){0};
    if (pattern->is_open) {
        struct passes passes = passes_of(pattern, hump);
        hump_end_chain(pattern, hump);
        pattern->is_open = !pattern_makes_model(pattern, &passes);
        return !pattern->is_open || pattern_add_passes(pattern, passes, err);
    }
    if (is_reversed)
        pattern->candidate = (struct candidate){.passes = passes_of(pattern, hump),
                                                .births = births,
                                                .members = pattern->saved_count,
                                                .is_probe = is_probe(pattern, hump)};
    if (pattern->candidate.is_probe)
        hump_end_chain(pattern, hump);
    return !is_pile || pattern->candidate.is_probe || passes_add_kept_graph(pattern, err);
}

bool hump_add_probe(struct pattern *pattern, struct error *err)
{
    struct candidate *candidate = &pattern->candidate;
    bool is_probe = candidate->is_probe && !candidate->has_nested &&
                    !pattern_makes_model(pattern, &candidate->passes);
    candidate->is_probe = false;
    if (!is_probe)
        return true;
    candidate->passes.is_probe = true;
    pattern->probes++;
    return pattern_add_passes(pattern, candidate->passes, err);
}

/* Puts the chain before the hump's own blocks, in place of the `before` others. */
static bool take_chain(struct pattern *pattern, size_t before, struct error *err)
{
    size_t own = pattern->saved_count - before, count = pattern->chain_count;
    if (!vec_reserve(pattern->saved, pattern->saved_capacity, count + own, pattern->budget, err))
        return false;
    memmove(&pattern->saved[count], &pattern->saved[before], own * sizeof(*pattern->saved));
    memcpy(pattern->saved, pattern->chain, count * sizeof(*pattern->saved));
    pattern->saved_count = count + own;
    return true;
}

bool hump_add(struct pattern *pattern, const struct hump *hump, struct error *err)
{
    keep_ending_after(pattern, hump->top);
    size_t before = pattern->saved_count;
    if (!add_members(pattern, hump, err))
        return false;
    bool may_nest = before > 0 && (pattern->is_open || leaves_candidate(pattern, hump, before));
    if (may_nest && is_nested(pattern, hump, before))
        return add_nested(pattern, hump, before, err);
    if (!hump_add_probe(pattern, err))
        return false;
    if (may_nest && pattern->saved_count > 0) /* is_nested() left them in another order */
        qsort(pattern->saved, pattern->saved_count, sizeof(*pattern->saved), saved_compare_births);
    if (!hump_follow_chain(pattern, hump, err))
        return false;
    /* Blocks that the last passes left do not belong to these, nor do the few of other code. */
    if (pattern->chain_count > 0 && hump_has_chain(pattern)) {
        if (!take_chain(pattern, before, err))
            return false;
    } else if (pattern->is_open || before * 4 < pattern->saved_count) {
        pattern->saved_count -= before;
        memmove(pattern->saved, &pattern->saved[before],
                pattern->saved_count * sizeof(*pattern->saved));
    }
    if (!add_passes(pattern, hump, err))
        return false;
    keep_ending_after(pattern, hump->end);
    return true;
}

/* A hump of scalars is not a forward and backward pass. */
bool hump_measure(struct pattern *pattern, const struct hump *hump, struct error *err)
{
    (void)err;
    const struct timeline *timeline = pattern->timeline;
    struct weight_births births = births_in_fall(pattern, hump);
    size_t members = 0, scalars = 0;
    for (size_t i = births_from(timeline, hump->first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc <= hump->top; i++) {
        bool counts = pattern_may_be_saved(pattern, i, false) &&
                      lifetime_end(&timeline->lifetimes[i]) > hump->top;
        members += counts;
        scalars +=
            counts && trace_size(timeline->trace, timeline->lifetimes[i].alloc) < LEAST_WEIGHT;
    }
    if (births.kept > pattern->most_gradients)
        pattern->most_gradients = births.kept;
    if (births.sizes > pattern->most_sizes)
        pattern->most_sizes = births.sizes;
    if (members > pattern->most_members && scalars * 2 <= members)
        pattern->most_members = members;
    return true;
}
