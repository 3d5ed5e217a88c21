/* What a failed attempt still holds when its repetition runs out of memory, too.
 *
 * A program may catch torch.OutOfMemoryError and try again with a smaller batch. Inside the except
 * block, the exception's traceback still refers to the variables of the functions that it left, and
 * so to the activations of the failed attempt. */
#ifndef MEMSNAP_ANALYSIS_OOM_ATTEMPT_H
#define MEMSNAP_ANALYSIS_OOM_ATTEMPT_H

#include "analysis/category/category.h"
#include "analysis/oom/oom.h"
#include "analysis/phase/steps.h"

/* Fills `tries_again` of the rows: cuDNN tries algorithms with different workspaces one after
 * another, and PyTorch records each request that does not fit. Fills `attempt_bytes` and
 * `attempt_item` of the other rows, and sets `next` to advice if the earlier attempt holds much.
 * What counts was made between the beginning of the step of the earlier failure and that failure;
 * parameters, gradients, inputs and states do not count. */
void oom_attempt_add(struct ooms *ooms, const struct timeline *timeline, struct site_table *sites,
                     const struct steps *steps, const struct categories *categories,
                     enum unit unit);

#endif
