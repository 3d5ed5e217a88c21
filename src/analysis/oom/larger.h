/* Requests of a forward pass that are larger than all that the same code made in earlier steps: a
 * sample or a batch is larger than those before, and others are no help to judge it by. */
#ifndef MEMSNAP_ANALYSIS_OOM_LARGER_H
#define MEMSNAP_ANALYSIS_OOM_LARGER_H

#include "analysis/oom/oom.h"
#include "analysis/phase/steps.h"

/* Fills `earlier_bytes` of the rows. */
bool oom_larger_add(struct ooms *ooms, const struct timeline *timeline, struct site_table *sites,
                    const struct steps *steps, struct error *err);

#endif
