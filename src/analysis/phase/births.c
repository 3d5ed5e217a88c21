#include "analysis/phase/births.h"

#include "base/bisect.h"

#define LEAF_BIRTHS 16 /* at most this many are examined */

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
