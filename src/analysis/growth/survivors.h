/* What is live at the ends of steps, by call site. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_SURVIVORS_H
#define MEMSNAP_ANALYSIS_GROWTH_SURVIVORS_H

#include "analysis/growth/fit.h"
#include "analysis/live/sites.h"

/* The moments that are compared: after these items, ascending. */
struct step_ends {
    size_t count;   /* at most GROWTH_STEPS */
    int64_t before; /* the item before the first of their steps; -1: none */
    uint32_t items[GROWTH_STEPS];
};

/* Live at ends first to limit - 1; before: at step_ends.before, too. */
struct survival {
    uint16_t first, limit;
    bool before;
};

/* Every allocation that is live at one of the ends, or before them. */
struct survivors {
    struct live *items; /* sizes are clamped: for weighing one stack against another only */
    struct survival *lives;
    uint32_t *group;  /* of each, in groups */
    uint32_t *order;  /* indices of the above, group by group */
    uint32_t *begins; /* where each group begins in `order`; one more than there are groups */
    size_t count;
    size_t items_capacity, lives_capacity, group_capacity, order_capacity, begins_capacity;
    struct site_groups groups;
    struct budget *budget; /* not owned */
};

/* `set` says whose allocations; its items are not looked at. Time and memory grow with the
 * allocations that outlive a step, not with the steps. */
bool survivors_find(struct survivors *survivors, const struct live_set *set,
                    const struct step_ends *ends, struct error *err);
void survivors_release(struct survivors *survivors);

/* What one group holds at each end. Sizes beyond 62 bits are cut to that. */
void survivors_series(const struct survivors *survivors, const struct timeline *timeline,
                      size_t group, size_t end_count, struct growth_series *series);

/* The bytes of a group that are live after `item` and were allocated before `since`. */
int64_t survivors_older(const struct survivors *survivors, const struct timeline *timeline,
                        size_t group, int64_t item, uint32_t since);

#endif
