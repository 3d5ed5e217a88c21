/* Live allocations grouped by call site: the rows of a report. */
#ifndef MEMSNAP_ANALYSIS_LIVE_SITES_H
#define MEMSNAP_ANALYSIS_LIVE_SITES_H

#include "analysis/live/bundles.h"

/* Live allocations with the same frame, operator and category. */
struct site_group {
    struct live_source source; /* of the stack that holds the most */
    enum category category;
    int64_t bytes, most_bytes;
    uint64_t count, stacks;
};

struct site_groups {
    struct site_group *items;
    size_t count, capacity;
    size_t placed;         /* the number of groups with a stack, which come first */
    struct budget *budget; /* not owned */
};

/* Makes all groups: those with a stack, then those without, each largest first. Ties are ordered by
 * names alone. A sum that exceeds INT64_MAX, as it may where the allocations were live at different
 * times, is INT64_MAX. */
bool site_groups_make(const struct live_set *set, struct site_groups *groups, struct error *err);
/* The same; members[i], of set->count, is the index of the group of set->items[i]. */
bool site_groups_make_members(const struct live_set *set, struct site_groups *groups,
                              uint32_t *members, struct error *err);
/* The two steps of it: bundles by category, of which members[i] is the index unless `members` is
 * NULL; then the groups, to which bundle.group refers. */
bool site_groups_bundle(const struct live_set *set, struct live_bundles *bundles, uint32_t *members,
                        struct error *err);
bool site_groups_of(const struct live_set *set, struct live_bundles *bundles,
                    struct site_groups *groups, struct error *err);
void site_groups_release(struct site_groups *groups);

#endif
