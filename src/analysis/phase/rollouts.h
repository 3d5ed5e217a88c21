/* Optimizer steps that learn from one rollout, as in reinforcement learning. */
#ifndef MEMSNAP_ANALYSIS_PHASE_ROLLOUTS_H
#define MEMSNAP_ANALYSIS_PHASE_ROLLOUTS_H

#include "analysis/code/site.h"
#include "analysis/phase/runs.h"
#include "analysis/phase/step_marks.h"

/* Sets `joins_next` of optimizer steps, so that an iteration extends from one rollout to the next,
 * with all epochs and minibatches between them. A rollout is made of forward passes without a
 * backward pass. It collects tensors that the program keeps over several optimizer steps, and
 * replaces or frees until the first step after the next rollout; they hold at least as much as the
 * batch that a step makes for itself. An evaluation leaves only its last batch and result, or less.
 *
 * The batches of the steps are parts of these tensors. If the program makes them anew, as in epochs
 * of training with an evaluation after each, there are no rollouts. This needs C++ frames.
 *
 * No mark is changed if other steps collect such tensors too, if iterations have more than two
 * different numbers of steps, or if there are fewer than three of them. */
bool rollouts_find(struct step_marks *marks, const struct timeline *timeline,
                   const struct phases *phases, struct error *err);

/* Sets `input_bytes` of all runs. */
bool rollouts_note_inputs(struct phases *phases, const struct timeline *timeline,
                          struct site_table *sites, struct error *err);

#endif
