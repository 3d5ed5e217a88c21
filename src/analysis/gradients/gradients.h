/* Gradients that outlive the optimizer step that used them.
 *
 * A gradient is stale from the end of an optimizer step on if it lives through most of the next
 * forward pass, which has no use for it. So is a gradient that zero_grad frees before the trace's
 * first backward pass, but after most of the forward pass. Without any sign of an optimizer no
 * gradient is stale: they may be meant to accumulate. Memory counts only if it has the size of a
 * parameter, or of a gradient that zero_grad() frees. Idle gradients (idle_gradients.h), and copies
 * that a hook of autograd makes, do not count: no optimizer.zero_grad() reaches them. Nor do those
 * that variables hold (held_gradients.h), nor gradients that other code frees while zero_grad()
 * frees those of weights before the forward pass: they belong to inputs that require gradients.
 * Gradients of a recorded pass (phase/recorded.h) count only if the first step makes them and they
 * live through two more steps, unlike the results of autograd.grad(). */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_GRADIENTS_H
#define MEMSNAP_ANALYSIS_GRADIENTS_GRADIENTS_H

#include "analysis/gradients/held_gradients.h"
#include "analysis/gradients/idle_gradients.h"
#include "analysis/gradients/summed_gradients.h"

struct stale_gradients {
    uint64_t count;  /* at the end of the forward pass with the most stale bytes; 0: none */
    int64_t bytes;   /* at that time */
    uint64_t passes; /* number of forward passes that stale gradients lived through */
    bool stay;       /* they live on in the next backward pass, which adds to them in place: none is
                      * freed before the last. A gradient of a model that is not trained at every step, as
                      * in a GAN, also lives on, but is freed */
    /* zero_grad() frees some gradients between a backward pass and the next forward pass. Without
     * that call, these would be stale: where models take turns, a pass through the second makes
     * gradients of the first, which the first optimizer frees before the next pass. */
    bool other_calls;
    /* How much lower the active peak would be if they were freed at the end of the optimizer step.
     * Assumptions: a backward pass that adds to a gradient needs it once the summand is made, or,
     * if passes differ, as late in the pass as the earlier pass allocated it; cycles with as many
     * stale bytes as another, or more, gain as much as that one. */
    int64_t save_bytes;
};

/* Fills `*stale`, and the sums of stale gradients in `cycles`. */
bool stale_gradients_find(struct stale_gradients *stale, const struct timeline *timeline,
                          struct site_table *sites, const struct phases *phases,
                          const struct categories *categories, struct cycles *cycles,
                          const struct idle_gradients *idle, const struct held_gradients *held,
                          struct error *err);

#endif
