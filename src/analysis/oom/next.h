/* Advice for requests after which the rest of the step would not have fit either: a remedy for the
 * request alone only moves the failure. */
#ifndef MEMSNAP_ANALYSIS_OOM_NEXT_H
#define MEMSNAP_ANALYSIS_OOM_NEXT_H

#include "analysis/oom/oom.h"

/* What the step would have needed beyond all that PyTorch can have; at most 0: nothing, or not
 * known. */
int64_t oom_missing_bytes(const struct oom_row *row);

/* True if the step that failed has a larger batch than the one that it is compared with. */
bool oom_has_larger_batch(const struct oom_row *row);

/* Rewrites `next` of such rows, after oom_rest_add(), oom_pass_add() and oom_state_add(). `step` is
 * what `like_step` counts, such as "step". */
void oom_next_add(struct ooms *ooms, const char *step, enum unit unit);

#endif
