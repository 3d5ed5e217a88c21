#include "analysis/phases_pattern.h"

#include <stdlib.h>

#include "analysis/births.h"
#include "analysis/phases_refine.h"

#define LEAST_SAVED  5   /* blocks alive at the turn */
#define LEAST_BIRTHS 32  /* of a program that computes forward only */
#define LEAST_OPEN   2   /* blocks that a backward pass still has to free */
#define MOST_OPEN    256 /* blocks followed from one hump to the next */

/* One rise and fall of the count. */
struct hump {
    uint32_t first, top, end; /* items; `top` is the first that reaches the highest count */
};

struct saved {
    uint32_t birth, end; /* items */
};

/* A pair of passes: forward [forward, backward), backward [backward, end). */
struct passes {
    uint32_t forward, backward, end;
};

struct pattern {
    const struct timeline *timeline;
    const struct phases *old; /* by annotations */
    uint64_t *stays;          /* sizes of what is never freed, ascending */
    size_t stay_count, stay_capacity;
    uint32_t *steps; /* by run of `old`; see count_steps() */
    size_t step_capacity;
    int32_t *change; /* of the count, by item */
    size_t change_capacity;
    struct saved *saved; /* in order of birth; between humps those still alive */
    size_t saved_count, saved_capacity;
    bool is_open; /* the last hump was a pair of passes, and `saved` is what it left */
    struct passes *passes;
    size_t pass_count, pass_capacity;
    struct budget *budget;
};

static int compare_sizes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool add_stay(struct pattern *pattern, uint64_t size, struct error *err)
{
    if (!vec_grow((void **)&pattern->stays, &pattern->stay_capacity, pattern->stay_count + 1,
                  sizeof(size), pattern->budget, err))
        return false;
    pattern->stays[pattern->stay_count++] = size;
    return true;
}

static bool find_stays(struct pattern *pattern, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    for (size_t i = 0; i < timeline->carried_count; i++)
        if (carried_end(&timeline->carried[i]) == EVENT_NEVER &&
            !add_stay(pattern, timeline->carried[i].size, err))
            return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (lifetime_end(&timeline->lifetimes[i]) == EVENT_NEVER &&
            !add_stay(pattern, timeline->trace->size[timeline->lifetimes[i].alloc], err))
            return false;
    if (pattern->stay_count > 0)
        qsort(pattern->stays, pattern->stay_count, sizeof(uint64_t), compare_sizes);
    return true;
}

/* The run of an item, by bisection: there is no guide yet. */
static size_t run_of(const struct phases *phases, uint32_t item)
{
    size_t low = 0, high = phases->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (phases->runs[middle].first <= item)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* How many optimizer steps, by annotation, begin at or before each run. */
static bool count_steps(struct pattern *pattern, struct error *err)
{
    uint32_t steps = 0;
    if (!vec_grow((void **)&pattern->steps, &pattern->step_capacity, pattern->old->count + 1,
                  sizeof(uint32_t), pattern->budget, err))
        return false;
    for (size_t run = 0; run < pattern->old->count; run++) {
        steps += pattern->old->runs[run].phase == PHASE_OPTIMIZER;
        pattern->steps[run] = steps;
    }
    return true;
}

/* Whether an optimizer step lies within the life of something, or it was born in one. */
static bool outlives_step(const struct pattern *pattern, uint32_t birth, uint32_t end)
{
    size_t first = run_of(pattern->old, birth), last = run_of(pattern->old, end);
    return pattern->old->runs[first].phase == PHASE_OPTIMIZER ||
           pattern->steps[first] != pattern->steps[last];
}

/* Whether a lifetime may be something saved for a backward pass. */
static bool may_be_saved(const struct pattern *pattern, size_t index)
{
    const struct timeline *timeline = pattern->timeline;
    const struct lifetime *lifetime = &timeline->lifetimes[index];
    uint32_t end = lifetime_end(lifetime);
    if (end == EVENT_NEVER || end < lifetime->alloc || birth_is_leaf(timeline, index) ||
        outlives_step(pattern, lifetime->alloc, end))
        return false;
    uint64_t size = timeline->trace->size[lifetime->alloc];
    return pattern->stay_count == 0 ||
           !bsearch(&size, pattern->stays, pattern->stay_count, sizeof(size), compare_sizes);
}

static bool count_saved(struct pattern *pattern, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    size_t items = timeline->trace->count;
    if (!vec_grow((void **)&pattern->change, &pattern->change_capacity, items + 1,
                  sizeof(*pattern->change), pattern->budget, err))
        return false;
    for (size_t i = 0; i <= items; i++)
        pattern->change[i] = 0;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        if (!may_be_saved(pattern, i))
            continue;
        pattern->change[timeline->lifetimes[i].alloc]++;
        pattern->change[lifetime_end(&timeline->lifetimes[i])]--;
    }
    return true;
}

/* Whether blocks in the order of their birth end in the reverse order, by and large: each is
 * compared with the one a quarter of them further on, for those that one node saved end together.
 */
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

/* Leaves of pattern->saved what ends behind an item, at most MOST_OPEN of them. */
static void keep_behind(struct pattern *pattern, uint32_t item)
{
    size_t kept = 0;
    for (size_t i = 0; i < pattern->saved_count && kept < MOST_OPEN; i++)
        if (pattern->saved[i].end > item)
            pattern->saved[kept++] = pattern->saved[i];
    pattern->saved_count = kept;
}

/* Adds to pattern->saved what a hump has at its top. */
static bool add_members(struct pattern *pattern, const struct hump *hump, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    for (size_t i = births_from(timeline, hump->first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc <= hump->top; i++) {
        struct saved saved = {timeline->lifetimes[i].alloc, lifetime_end(&timeline->lifetimes[i])};
        if (saved.end > hump->top && may_be_saved(pattern, i) && !add_saved(pattern, &saved, err))
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
    if (!vec_grow((void **)&pattern->passes, &pattern->pass_capacity, pattern->pass_count + 1,
                  sizeof(passes), pattern->budget, err))
        return false;
    pattern->passes[pattern->pass_count++] = passes;
    return true;
}

/* A hump is a pair of passes where its blocks go in the reverse order. It is part of the backward
 * pass before it where that has blocks left to free: checkpointing computes a piece again. */
static bool take_hump(struct pattern *pattern, const struct hump *hump, struct error *err)
{
    keep_behind(pattern, hump->top);
    bool in_backward = pattern->is_open && pattern->saved_count >= LEAST_OPEN;
    if (in_backward) {
        pattern->passes[pattern->pass_count - 1].end = hump->end + 1;
        keep_behind(pattern, hump->end);
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
    keep_behind(pattern, hump->end);
    return true;
}

/* Splits the trace into humps: each ends where the count, once it has fallen to half of its top,
 * stops falling. */
static bool find_passes(struct pattern *pattern, struct error *err)
{
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
            if (!take_hump(pattern, &hump, err))
                return false;
            hump = (struct hump){.first = low_item + 1, .top = (uint32_t)i};
            top = now;
            falling = false;
        }
    }
    hump.end = items > 0 ? (uint32_t)items - 1 : 0;
    return top < LEAST_SAVED || take_hump(pattern, &hump, err);
}

/* The runs by annotation, with the passes put over what is no step's own. */
static bool put_passes(struct pattern *pattern, struct phases *made, struct error *err)
{
    const struct phases *old = pattern->old;
    size_t items = pattern->timeline->trace->count, pass = 0;
    bool ok = true;
    for (size_t run = 0; ok && run < old->count; run++) {
        uint32_t at = old->runs[run].first, end = phases_run_end(old, run, items);
        enum phase phase = (enum phase)old->runs[run].phase;
        enum phase_evidence evidence = (enum phase_evidence)old->runs[run].evidence;
        bool plain = phase <= PHASE_OTHER;
        while (phase == PHASE_OPTIMIZER && pass < pattern->pass_count &&
               pattern->passes[pass].forward < at)
            pass++; /* a pass ends with the step */
        while (ok && at < end) {
            while (pass < pattern->pass_count && pattern->passes[pass].end <= at)
                pass++;
            const struct passes *next = pass < pattern->pass_count ? &pattern->passes[pass] : NULL;
            uint32_t stop = end;
            if (!plain || !next || next->forward >= end) {
                ok = phases_append(made, at, phase, evidence, err);
            } else if (at < next->forward) {
                stop = next->forward;
                ok = phases_append(made, at, phase, evidence, err);
            } else {
                bool forward = at < next->backward;
                stop = forward ? next->backward : next->end;
                ok = phases_append(made, at, forward ? PHASE_FORWARD : PHASE_BACKWARD,
                                   PHASE_BY_LIFETIMES, err);
            }
            at = stop < end ? stop : end;
        }
    }
    return ok;
}

/* The backward pass goes on to the optimizer step that an annotation names. */
static void prolong_backward(struct phases *phases)
{
    size_t kept = 0;
    for (size_t run = 0; run < phases->count; run++) {
        bool joins = run > 0 && run + 1 < phases->count && phases->runs[run].phase <= PHASE_OTHER &&
                     phases->runs[kept - 1].phase == PHASE_BACKWARD &&
                     phases->runs[run + 1].phase == PHASE_OPTIMIZER;
        if (!joins)
            phases->runs[kept++] = phases->runs[run];
    }
    phases->count = kept;
}

/* Where a trace settles: what stays, and is there by this item, has the most bytes x items of the
 * trace behind it. */
static uint32_t settling_item(const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    double bytes = 0, most = 0;
    uint32_t settled = 0;
    for (size_t i = 0; i < timeline->carried_count; i++)
        if (carried_end(&timeline->carried[i]) == EVENT_NEVER)
            bytes += (double)timeline->carried[i].size;
    most = bytes * (double)trace->count;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        if (lifetime_end(&timeline->lifetimes[i]) != EVENT_NEVER)
            continue;
        bytes += (double)trace->size[item];
        if (bytes * (double)(trace->count - item) <= most)
            continue;
        most = bytes * (double)(trace->count - item);
        settled = item + 1;
    }
    return settled;
}

/* Without any turn, and without an annotation: a program that only computes forward, if anything.
 */
static bool guess_forward(struct phases *phases, const struct timeline *timeline, struct error *err)
{
    uint32_t first = settling_item(timeline);
    if (first >= timeline->trace->count ||
        timeline->lifetime_count - births_from(timeline, first) < LEAST_BIRTHS)
        return true;
    return phases_append(phases, first, PHASE_FORWARD, PHASE_GUESSED, err);
}

static bool has_step(const struct phases *phases)
{
    for (size_t run = 0; run < phases->count; run++)
        if (phases->runs[run].phase > PHASE_DATA)
            return true;
    return false;
}

bool phases_from_lifetimes(struct phases *phases, const struct timeline *timeline,
                           struct error *err)
{
    struct pattern pattern = {.timeline = timeline, .old = phases, .budget = phases->budget};
    struct phases made = {.budget = phases->budget};
    bool ok = find_stays(&pattern, err) && count_steps(&pattern, err) &&
              count_saved(&pattern, err) && find_passes(&pattern, err) &&
              put_passes(&pattern, &made, err);
    vec_free(pattern.stays, pattern.stay_capacity, sizeof(uint64_t), pattern.budget);
    vec_free(pattern.steps, pattern.step_capacity, sizeof(uint32_t), pattern.budget);
    vec_free(pattern.change, pattern.change_capacity, sizeof(int32_t), pattern.budget);
    vec_free(pattern.saved, pattern.saved_capacity, sizeof(struct saved), pattern.budget);
    vec_free(pattern.passes, pattern.pass_capacity, sizeof(struct passes), pattern.budget);
    if (!ok) {
        phases_release(&made);
        return false;
    }
    vec_free(phases->runs, phases->runs_capacity, sizeof(*phases->runs), phases->budget);
    phases->runs = made.runs;
    phases->count = made.count;
    phases->runs_capacity = made.runs_capacity;
    prolong_backward(phases);
    if (!has_step(phases))
        return guess_forward(phases, timeline, err);
    return phases_refine(phases, timeline, NULL, err);
}
