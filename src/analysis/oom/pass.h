/* What a forward pass without training would still have needed after the request that failed.
 *
 * The code that asked has a number: it is the n-th request of its stack in the pass. An earlier
 * complete pass, without a failed request, that has an n-th request of that stack shows what comes
 * after it, such as further layers whose keys and values a cache keeps. Of several, the one whose
 * request is closest in size counts: those of single tokens are far smaller than those of a prompt.
 * Its rise is taken to be as many times as large as the requests, if what the pass holds by then is
 * so, too. */
#ifndef MEMSNAP_ANALYSIS_OOM_PASS_H
#define MEMSNAP_ANALYSIS_OOM_PASS_H

#include "analysis/category/category.h"
#include "analysis/oom/oom.h"
#include "analysis/phase/steps.h"

/* Fills `larger_times`, and `step_bytes`, `like_step` and `like_times` of rows that have none,
 * after oom_rest_add(). Sets `rest_is_unknown` if nothing shows the rest of a pass that keeps a
 * result of layer after layer. */
void oom_pass_add(struct ooms *ooms, const struct timeline *timeline, const struct phases *phases,
                  const struct steps *steps, const struct categories *categories);

#endif
