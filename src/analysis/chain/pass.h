/* The pass that a chain is made from: a forward pass and the backward pass after it. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_PASS_H
#define MEMSNAP_ANALYSIS_CHAIN_PASS_H

#include "analysis/category/category.h"
#include "analysis/phase/steps.h"

struct pass {
    uint32_t first;    /* item: what is kept for the backward is allocated from here on */
    uint32_t backward; /* first item of the backward; `end` if there is none */
    uint32_t end;      /* the item after it */
    int64_t kept_bytes;
    size_t step; /* index, or NO_STEP */
    bool at_peak;
    bool unfinished;
    bool found;
    bool any_backward; /* there is some backward pass, even if nothing was found */
};

/* Finds the pass that keeps the most among those of the step with the active peak or, if it has
 * none, among all passes. If no forward pass has a backward pass, takes the last forward pass if it
 * ran out of memory. */
void pass_find(struct pass *pass, const struct timeline *timeline, const struct phases *phases,
               const struct steps *steps, const struct categories *categories);

/* True if a lifetime is an activation that the pass keeps. */
bool pass_keeps(const struct pass *pass, const struct timeline *timeline,
                const struct categories *categories, size_t lifetime);

#endif
