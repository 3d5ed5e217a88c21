/* What a series of sizes, one at the end of each step, does. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_FIT_H
#define MEMSNAP_ANALYSIS_GROWTH_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/code/reason.h"

#define GROWTH_STEPS 256 /* most step ends that are compared */

enum growth_kind {
    GROWTH_GROWING,        /* up to the end, and at least twice */
    GROWTH_KEPT_GRADIENTS, /* never a series: see growth_gradients.h */
    GROWTH_STOPPED,        /* grew after the first step, then no more, and keeps all: a cache */
    GROWTH_ONE_OFF,        /* came with the first step and stayed */
    GROWTH_UNCLEAR,        /* grew once, or too little is recorded to tell */
    GROWTH_VARYING,        /* up and down */
    GROWTH_CONSTANT,
};

/* "growing", "kept_gradients", "grew_then_stopped", "unclear", "one_off", "varying", "constant" */
const char *growth_kind_name(enum growth_kind kind);

/* What one site holds at the ends of the steps that are compared. */
struct growth_series {
    size_t count;                  /* steps, 1 to GROWTH_STEPS */
    int64_t before_bytes;          /* before the first of them */
    int64_t bytes[GROWTH_STEPS];   /* none below 0 */
    uint32_t blocks[GROWTH_STEPS]; /* allocations */
    uint64_t freed;                /* allocations live at some end, but not at the last */
};

struct growth_fit {
    enum growth_kind kind;
    bool replaced;          /* GROWTH_GROWING: not more allocations, but larger ones */
    int64_t bytes_per_step; /* from one compared step to the next; 0 unless GROWTH_GROWING */
    uint32_t steps_grown, steps_compared; /* of how many it grew */
    double r_squared;                     /* of a straight line through the series */
    enum confidence confidence;
};

/* Growing: what came stays (less than a tenth is given back), it came at least twice and with more
 * allocations each time, or four times in a row with larger ones, and the last time is no longer
 * ago than the longest pause before it. bytes_per_step is the median of the differences where most
 * steps grew, so that one odd step does not count, else their mean. Confidence: high from four
 * times on with an R^2 of 0.95, medium from three on with 0.8. */
void growth_fit(const struct growth_series *series, struct growth_fit *fit);

#endif
