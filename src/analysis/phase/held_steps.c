/* Passes whose graph the program holds over the optimizer step, because backward() or
 * torch.autograd.grad() retains it and a variable keeps the loss, as where each of several losses
 * has a backward pass of its own. What the forward pass saved is freed at once when the variable is
 * set again, after the next forward pass. Only annotated steps show such passes: from one step to
 * the next, what the forward pass saved is most of what is made and kept. */
#include <stdlib.h>

#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"

#define LEAST_HELD   8 /* blocks */
#define MOST_APART   4 /* at most 1/4 of the blocks are freed earlier, or later, than the others */
#define MOST_OTHERS  4 /* at the turn, at most 1/4 as many blocks are live that are freed sooner */
#define MOST_SHOWN   2 /* passes found so far explain at most 1/2 as many */
#define LEAST_AS_ONE 2 /* the last step holds at least 1/2 as many as the one before */

/* The items [from, to) before a step; it ends at item `end`, and the next one begins at `next`. */
struct stretch {
    uint32_t from, to, end, next;
    bool is_last;
};

static bool is_large(const struct pattern *pattern, size_t index)
{
    const struct timeline *timeline = pattern->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc) >= LEAST_WEIGHT;
}

/* True for what the program may hold over the step because a graph refers to it. */
static bool is_held(const struct pattern *pattern, const struct stretch *stretch, size_t index)
{
    uint32_t end = lifetime_end(&pattern->timeline->lifetimes[index]);
    int flags = pattern->flags[index];
    return end > stretch->end && (end < stretch->next || stretch->is_last) &&
           !(flags & PATTERN_LEAF) && (!(flags & PATTERN_WEIGHT) || (flags & PATTERN_SHARED)) &&
           is_large(pattern, index);
}

/* Sets pattern->saved to the blocks that are made in a stretch and held over the step. */
static bool list_held(struct pattern *pattern, const struct stretch *stretch, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    pattern->saved_count = 0;
    for (size_t i = births_from(timeline, stretch->from);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < stretch->to; i++) {
        struct saved saved = {.birth = timeline->lifetimes[i].alloc,
                              .end = lifetime_end(&timeline->lifetimes[i])};
        if (is_held(pattern, stretch, i) &&
            !vec_push(pattern->saved, pattern->saved_count, pattern->saved_capacity,
                      pattern->budget, err, saved))
            return false;
    }
    return true;
}

/* True if most of the blocks are freed with little made in between. */
static bool go_at_once(struct pattern *pattern)
{
    size_t count = pattern->saved_count, some = count / MOST_APART;
    qsort(pattern->saved, count, sizeof(*pattern->saved), saved_compare_ends);
    uint32_t first = pattern->saved[some].end, last = pattern->saved[count - 1 - some].end;
    qsort(pattern->saved, count, sizeof(*pattern->saved), saved_compare_births);
    return (births_from(pattern->timeline, last) - births_from(pattern->timeline, first)) *
               MOST_APART <=
           count;
}

/* The first item after the middle of the held blocks that makes a block of the size of a weight, as
 * a gradient is; stretch->to if there is none. */
static uint32_t find_turn(const struct pattern *pattern, const struct stretch *stretch)
{
    const struct timeline *timeline = pattern->timeline;
    uint32_t middle = pattern->saved[pattern->saved_count / 2].birth;
    for (size_t i = births_from(timeline, middle + 1);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < stretch->to; i++)
        if ((pattern->flags[i] & PATTERN_WEIGHT) && !(pattern->flags[i] & PATTERN_LEAF) &&
            is_large(pattern, i))
            return timeline->lifetimes[i].alloc;
    return stretch->to;
}

/* The number of blocks made in the items [from, turn) that are live at the turn and freed before
 * the item `to`, as what a backward pass frees. */
static size_t count_others(const struct pattern *pattern, uint32_t from, uint32_t turn, uint32_t to)
{
    const struct timeline *timeline = pattern->timeline;
    size_t others = 0;
    for (size_t i = births_from(timeline, from);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < turn; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        others += end >= turn && end < to && pattern_may_be_saved(pattern, i, false) &&
                  is_large(pattern, i);
    }
    return others;
}

/* Drops from pattern->saved what is made after the turn, such as vectors of gradients. */
static void keep_before(struct pattern *pattern, uint32_t turn)
{
    size_t count = 0;
    while (count < pattern->saved_count && pattern->saved[count].birth < turn)
        count++;
    pattern->saved_count = count;
}

/* Finds the pair of passes in a stretch whose graph is held, and sets pattern->saved to what it
 * holds. `before`: the number of such blocks in the stretch before, 0 if its graph is not held. */
static bool find_held(struct pattern *pattern, const struct stretch *stretch, size_t before,
                      struct passes *passes)
{
    if (pattern->saved_count < LEAST_HELD)
        return false;
    uint32_t turn = find_turn(pattern, stretch), forward = pattern->saved[0].birth;
    *passes = (struct passes){
        .forward = forward, .backward = turn, .end = stretch->to, .updated = stretch->to};
    keep_before(pattern, turn);
    size_t count = pattern->saved_count;
    if (count < LEAST_HELD || turn == stretch->to ||
        (stretch->is_last ? count * LEAST_AS_ONE < before || before == 0 : !go_at_once(pattern)))
        return false;
    return count_others(pattern, forward, turn, stretch->to) * MOST_OTHERS <= count;
}

/* The number of blocks made before the turn that passes [begin, end) explain. */
static size_t count_shown(const struct pattern *pattern, size_t begin, size_t end, uint32_t turn)
{
    size_t shown = 0;
    for (size_t i = begin; i < end; i++) {
        const struct passes *passes = &pattern->passes[i];
        uint32_t until = passes->backward < turn ? passes->backward : turn;
        shown += count_others(pattern, passes->forward, until, passes->end);
    }
    return shown;
}

/* Looks at one step; passes [begin, end) lie before it. Sets *held to the number of blocks that a
 * graph holds. */
static bool add_held(struct pattern *pattern, const struct stretch *stretch, size_t begin,
                     size_t end, size_t *held, struct error *err)
{
    struct passes passes;
    if (!list_held(pattern, stretch, err))
        return false;
    bool found =
        find_held(pattern, stretch, *held, &passes) &&
        count_shown(pattern, begin, end, passes.backward) * MOST_SHOWN <= pattern->saved_count;
    *held = found ? pattern->saved_count : 0;
    if (!found)
        return true;
    for (size_t i = begin; i < end; i++) /* empty: see drop_empty() */
        pattern->passes[i].backward = pattern->passes[i].end = pattern->passes[i].forward;
    return pattern_add_passes(pattern, passes, err);
}

static int compare_passes(const void *a, const void *b)
{
    const struct passes *x = a, *y = b;
    return (x->forward > y->forward) - (x->forward < y->forward);
}

static void drop_empty(struct pattern *pattern)
{
    size_t kept = 0;
    for (size_t i = 0; i < pattern->pass_count; i++)
        if (pattern->passes[i].end > pattern->passes[i].forward)
            pattern->passes[kept++] = pattern->passes[i];
        else
            pattern->probes -= pattern->passes[i].is_probe;
    pattern->pass_count = kept;
    if (kept > 0)
        qsort(pattern->passes, kept, sizeof(*pattern->passes), compare_passes);
}

bool passes_from_held_steps(struct pattern *pattern, struct error *err)
{
    const struct step_marks *steps = pattern->steps;
    uint32_t items = (uint32_t)pattern->timeline->trace->count;
    size_t begin = 0, end = 0, held = 0, found = pattern->pass_count;
    for (size_t i = 0; i < steps->count; i++, begin = end) {
        const struct step_mark *step = &steps->items[i];
        bool is_last = i + 1 == steps->count;
        struct stretch stretch = {.from = i > 0 ? steps->items[i - 1].end : 0,
                                  .to = step->begin,
                                  .end = step->end,
                                  .next = is_last ? items : steps->items[i + 1].begin,
                                  .is_last = is_last};
        while (end < found && pattern->passes[end].forward < step->begin)
            end++;
        if (!step->has_closure && !add_held(pattern, &stretch, begin, end, &held, err))
            return false;
    }
    if (pattern->pass_count > found)
        drop_empty(pattern);
    return true;
}
