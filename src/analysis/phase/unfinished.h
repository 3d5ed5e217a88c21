/* Finds the backward pass in which a recording begins, by what autograd's thread does there. */
#ifndef MEMSNAP_ANALYSIS_PHASE_UNFINISHED_H
#define MEMSNAP_ANALYSIS_PHASE_UNFINISHED_H

#include "analysis/phase/runs.h"

/* In a trace with stacks, marks the first run as a backward pass if all its allocations are without
 * a stack, and if it frees memory from before the trace. Autograd's thread does so, which runs no
 * Python. */
void phases_mark_unfinished(struct phases *phases, const struct timeline *timeline);

#endif
