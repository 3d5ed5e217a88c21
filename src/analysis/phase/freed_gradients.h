/* Optimizer steps that no annotation names, in traces without stacks.
 *
 * zero_grad() frees the gradients in a row, with no allocation in between, in the order of the
 * weights. The last layer's gradient is made first, and the first layer's is freed first. An
 * optimizer step lies between the last of these gradients and the row. What is made there and has a
 * size of the weights belongs to the step: states, or scratch space, which is freed before the
 * gradients. */
#ifndef MEMSNAP_ANALYSIS_PHASE_FREED_GRADIENTS_H
#define MEMSNAP_ANALYSIS_PHASE_FREED_GRADIENTS_H

#include "analysis/phase/gradient_rows.h"

/* Finds the rows that come several times and have sizes of weights, in the order of these. Release
 * them with gradient_rows_release(), after an error, too. */
bool freed_gradients_find(struct gradient_rows *rows, const struct pattern *pattern,
                          struct error *err);
/* True if the passes of the pattern, which were found with freed_gradients_steps(), are to replace
 * those found before: these do not explain the gradients of the rows, or the new ones explain as
 * many bytes and rows, and the steps allocate anything. The passes must be in order. */
bool freed_gradients_explain_more(const struct gradient_rows *rows, const struct pattern *pattern,
                                  const struct pattern *before);
/* The optimizer steps before the rows, in order. */
bool freed_gradients_steps(const struct gradient_rows *rows, struct step_marks *marks,
                           struct error *err);

#endif
