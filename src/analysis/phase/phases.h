/* The phases of a training step, read off a trace: which stretch of events was
 * forward, backward, optimizer step, data loading, or other code.
 *
 * Evidence, strongest first: the stack of the event (of an alloc, and of a free
 * where frees carry stacks); the phase of the event before it (allocations on
 * autograd's threads may have no stack, so a stretch without evidence belongs to
 * what came before); and where that is no step's phase either, an annotation open
 * at its time: Optimizer.step, or a DataLoader's.
 *
 * What is left between a step's own phases is then told by what is born in it
 * (refine.h), and a trace without a single stack by how long its
 * allocations live (pattern.h). */
#ifndef MEMSNAP_ANALYSIS_PHASE_PHASES_H
#define MEMSNAP_ANALYSIS_PHASE_PHASES_H

#include "analysis/code/site.h"
#include "analysis/phase/runs.h"

bool phases_build(struct phases *phases, const struct timeline *timeline, struct site_table *sites,
                  struct error *err);

#endif
