/* The call sites that take the most of a picture of memory over time: bytes times the columns in
 * which they are live. */
#ifndef MEMSNAP_ANALYSIS_CURVES_SITE_RANKS_H
#define MEMSNAP_ANALYSIS_CURVES_SITE_RANKS_H

#include "analysis/code/site.h"
#include "analysis/curves/sampling.h"

#define SITE_RANKS_MOST 32

/* A call site is a line of code or, without one, an operator. Allocations without a stack are one
 * call site, whose example is STACK_NONE. */
struct site_ranks {
    uint8_t *of_stack; /* by stack: its rank, or `count` */
    stack_id example[SITE_RANKS_MOST];
    size_t count;
    bool has_others;
};

/* At most `most`, up to SITE_RANKS_MOST. */
bool site_ranks_make(struct site_ranks *ranks, const struct timeline *timeline,
                     const struct sampling *sampling, struct site_table *sites, size_t most,
                     struct error *err);
void site_ranks_release(struct site_ranks *ranks);

#endif
