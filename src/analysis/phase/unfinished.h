/* The backward pass in which a recording begins, by what autograd's thread does there. */
#ifndef MEMSNAP_ANALYSIS_PHASE_UNFINISHED_H
#define MEMSNAP_ANALYSIS_PHASE_UNFINISHED_H

#include "analysis/phase/runs.h"

/* In a trace with stacks, marks the first run as a backward pass if only code without a stack
 * allocates in it, and it frees what was there before: autograd's thread, which runs no Python. */
void phases_mark_unfinished(struct phases *phases, const struct timeline *timeline);

#endif
