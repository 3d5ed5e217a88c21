#include "analysis/births.h"

#define LEAF_BIRTHS 16 /* so many are looked at */

size_t births_from(const struct timeline *timeline, uint32_t item)
{
    size_t low = 0, high = timeline->lifetime_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (timeline->lifetimes[middle].alloc < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
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
