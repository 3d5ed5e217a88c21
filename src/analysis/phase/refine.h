/* The phases that no stack names: the forward pass and the optimizer step of a loop written by
 * hand, told by what is born in them.
 *
 * What runs between a step's own phases is forward, from its first allocation that the backward
 * pass after it frees (a batch copied to the device aside) up to that pass. The loss after a
 * module's forward is so, too. And it is the optimizer step, from its first to its last allocation
 * of a gradient's size, where it comes after a backward pass and at least half of the bytes it
 * allocates are in blocks of the sizes of that pass's gradients. */
#ifndef MEMSNAP_ANALYSIS_PHASE_REFINE_H
#define MEMSNAP_ANALYSIS_PHASE_REFINE_H

#include "analysis/code/site.h"
#include "analysis/phase/runs.h"

/* `sites` is NULL where nothing has a stack: then only optimizer steps are looked for. */
bool phases_refine(struct phases *phases, const struct timeline *timeline, struct site_table *sites,
                   struct error *err);

/* Whether the operator brings a batch to the device or draws one there. */
bool op_makes_input(const struct symbols *symbols, string_id op);

#endif
