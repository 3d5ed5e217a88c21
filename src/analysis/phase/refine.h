/* Phases that no stack names: the forward pass and the optimizer step of a handwritten loop, told
 * by what they allocate.
 *
 * Code between the known phases of a step is forward from the item that forward.h finds up to the
 * following backward pass; this includes the loss after a module's forward. Code after a backward
 * pass is the optimizer step, from its first to its last allocation of a gradient's size, if at
 * least half of the bytes that it allocates are in blocks of the sizes of that pass's gradients; or
 * if this holds of the bytes that it keeps, and they are at least half of the gradients': an
 * optimizer that makes its states may need more space of other sizes in between. With stacks, the
 * step may also be the longest part of the code from there on of which this holds, if it allocates
 * at least half of the gradients' bytes: the next batch may be larger than the weights. */
#ifndef MEMSNAP_ANALYSIS_PHASE_REFINE_H
#define MEMSNAP_ANALYSIS_PHASE_REFINE_H

#include "analysis/code/site.h"
#include "analysis/phase/runs.h"
#include "analysis/phase/step_marks.h"

struct known_sizes {
    const uint64_t *items; /* ascending */
    size_t count;
};

/* `sites` is NULL if nothing has a stack: then only optimizer steps are searched for. `steps` are
 * annotated optimizer steps; none is searched for between a backward pass and the next plain code
 * that one of them follows or precedes. NULL: annotations do not matter. `weights` are the sizes
 * that gradients may have; none: any. */
bool phases_refine(struct phases *phases, const struct timeline *timeline, struct site_table *sites,
                   const struct step_marks *steps, struct known_sizes weights, struct error *err);

#endif
