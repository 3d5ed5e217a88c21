#include "analysis/phase/births.h"

#include "base/bisect.h"

#define LEAF_BIRTHS 16 /* births that are examined */

/* Blocks that are live after the last allocation. */
struct long_lived {
    double bytes;
    size_t count;
};

static void add_live(struct long_lived *sum, uint64_t size)
{
    sum->bytes += (double)size;
    sum->count++;
}

uint32_t births_program_end(const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    size_t count = timeline->lifetime_count;
    struct long_lived never = {0}, late = {0};
    if (count == 0)
        return EVENT_NEVER;
    uint32_t last = births_end(timeline);
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        uint32_t end = preexisting_end(&timeline->preexisting[i]);
        if (end >= last)
            add_live(end == EVENT_NEVER ? &never : &late, timeline->preexisting[i].size);
    }
    for (size_t i = 0; i < count && timeline->lifetimes[i].alloc < trace->count / 2; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (end >= last)
            add_live(end == EVENT_NEVER ? &never : &late,
                     trace_size(trace, timeline->lifetimes[i].alloc));
    }
    return late.bytes > never.bytes && late.count > never.count ? last : EVENT_NEVER;
}

size_t births_from(const struct timeline *timeline, uint32_t item)
{
    const struct lifetime *lifetimes = timeline->lifetimes;
    size_t count = timeline->lifetime_count;
    return count > 0 ? bisect_less(&lifetimes->alloc, sizeof(*lifetimes), count, item) : 0;
}

bool birth_is_leaf(const struct timeline *timeline, size_t index)
{
    uint32_t end = lifetime_end(&timeline->lifetimes[index]);
    if (end == EVENT_NEVER)
        return false;
    for (size_t i = index + 1; i < timeline->lifetime_count; i++) {
        if (timeline->lifetimes[i].alloc > end)
            return true;
        if (i - index > LEAF_BIRTHS || lifetime_end(&timeline->lifetimes[i]) > end)
            return false;
    }
    return true;
}
