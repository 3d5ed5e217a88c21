/* Forward passes of which the backward pass computes nothing but idle gradients.
 *
 * Such a pass, as of a teacher or of a reference model, needs no graph. The first backward pass
 * that makes idle gradients shows which: it frees what the pass saved between idle gradients, and
 * makes no gradient of a trained parameter meanwhile (idle_parts.h). The stacks tell such a pass
 * from those of models that are trained (idle_calls.h). Later passes are known by the lines of
 * code. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_IDLE_PASSES_H
#define MEMSNAP_ANALYSIS_GRADIENTS_IDLE_PASSES_H

#include "analysis/gradients/idle_gradients.h"

/* For IDLE_UNTRAINED and IDLE_DISCARDED: sets `pass_bytes`, `pass_place`, `pass_stack` and
 * `pass_call`, and adds what such passes save to `save_bytes`. */
bool idle_passes_add(struct idle_gradients *idle, const struct timeline *timeline,
                     struct site_table *sites, const struct phases *phases,
                     const struct categories *categories, struct error *err);

#endif
