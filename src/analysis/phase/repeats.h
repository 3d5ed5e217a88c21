/* Iterations of a trace that neither annotations nor phases tell: the sequences of sizes that come
 * back once in each. */
#ifndef MEMSNAP_ANALYSIS_PHASE_REPEATS_H
#define MEMSNAP_ANALYSIS_PHASE_REPEATS_H

#include "analysis/phase/step_marks.h"

/* Appends a mark to the empty `marks` at the end of each iteration but the last: where, between a
 * sequence and its next occurrence, the fewest bytes are active. Appends none if no sequences come
 * back at regular distances until the end of the trace, or only those of layers do. */
bool repeats_find(struct step_marks *marks, const struct timeline *timeline, struct error *err);

#endif
