/* Finds the end of a backward pass: where the last of the blocks saved for it is freed, unless the
 * program holds that block until the next batch replaces it. */
#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"

#define MOST_IN_BATCH 4 /* tensors */

/* The item that makes the next batch, if a variable may hold a saved block until then; EVENT_NEVER
 * if there is none. The new block has the same size, lives beyond the hump, and has not the size of
 * a weight, so it is neither a gradient nor an optimizer state. */
static uint32_t item_of_successor(const struct pattern *pattern, uint32_t top, uint32_t last,
                                  const struct saved *saved)
{
    const struct timeline *timeline = pattern->timeline;
    uint64_t size = trace_size(timeline->trace, saved->birth);
    size_t after = births_from(timeline, saved->end);
    for (size_t i = after; i-- > 0 && after - i <= MOST_IN_BATCH;) {
        uint32_t birth = timeline->lifetimes[i].alloc;
        if (birth > top && trace_size(timeline->trace, birth) == size &&
            !(pattern->flags[i] & PATTERN_WEIGHT) && lifetime_end(&timeline->lifetimes[i]) > last)
            return birth;
    }
    return EVENT_NEVER;
}

/* The end of a pass that has freed what it saved by item `end`. It may go on until the next batch
 * is made, because an embedding saves no block that would be freed. */
static uint32_t end_before_batch(const struct pattern *pattern, uint32_t end, uint32_t batch)
{
    const struct timeline *timeline = pattern->timeline;
    uint32_t last = end;
    for (size_t i = births_from(timeline, end);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < batch; i++) {
        uint32_t freed = lifetime_end(&timeline->lifetimes[i]);
        uint32_t after = (freed < batch ? freed : timeline->lifetimes[i].alloc) + 1;
        last = after > last ? after : last;
    }
    return last;
}

/* The end of the backward pass that frees pattern->saved. The program may hold some of these blocks
 * longer, so blocks that end four times as late as most do not count. Scalars such as the loss do
 * not count either if the update makes new weights, since the update would seem to be part of the
 * pass. Blocks end in reverse order, so three quarters have ended with the block at one quarter. */
uint32_t passes_end_of_backward(const struct pattern *pattern, uint32_t top, uint32_t last)
{
    uint32_t most = pattern->saved[pattern->saved_count / 4].end, end = top + 1;
    uint32_t batch = EVENT_NEVER;
    uint64_t limit = 4 * (uint64_t)(most - top) + top;
    for (size_t i = 0; i < pattern->saved_count; i++) {
        const struct saved *saved = &pattern->saved[i];
        bool is_scalar = pattern->are_renewed &&
                         trace_size(pattern->timeline->trace, saved->birth) < LEAST_WEIGHT;
        bool counts = !is_scalar && saved->end <= last && saved->end <= limit;
        if (!counts || saved->end + 1 <= end)
            continue;
        uint32_t successor = item_of_successor(pattern, top, last, saved);
        if (successor == EVENT_NEVER)
            end = saved->end + 1;
        else if (successor < batch)
            batch = successor;
    }
    return batch < EVENT_NEVER ? end_before_batch(pattern, end, batch) : end;
}
