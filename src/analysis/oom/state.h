/* What an optimizer would still have needed for its states, if memory ran out while it made them.
 *
 * PyTorch's optimizers make their states in the first step in which a parameter has a gradient, one
 * parameter after the other: Adam makes two tensors of each gradient's size. This may be a later
 * step, such as that after frozen weights are trained, too. If the failed request is for such a
 * state, the lines that make states show how many of them each gradient gets, and the gradients
 * that are live show how many bytes come. If other lines have made states before, nothing is said,
 * because the gradients do not tell which optimizer they belong to. */
#ifndef MEMSNAP_ANALYSIS_OOM_STATE_H
#define MEMSNAP_ANALYSIS_OOM_STATE_H

#include "analysis/category/category.h"
#include "analysis/oom/oom.h"

/* Fills `state_made_bytes`, `state_rest_bytes`, `step_bytes` and `of_temporaries` of rows. */
bool oom_state_add(struct ooms *ooms, const struct timeline *timeline, struct site_table *sites,
                   const struct phases *phases, const struct categories *categories,
                   struct error *err);

#endif
