/* Allocations that are live at the ends of steps, by call site. One whose free was requested is not
 * live: nothing refers to it any more, even while it waits for a stream (see pending.h). In pinned
 * host memory it waits until the next allocation. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_SURVIVORS_H
#define MEMSNAP_ANALYSIS_GROWTH_SURVIVORS_H

#include "analysis/growth/fit.h"
#include "analysis/live/sites.h"

/* The compared moments: each is just after an item. */
struct step_ends {
    size_t count;                 /* at most GROWTH_STEPS */
    int64_t before;               /* the item before the first of these steps; -1: none */
    uint32_t items[GROWTH_STEPS]; /* ascending */
};

/* An allocation is live at the ends [first, limit). before: also at step_ends.before. */
struct survival {
    uint16_t first, limit;
    bool before;
};

/* All allocations that are live at one of the ends, or at step_ends.before. */
struct survivors {
    struct live *items; /* sizes are capped, and serve only to compare stacks */
    struct survival *lives;
    uint32_t *group;  /* by survivor: its index in groups */
    uint32_t *order;  /* indices of survivors, sorted by group */
    uint32_t *begins; /* by group: its first place in `order`; with one more at the end */
    size_t count;
    size_t items_capacity, lives_capacity, group_capacity, order_capacity, begins_capacity;
    struct site_groups groups;
    struct budget *budget; /* not owned */
};

/* `set` names the timeline, sites and categories; its items are ignored. Time and memory grow with
 * the number of allocations that outlive a step, not with the number of steps. */
bool survivors_find(struct survivors *survivors, const struct live_set *set,
                    const struct step_ends *ends, struct error *err);
void survivors_release(struct survivors *survivors);

/* The memory of one group at each end, of allocations that have outlived `outlived` ends before;
 * step_ends.before is one of these. Sums are capped at 2^62. */
void survivors_series(const struct survivors *survivors, const struct timeline *timeline,
                      size_t group, size_t end_count, uint16_t outlived,
                      struct growth_series *series);

#endif
