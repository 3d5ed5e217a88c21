/* Backward passes that autograd itself records (create_graph=True), so that a later backward pass
 * can go through them: a gradient penalty, a Hessian-vector product, an inner step of
 * meta-learning.
 *
 * Such a pass leaves what the forward pass saved alone, because the later pass needs it as well. So
 * a pass is recorded if what is made before it and freed by a later backward pass, with no
 * optimizer step in between, is far more than what it frees itself. Steps that only lifetimes show
 * do not count as optimizer steps: the inner step of meta-learning looks like one.
 *
 * If no backward pass frees the graph at all, as with retain_graph=True in each, the program drops
 * it. Such a pass keeps the graph: it frees far less of what the forward runs before it made than
 * it leaves to other code. */
#ifndef MEMSNAP_ANALYSIS_PHASE_RECORDED_H
#define MEMSNAP_ANALYSIS_PHASE_RECORDED_H

#include "analysis/phase/runs.h"

/* Sets is_recorded, keeps_graph, is_saved and updates of every run. `of_lifetime` must be filled.
 */
bool phases_mark_recorded(struct phases *phases, const struct timeline *timeline,
                          struct error *err);

#endif
