/* The forward and backward passes of a trace without stacks, by how long its allocations live.
 *
 * What a forward pass saves for the backward pass piles up and is freed in the reverse order. So
 * the number of blocks that are alive and will be freed rises until the turn from forward to
 * backward and falls after it. Not counted are blocks of the sizes of anything that is never freed
 * (such as parameters, gradients and optimizer states) unless activations share the size, blocks
 * that outlive an annotated optimizer step, and scratch space.
 *
 * A hump is a rise of this number that falls again by half.
 *   - A hump is a pair of passes if most of the blocks alive at its top are freed in the reverse
 *     order of their birth (last in, first out), and if its fall makes blocks of the weights' sizes
 *     that outlive it, as gradients do.
 *   - Before annotated optimizer steps, the blocks may go in less order, as where a backward pass
 *     goes through an earlier one, if computation lies between their ends. A large hump without
 *     blocks of the weights' sizes is a pair of passes then as well: for the gradient of an input.
 *   - A smaller hump without such blocks, such as a network that is not trained, belongs to the
 *     forward pass, which goes on. So do humps that leave blocks which later go in the reverse
 *     order: the inputs of checkpoints.
 *   - A hump belongs to the backward pass before it if it nests in that pass, as with checkpoints:
 *     of what the pass frees during the hump's fall, it frees more after most of the hump's own
 *     blocks than before. (What a variable of the program holds is freed before them, or after the
 *     hump.) A hump whose fall makes too few gradients may be the beginning of such a pass.
 *   - A hump that is the only pair of passes, leaves blocks of one size and is a small part of the
 *     trace does not count: generation makes its caches in this way.
 *
 * Before an annotated optimizer step there is always a pair of passes, however little it saves. It
 * turns where most of what it makes and frees is alive or, if more piles up again before the first
 * gradient, there. Earlier passes that save as much belong to the step as well if they leave
 * gradients. A step with a closure contains its passes, and updates the weights after each of them.
 *
 * A turn from forward to backward is too early if the pass saves much after it for its first
 * gradient: the program dropped a list there. Such a turn is moved. Where backward() begins with
 * the gradient of a scalar loss by itself, the turn is there; beside passes that begin so, much
 * smaller ones that do not are no passes.
 *
 * Passes that lie within the life of a root, and each make gradients of their own, are parts of one
 * backward pass: nested_passes.c. A forward pass begins with the first result that a variable holds
 * for an iteration: held_results.c.
 *
 * Without annotated steps, gradients that are freed in a row show steps: freed_gradients.h. They
 * count if the passes that are found without do not explain them.
 *
 * Without annotated steps, the passes count only if they show that the program trains: training.c.
 * Without any pass or annotation, everything after the permanent allocations have been made is
 * guessed to be forward. */
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
