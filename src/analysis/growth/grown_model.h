/* Growth by design: one model that gets more and more parameters, as by a head for each task. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_GROWN_MODEL_H
#define MEMSNAP_ANALYSIS_GROWTH_GROWN_MODEL_H

#include "analysis/growth/candidates.h"
#include "analysis/growth/rows.h"

/* Sets *grows if the last backward pass that made gradients made many for parameters that are older
 * than the newest ones: a quarter of its gradients, whose sizes parameters have that were made
 * before the backward pass before the newest. If each run makes a model of its own instead, all
 * gradients are of the newest parameters. `candidates` begin with those that grow. */
bool grown_model_find(const struct growth_builder *builder, const struct candidate *candidates,
                      size_t count, bool *grows, struct error *err);

#endif
