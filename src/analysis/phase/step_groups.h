/* Optimizer steps that belong to one iteration of the training loop. */
#ifndef MEMSNAP_ANALYSIS_PHASE_STEP_GROUPS_H
#define MEMSNAP_ANALYSIS_PHASE_STEP_GROUPS_H

#include "analysis/phase/step_marks.h"

/* Sets `joins_next` of the marks where several optimizers take turns, as in a GAN: "A B A B" and
 * "A A A B A A A B" have one iteration per period. Two marks are steps of one optimizer if they
 * have the same name and one of them allocates only sizes that the other allocates too, since what
 * an optimizer allocates has the sizes of its parameters. No mark is changed if the turns are too
 * irregular or fewer than three. Sets *turns_end if the first optimizer has no turn in the last
 * part of the trace, which is longer than two iterations: the program may have made optimizers
 * anew. */
bool step_groups_find(struct step_marks *marks, const struct timeline *timeline, bool *turns_end,
                      struct error *err);

#endif
