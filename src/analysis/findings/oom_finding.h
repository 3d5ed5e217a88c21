/* The finding whose memory a request that failed could have had.
 *
 * A finding states what the active peak would be without some memory. Then no moment has more
 * active memory than that, not the one of the request either. So the saving, less what the curve
 * lies below its peak at that moment, is free for the request. Memory that grows from step to step
 * is an exception: it stays, so that after the peak all of it would be free. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_OOM_FINDING_H
#define MEMSNAP_ANALYSIS_FINDINGS_OOM_FINDING_H

#include "analysis/findings/findings.h"
#include "analysis/oom/oom.h"

/* Lets the advice of each row name the finding that frees most, if that is enough for the request
 * and if too much was in use, or what was free lay in pieces. Findings that only restate a
 * category, such as activations, do not count. `peak` is of the active curve. */
void oom_finding_add(struct ooms *ooms, const struct findings *findings, const struct moment *peak,
                     enum unit unit);

#endif
