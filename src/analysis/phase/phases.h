/* The phases of training steps in a trace: which events belong to forward, backward, optimizer
 * step, data loading, or other code.
 *
 * Evidence, strongest first: the stack of the event (of an alloc, and of a free where frees carry
 * stacks); the phase of the event before it (allocations on autograd's threads may have no stack,
 * so a stretch without evidence belongs to what came before); and, if that is not a phase of a
 * step, an annotation that is open at its time: Optimizer.step, or one of a DataLoader.
 *
 * What remains between the phases of a step is told by what it allocates (refine.h), and the phases
 * of a trace without any stack by how long its allocations live (pattern.h). */
#ifndef MEMSNAP_ANALYSIS_PHASE_PHASES_H
#define MEMSNAP_ANALYSIS_PHASE_PHASES_H

#include "analysis/code/site.h"
#include "analysis/phase/runs.h"

bool phases_build(struct phases *phases, const struct timeline *timeline, struct site_table *sites,
                  struct error *err);

#endif
