/* The pass that a chain is read off: a forward pass, and the backward pass behind it. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_PASS_H
#define MEMSNAP_ANALYSIS_CHAIN_PASS_H

#include "analysis/category/category.h"
#include "analysis/phase/steps.h"

struct pass {
    uint32_t first;    /* item: what is kept for the backward is born from here on */
    uint32_t backward; /* first item of the backward; as large as `end` where there is none */
    uint32_t end;      /* item behind it */
    int64_t kept_bytes;
    size_t step; /* index, or NO_STEP */
    bool at_peak;
    bool unfinished;
    bool found;
    bool any_backward; /* there is some backward pass, whatever was found */
};

/* Of the passes of the step that holds the active peak, the one that keeps the most; without any
 * there, of all passes. Where no backward pass follows any forward pass, the last forward pass if
 * it ends out of memory. */
void pass_find(struct pass *pass, const struct timeline *timeline, const struct phases *phases,
               const struct steps *steps, const struct categories *categories);

/* Whether a lifetime is an activation that the pass keeps. */
bool pass_keeps(const struct pass *pass, const struct timeline *timeline,
                const struct categories *categories, size_t lifetime);

#endif
