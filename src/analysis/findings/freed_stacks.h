/* The code whose results no backward pass needs, such as the layers of a frozen encoder: each
 * forward pass that a backward pass followed has freed them before it was over. In a forward pass
 * that runs out of memory, only those earlier passes tell them from what waits for the backward
 * pass. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_FREED_STACKS_H
#define MEMSNAP_ANALYSIS_FINDINGS_FREED_STACKS_H

#include "analysis/code/site.h"
#include "analysis/phase/phases.h"

struct freed_stacks {
    uint8_t
        *is_freed; /* a flag for each stack; NULL: no request failed, so the flags are not needed
                    */
    size_t capacity;
    struct budget *budget; /* not owned */
};

bool freed_stacks_find(struct freed_stacks *stacks, const struct timeline *timeline,
                       const struct symbols *symbols, const struct phases *phases,
                       struct error *err);
void freed_stacks_release(struct freed_stacks *stacks);

#endif
