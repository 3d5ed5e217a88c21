#include "analysis/live/sums.h"

#include <stdlib.h>

/* The bytes of one allocation, with the line for which it counts: NO_FRAME if a backward pass made
 * it and no line of the program is known, but a node of the graph. */
struct part {
    frame_id frame;
    string_id node; /* of a part without a line; otherwise STRING_EMPTY */
    int64_t bytes;
    size_t live; /* index in the set */
};

unsigned live_phase(const struct live_set *set, const struct phases *phases,
                    const struct live *live)
{
    if (!live->in_trace)
        return live_is_older(set, live) ? LIVE_PHASE_BEFORE : PHASE_UNKNOWN;
    uint32_t run = phases_run_of(phases, set->timeline->lifetimes[live->index].alloc);
    return run == NO_RUN ? PHASE_UNKNOWN : phases->runs[run].phase;
}

const char *live_phase_name(unsigned phase)
{
    return phase == LIVE_PHASE_BEFORE ? "before_recording" : phase_name((enum phase)phase);
}

/* Orders by frame and node, then by size, the largest first. */
static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->live > y->live) - (x->live < y->live);
}

/* The allocations of one sum. */
struct parts {
    struct part *items; /* room for the whole set */
    size_t count;
    frame_id top; /* the line that holds most; NO_FRAME if there is none, or a node holds more */
};

/* Orders parts that hold equally many bytes: a line before a node, and lines by their place. */
static bool precedes(const struct live_set *set, const struct part *a, const struct part *b)
{
    if (a->frame == NO_FRAME || b->frame == NO_FRAME)
        return a->frame != NO_FRAME;
    return site_frame_order(set->sites, a->frame, b->frame) < 0;
}

static bool label_top(const struct live_set *set, struct parts *of, bool by_model_call,
                      struct live_sum *sum, struct error *err)
{
    struct part *parts = of->items;
    size_t count = of->count;
    size_t top = count;
    qsort(parts, count, sizeof(*parts), compare_parts);
    for (size_t i = 0, end; i < count; i = end) {
        int64_t bytes = 0;
        for (end = i;
             end < count && parts[end].frame == parts[i].frame && parts[end].node == parts[i].node;
             end++)
            bytes += parts[end].bytes;
        if (bytes > sum->top_bytes ||
            (bytes == sum->top_bytes && top < count && precedes(set, &parts[i], &parts[top]))) {
            sum->top_bytes = bytes;
            top = i;
        }
    }
    if (top < count && parts[top].frame == NO_FRAME) {
        top = count;
        sum->top_bytes = 0;
    }
    struct live_source source;
    of->top = top < count ? parts[top].frame : NO_FRAME;
    if (top == count)
        return true;
    if (!live_source_of(set, &set->items[parts[top].live], &source, err))
        return false;
    if (by_model_call)
        site_at_model_call(set->sites, source.shown, &source.site);
    live_source_label(set, &source, NULL, true, &sum->top_label);
    return !sum->top_label.failed || error_out_of_memory(err);
}

/* The line for which the bytes of an allocation count; false if it has none: torch's own Python
 * runs a backward pass that was compiled, and says nothing about the program. */
static bool line_of(const struct live_set *set, const struct live_source *source,
                    bool by_model_call, frame_id *frame)
{
    struct site site = source->site;
    if (site.has_backward && site.user_frame == NO_FRAME)
        return false;
    if (by_model_call)
        site_at_model_call(set->sites, source->shown, &site);
    return site_frame(set->sites, source->shown, &site, frame);
}

static void add_live(const struct live_set *set, size_t item, const struct live_source *source,
                     bool by_model_call, struct live_sum *sum, struct parts *parts)
{
    int64_t bytes = (int64_t)set->items[item].size;
    struct part part = {.frame = NO_FRAME, .node = STRING_EMPTY, .bytes = bytes, .live = item};
    sum->bytes += bytes;
    sum->count++;
    sum->largest_bytes = bytes > sum->largest_bytes ? bytes : sum->largest_bytes;
    if (!line_of(set, source, by_model_call, &part.frame)) {
        part.frame = NO_FRAME;
        part.node = source->site.node;
    }
    if (part.frame != NO_FRAME || part.node != STRING_EMPTY)
        parts->items[parts->count++] = part;
}

static bool add_all(const struct live_set *set, const struct live_facts *facts,
                    const struct live_question *questions, size_t count, struct live_sum *sums,
                    struct parts *parts, struct error *err)
{
    for (size_t i = 0; i < set->count; i++) {
        struct live_source source;
        if (!live_source_of(set, &set->items[i], &source, err))
            return false;
        for (size_t k = 0; k < count; k++)
            if (questions[k].counts(set, facts, &set->items[i], &source))
                add_live(set, i, &source, questions[k].by_model_call, &sums[k], &parts[k]);
    }
    return true;
}

/* Sets *found if an allocation is of the line, or if the line called the model for it. */
static bool is_of_line(const struct live_set *set, const struct live *live, bool by_model_call,
                       frame_id line, bool *found, struct error *err)
{
    struct live_source source;
    frame_id frame;
    if (!live_source_of(set, live, &source, err))
        return false;
    *found = line_of(set, &source, by_model_call, &frame) && frame == line;
    return true;
}

/* Sets *found if a line made what waits for a backward pass at the moment. */
static bool line_waits(const struct live_set *set, const struct live_facts *facts,
                       bool by_model_call, frame_id line, bool *found, struct error *err)
{
    *found = false;
    for (size_t i = 0; i < set->count && !*found; i++) {
        struct live_source source;
        if (!live_source_of(set, &set->items[i], &source, err))
            return false;
        if (live_waits_for_backward(set, facts, &set->items[i], &source) &&
            !is_of_line(set, &set->items[i], by_model_call, line, found, err))
            return false;
    }
    return true;
}

/* Sets *found if a backward pass frees, at any time, an activation that a line made. */
static bool line_is_used(const struct live_set *set, const struct live_facts *facts,
                         bool by_model_call, frame_id line, bool *found, struct error *err)
{
    const struct phases *phases = facts->phases;
    if (facts->last_pass == 0)
        return line_waits(set, facts, by_model_call, line, found, err);
    *found = false;
    for (size_t n = 0; n < phases->outliving_count && !*found; n++) {
        uint32_t index = phases->outliving[n], end = phases->of_lifetime[index].end;
        struct live live = live_of_lifetime(set->timeline, index);
        if (end != NO_RUN && phases->runs[end].phase == PHASE_BACKWARD &&
            live_category(set, &live) == CATEGORY_ACTIVATION &&
            !is_of_line(set, &live, by_model_call, line, found, err))
            return false;
    }
    return true;
}

/* Makes a sum anew with another division by lines, and names its line. */
static bool sum_by(const struct live_set *set, const struct live_facts *facts, live_test *counts,
                   bool by_model_call, struct parts *parts, struct live_sum *sum, struct error *err)
{
    struct live_question question = {.counts = counts, .by_model_call = by_model_call};
    live_sum_release(sum);
    parts->count = 0;
    parts->top = NO_FRAME;
    return add_all(set, facts, &question, 1, sum, parts, err) &&
           (parts->count == 0 || label_top(set, parts, by_model_call, sum, err));
}

/* Names the line that holds most of a sum. */
static bool label(const struct live_set *set, const struct live_facts *facts,
                  const struct live_question *question, struct parts *parts, struct live_sum *sum,
                  struct error *err)
{
    bool shared = false;
    if (parts->count == 0)
        return true;
    if (!label_top(set, parts, question->by_model_call, sum, err))
        return false;
    if (!question->unless_used || parts->top == NO_FRAME)
        return true;
    if (!line_is_used(set, facts, true, parts->top, &shared, err))
        return false;
    if (!shared)
        return true;
    if (!sum_by(set, facts, question->counts, false, parts, sum, err))
        return false;
    if (parts->top != NO_FRAME && !line_is_used(set, facts, false, parts->top, &shared, err))
        return false;
    if (!shared)
        return true;
    if (!sum_by(set, facts, question->counts, true, parts, sum, err))
        return false;
    sum->top_is_shared = true;
    return true;
}

bool live_sums(const struct live_set *set, const struct live_facts *facts,
               const struct live_question *questions, size_t count, struct live_sum *sums,
               struct error *err)
{
    struct live_sum made[LIVE_SUMS_MOST] = {0};
    struct parts parts[LIVE_SUMS_MOST] = {0};
    struct part *room = NULL;
    struct budget *budget = set->timeline->snapshot->budget;
    size_t capacity = 0;
    if (!vec_reserve(room, capacity, count * set->count + 1, budget, err))
        return false;
    for (size_t k = 0; k < count; k++)
        parts[k].items = room + k * set->count;
    bool ok = add_all(set, facts, questions, count, made, parts, err);
    for (size_t k = 0; ok && k < count; k++)
        ok = label(set, facts, &questions[k], &parts[k], &made[k], err);
    vec_free(room, capacity, sizeof(*room), budget);
    for (size_t k = 0; k < count; k++) {
        if (ok)
            sums[k] = made[k];
        else
            live_sum_release(&made[k]);
    }
    return ok;
}

void live_sum_release(struct live_sum *sum)
{
    buffer_release(&sum->top_label);
    *sum = (struct live_sum){0};
}
