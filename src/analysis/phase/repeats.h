/* Finds the iterations of a trace that neither annotations nor phases show, by sequences of sizes
 * that occur once in each iteration. */
#ifndef MEMSNAP_ANALYSIS_PHASE_REPEATS_H
#define MEMSNAP_ANALYSIS_PHASE_REPEATS_H

#include "analysis/phase/step_marks.h"

/* Appends a mark to the empty `marks` at the end of each iteration except the last: where the
 * fewest bytes are active between a sequence and its next occurrence. Appends none if no sequence
 * occurs at regular distances until the end of the trace, or only those of layers do. */
bool repeats_find(struct step_marks *marks, const struct timeline *timeline, struct error *err);

#endif
