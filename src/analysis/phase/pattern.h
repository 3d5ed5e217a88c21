/* The forward and backward passes of a trace without stacks, told by how long its allocations live.
 *
 * What a forward pass saves for the backward pass piles up, and goes in the reverse order. So the
 * number of blocks that are alive and will be freed rises to the turn from forward to backward and
 * falls behind it. Left out of the count: blocks of the sizes of what is never freed (parameters,
 * gradients and optimizer states come in those), what outlives an optimizer step that an annotation
 * names, and scratch space. A rise that falls again by half is a pair of passes where most of
 * what is alive at the top is freed in the reverse of the order in which it was born. Before an
 * optimizer step that an annotation names there is a pair in any case, however little it saves: it
 * turns where most of what it makes and frees is alive. Where there is none, and no annotation, all
 * behind the point by which what stays has been made is guessed to be forward. */
#ifndef MEMSNAP_ANALYSIS_PHASE_PATTERN_H
#define MEMSNAP_ANALYSIS_PHASE_PATTERN_H

#include "analysis/phase/runs.h"

bool phases_from_lifetimes(struct phases *phases, const struct timeline *timeline,
                           struct error *err);

#endif
