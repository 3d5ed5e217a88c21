#include "analysis/growth/keeper.h"

#include "model/sums.h"

/* True if a graph holds the tensor, and no backward pass uses it. */
static bool in_dropped_graph(const struct live_set *set, const struct live *live,
                             const uint8_t *is_dropped)
{
    if (!live->in_trace)
        return false;
    return (is_dropped && is_dropped[live->index]) ||
           reason_of(set->categories->why_lifetime[live->index]) == REASON_GRAPH_DROPPED;
}

static bool graphs_hold_most(const struct survivors *survivors, const struct live_set *set,
                             const uint8_t *is_dropped, size_t group)
{
    int64_t dropped = 0, others = 0;
    uint16_t last = 0;
    for (uint32_t at = survivors->begins[group]; at < survivors->begins[group + 1]; at++) {
        uint16_t limit = survivors->lives[survivors->order[at]].limit;
        last = limit > last ? limit : last;
    }
    for (uint32_t at = survivors->begins[group]; at < survivors->begins[group + 1]; at++) {
        const struct live *live = &survivors->items[survivors->order[at]];
        if (survivors->lives[survivors->order[at]].limit == last)
            sum_add_capped(in_dropped_graph(set, live, is_dropped) ? &dropped : &others,
                           (int64_t)live->size);
    }
    return dropped > others;
}

enum growth_keeper keeper_find(const struct survivors *survivors, const struct live_set *set,
                               const uint8_t *is_dropped, size_t group)
{
    if (survivors->groups.items[group].category == CATEGORY_WORKSPACE)
        return KEEPER_LIBRARY;
    return graphs_hold_most(survivors, set, is_dropped, group) ? KEEPER_GRAPHS : KEEPER_UNKNOWN;
}
