/* Whose code holds the live allocations: the rows of a report. */
#ifndef MEMSNAP_ANALYSIS_LIVE_SITES_H
#define MEMSNAP_ANALYSIS_LIVE_SITES_H

#include "analysis/live/source.h"

/* One group of live allocations: same frame, operator, category. */
struct site_group {
    struct live_source source; /* of the stack that holds the most */
    enum category category;
    int64_t bytes, most_bytes;
    uint64_t count, stacks;
};

struct site_groups {
    struct site_group *items;
    size_t count, capacity;
    size_t placed;         /* the first so many have a stack */
    struct budget *budget; /* not owned */
};

/* The sums are INT64_MAX where they are more: of what was live at different times. All groups:
 * those with a stack, then those without, each largest first; ties in an order that
 * depends on names alone. */
bool site_groups_make(const struct live_set *set, struct site_groups *groups, struct error *err);
/* The same, and in members[i], of set->count, the group of set->items[i]. */
bool site_groups_make_members(const struct live_set *set, struct site_groups *groups,
                              uint32_t *members, struct error *err);
void site_groups_release(struct site_groups *groups);

#endif
