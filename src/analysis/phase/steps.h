/* The iterations of a trace: training steps, or the forward passes of inference.
 *
 * They are recognized by the first of these that the trace has:
 *   ProfilerStep#N annotations        a step goes from START to END
 *   Optimizer.step#NAME annotations   a step ends with an optimizer step, and what follows belongs
 *                                     to the next; not used if phases.h has over twice as many
 *                                     steps
 *   optimizer steps (phases.h)        the same; not used if they end long before backward passes
 *   backward passes                   the same, if the optimizer allocates nothing
 *   forward passes                    the same
 *   repeated sizes (repeats.h)        if phases show fewer than three complete steps, and repeated
 *                                     sizes show more
 *
 * Several optimizer steps (or backward passes) without a forward pass between them end one step, as
 * with an optimizer for each parameter or with several losses. So do optimizers that take turns
 * (step_groups.h), optimizer steps that learn from one rollout (rollouts.h), and calls of several
 * models that take turns in inference (call_groups.h). An annotation carries the device that was
 * current. A device without annotations of its own takes those of the lowest device that has some.
 */
#ifndef MEMSNAP_ANALYSIS_PHASE_STEPS_H
#define MEMSNAP_ANALYSIS_PHASE_STEPS_H

#include "analysis/phase/phases.h"

enum steps_source {
    STEPS_NONE,
    STEPS_PROFILER,
    STEPS_ANNOTATION, /* Optimizer.step */
    STEPS_OPTIMIZER,
    STEPS_BACKWARD,
    STEPS_FORWARD,
    STEPS_REPEATS,
};

/* "profiler_step", "optimizer_annotation", "optimizer_phase", "backward_phase", "forward_phase",
 * "repeated_sizes", "none" */
const char *steps_source_name(enum steps_source source);

/* first <= last; steps do not overlap, and come in the order of the trace. */
struct step {
    int64_t number;       /* N of ProfilerStep#N; else counted from 0 */
    uint32_t first, last; /* items */
    bool complete;        /* the trace contains its beginning and its end */
    /* The active curve: its highest value within the step, the first item that reaches it, and
     * the value after the last item. */
    int64_t peak_bytes, end_bytes;
    uint32_t peak_item;
};

struct steps {
    struct step *items;
    size_t count, capacity;
    enum steps_source source; /* STEPS_NONE if there are no steps */
    /* Each step ends with an optimizer step and has no other. An iteration of the loop may have
     * several of them, as with minibatches in reinforcement learning. */
    bool one_optimizer_step;
    /* Optimizers take turns, until one of them has no more: the last step is all that follows. */
    bool turns_end;
    bool have_several_calls; /* some steps of inference call several models (call_groups.h) */
    struct budget *budget;   /* not owned */
};

#define NO_STEP SIZE_MAX

bool steps_find(struct steps *steps, const struct timeline *timeline, const struct phases *phases,
                struct error *err);
void steps_release(struct steps *steps);

/* True if each step is one forward pass. */
static inline bool steps_are_calls(const struct steps *steps)
{
    return steps->source == STEPS_FORWARD && !steps->have_several_calls;
}

/* The step that contains an item, or NO_STEP. */
size_t steps_of(const struct steps *steps, uint32_t item);
/* Number of complete steps. */
size_t steps_complete(const struct steps *steps);

#endif
