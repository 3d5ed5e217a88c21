/* The tensors that an autograd graph still keeps when the backward passes through it are over, and
 * which pass was the last. Files of this folder only: see retained_graphs.h for the rules. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_RETAINED_ITEMS_H
#define MEMSNAP_ANALYSIS_GROWTH_RETAINED_ITEMS_H

#include "analysis/category/category.h"
#include "analysis/phase/phases.h"

/* What the backward passes of a step do, by its number (phase_run.pass). */
struct backward_sums {
    uint32_t last;     /* the last run of the backward passes; NO_RUN: none */
    uint32_t computed; /* allocations in them */
    uint32_t freed;    /* tensors saved by the forward pass that they free */
    uint32_t left;     /* tensors saved by it that the graph frees later */
};

/* A tensor that may count, in the order of birth. */
struct retained_item {
    uint32_t lifetime, pass;
    uint8_t forwards; /* functions named forward in its stack, at most 2 */
    bool is_far;      /* outlives the next backward pass: it may be freed in the next iteration */
    bool is_late;     /* outlives the next iteration as well */
};

struct retained_items {
    const struct timeline *timeline; /* these five are not owned */
    struct site_table *sites;
    const struct categories *categories;
    const struct phases *phases;
    const uint8_t *is_dropped; /* by lifetime, leaves some out; NULL: none */
    struct backward_sums *sums;
    size_t passes; /* number of sums */
    struct retained_item *items;
    uint8_t *in_burst; /* by lifetime: see graph_bursts.h */
    uint8_t *in_time;  /* by stack: some of its tensors are not late */
    size_t sums_capacity, count, capacity, time_capacity, burst_capacity;
    struct budget *budget; /* not owned */
};

/* `items` names the timeline and the other inputs. Release it also after a failure. */
bool retained_items_find(struct retained_items *items, struct error *err);
void retained_items_release(struct retained_items *items);

/* The last backward run through the graph of a tensor, if the backward passes of its step kept the
 * graph; else NO_RUN. */
uint32_t retained_items_last_run(const struct retained_items *items,
                                 const struct retained_item *item);

#endif
