/* A forward pass that runs out of memory, in a trace without stacks. */
#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"

/* The bytes of blocks that are made in the items [from, to) and never freed. */
static double bytes_kept(const struct timeline *timeline, uint32_t from, uint32_t to, size_t *count)
{
    double bytes = 0;
    for (size_t i = births_from(timeline, from);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < to; i++) {
        if (lifetime_end(&timeline->lifetimes[i]) != EVENT_NEVER)
            continue;
        bytes += (double)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        *count += 1;
    }
    return bytes;
}

/* The bytes that a forward pass saves for its backward pass. */
static double bytes_saved(const struct timeline *timeline, const struct passes *passes)
{
    double bytes = 0;
    for (size_t i = births_from(timeline, passes->forward);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < passes->backward; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (end >= passes->backward && end < passes->end)
            bytes += (double)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
    }
    return bytes;
}

/* Drops what looks like passes after the last step, but frees less than was kept before: it is part
 * of the forward pass that did not end. */
static void drop_parts(struct pattern *pattern, uint32_t from)
{
    size_t count = 0;
    while (pattern->pass_count > 0) {
        const struct passes *last = &pattern->passes[pattern->pass_count - 1];
        if (last->forward < from || bytes_kept(pattern->timeline, from, last->backward, &count) <=
                                        bytes_saved(pattern->timeline, last))
            break;
        pattern->pass_count--;
    }
}

/* Adds a forward pass in which memory ran out. After its last step, or its last passes if nothing
 * names the steps, the program may be in a forward pass, whose saved blocks are never freed. */
bool passes_add_unfinished(struct pattern *pattern, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    uint32_t items = (uint32_t)timeline->trace->count, from = 0;
    size_t count = 0;
    bool has_steps = pattern->steps->count > 0;
    if (timeline->by_action[ACTION_OOM] == 0 || (!has_steps && pattern->pass_count == 0))
        return true;
    if (has_steps) {
        from = pattern->steps->items[pattern->steps->count - 1].end;
        drop_parts(pattern, from);
    }
    if (pattern->pass_count > 0 && pattern->passes[pattern->pass_count - 1].updated > from)
        from = pattern->passes[pattern->pass_count - 1].updated;
    if (from >= items || bytes_kept(timeline, from, items, &count) == 0 || count < LEAST_SAVED)
        return true;
    return pattern_add_passes(
        pattern,
        (struct passes){.forward = from, .backward = items, .end = items, .updated = items}, err);
}
