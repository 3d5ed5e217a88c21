/* The forward and backward passes of a trace without stacks, by how long its allocations live.
 *
 * What a forward pass saves for the backward pass piles up and is freed in the reverse order. So
 * the number of blocks that are alive and will be freed rises until the turn from forward to
 * backward and falls after it. Not counted are blocks of the sizes of anything that is never freed
 * (such as parameters, gradients and optimizer states) unless activations share the size, blocks
 * that outlive an annotated optimizer step, and scratch space.
 *
 * A rise that falls again by half is a hump. It is a pair of passes if most of the blocks alive at
 * its top are freed in the reverse order of their birth (last in, first out), and its fall makes
 * blocks of the weights' sizes that outlive it, as gradients do; a smaller hump without them, such
 * as a network that is not trained, is a part of the forward pass that goes on. A hump is a part of
 * the backward pass before it if it nests in that: what the pass has left to free in the hump's
 * fall, it frees after the hump's own blocks, as checkpointing does. A fall that makes too few
 * gradients may be the beginning of such a pass. What a variable of the program
 * holds is freed before them, or later than the hump. Before an annotated
 * optimizer step there is always a pair of passes, however little it saves; its turn is where most
 * of what it makes and frees is alive, or where more piles up once again before the first
 * gradient. A turn after which a pass saves much for its first gradient is too early: a list was
 * dropped there. Passes before these that save as much belong to the step as well if they leave
 * gradients. A step with a closure holds its passes itself, and updates
 * the weights after each of them. A pair of passes that is the only one, leaves blocks of one size,
 * and is a small part of the trace, is none: generation makes its caches so. Without any pass or
 * annotation, everything after the permanent allocations have been made is guessed to be forward.
 */
#ifndef MEMSNAP_ANALYSIS_PHASE_PATTERN_H
#define MEMSNAP_ANALYSIS_PHASE_PATTERN_H

#include "analysis/phase/runs.h"
#include "analysis/phase/step_marks.h"

/* `steps` are the optimizer steps that annotations name. */
bool phases_from_lifetimes(struct phases *phases, const struct timeline *timeline,
                           const struct step_marks *steps, struct error *err);

/* Adds a guessed forward pass to phases from stacks that show no step at all: a model written
 * without modules, in a program that only computes forward. */
bool phases_guess_forward(struct phases *phases, const struct timeline *timeline,
                          struct error *err);

#endif
