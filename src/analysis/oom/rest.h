/* What the step in which memory ran out would still have needed after the request that failed.
 *
 * An earlier complete step shows it: the same request, the n-th of its size and stack in the step,
 * and the highest point of the active curve from there to the end of that step's backward pass.
 * What is live now in addition, such as the states that the optimizer has made in the meantime,
 * comes on top. Gradients that are live now but were not live then count until the backward pass
 * only: a program frees them before it, or adds to them. So do results of the earlier step that
 * variables hold, if the step made them after that request: the code that is about to run sets the
 * variables again. If the earlier step made the request in another size only, as with batches of
 * other lengths, or if the request has the same size whatever the batch, the rest is taken to be as
 * many times as large as the activations that the step holds at the request. */
#ifndef MEMSNAP_ANALYSIS_OOM_REST_H
#define MEMSNAP_ANALYSIS_OOM_REST_H

#include "analysis/category/category.h"
#include "analysis/oom/oom.h"
#include "analysis/phase/steps.h"

/* Fills `step_bytes`, `like_step` and `rest_is_unknown` of the rows. */
void oom_rest_add(struct ooms *ooms, const struct timeline *timeline, const struct phases *phases,
                  const struct steps *steps, const struct categories *categories);

#endif
