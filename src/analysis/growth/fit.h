/* Classifies a series of sizes, one at the end of each step. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_FIT_H
#define MEMSNAP_ANALYSIS_GROWTH_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/code/reason.h"

#define GROWTH_STEPS 256 /* the most step ends that are compared */

enum growth_kind {
    GROWTH_GROWING,        /* at least twice, and up to the end */
    GROWTH_KEPT_GRADIENTS, /* not from a series: see gradients.h */
    GROWTH_STOPPED,        /* grew after the first step, then stayed the same: a cache */
    GROWTH_ONE_OFF,        /* allocated in the first step and kept */
    GROWTH_UNCLEAR,        /* grew once, or the trace is too short to tell */
    GROWTH_VARYING,        /* up and down */
    GROWTH_CONSTANT,
};

/* "growing", "kept_gradients", "grew_then_stopped", "unclear", "one_off", "varying", "constant" */
const char *growth_kind_name(enum growth_kind kind);

/* The memory of one call site at the ends of the compared steps. */
struct growth_series {
    size_t count;                  /* steps, 1 to GROWTH_STEPS */
    int64_t before_bytes;          /* before the first step */
    int64_t bytes[GROWTH_STEPS];   /* never negative */
    uint32_t blocks[GROWTH_STEPS]; /* allocations */
    uint64_t freed;                /* allocations live at one of the ends, but not at the last */
};

struct growth_fit {
    enum growth_kind kind;
    bool replaced;          /* GROWTH_GROWING: by larger allocations rather than more of them */
    int64_t bytes_per_step; /* from one compared step to the next; 0 unless GROWTH_GROWING */
    uint32_t steps_grown, steps_compared; /* number of steps: that grew; in all */
    double r_squared;                     /* of a straight line fitted to the series */
    enum confidence confidence;
};

/* A series is growing if
 *   - at most a tenth of the added bytes is freed again,
 *   - two or more steps grew by more allocations, or four or more steps, and four fifths of all,
 *     grew with an R^2 of at least 0.9, and
 *   - the last step that grew is the last or the last but one, or not longer ago than the longest
 *     pause between two that grew.
 * bytes_per_step is the median of the differences if most steps grew, so that an outlier does not
 * count, else their mean; also if outliers of more than four times the median come again and again,
 * and add most of the bytes. Confidence is high if four or more steps grew and R^2 is at least
 * 0.95, and medium for three steps and 0.8. */
void growth_fit(const struct growth_series *series, struct growth_fit *fit);

#endif
