/* Recognises batches that are larger with each step, as with texts that are sorted by length, and
 * results whose size follows that of the batch. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_LARGER_BATCH_H
#define MEMSNAP_ANALYSIS_GROWTH_LARGER_BATCH_H

#include "analysis/growth/fit.h"
#include "analysis/growth/survivors.h"
#include "analysis/phase/steps.h"

/* True if the group grows because each batch replaces a smaller one, not because allocations pile
 * up. Its operator then copies a tensor to the device, or makes storage. (The result of a
 * concatenation that includes the former result grows, too, but is no batch.) Without C++ frames,
 * the operator is not known, and the category must be input. */
bool is_larger_batch(const struct growth_fit *fit, const struct site_group *group,
                     const struct stack_facts *facts, const struct symbols *symbols);

/* An input that a compared step makes: a copy to the device, or storage. */
struct batch_input {
    size_t step; /* index of the step's end in step_ends */
    stack_id stack;
    int64_t bytes;
};

struct batches {
    struct batch_input *items; /* by stack */
    size_t count, capacity;
    int64_t bytes[GROWTH_STEPS]; /* their sum in each step */
    struct budget *budget;       /* not owned */
};

/* Finds the inputs that the steps with these ends make. */
bool batches_find(struct batches *batches, const struct live_set *set, const struct steps *steps,
                  const struct step_ends *ends, struct error *err);
void batches_release(struct batches *batches);

/* True if the group grows because batches do: it replaces a result in each step, it grows in no
 * step in which the inputs of other lines do not, and at most by the square of their growth, as a
 * matrix of attention does. What a program collects outgrows its batches. */
bool is_of_larger_batch(const struct batches *batches, const struct growth_fit *fit,
                        const struct growth_series *series, const struct site_group *group);

#endif
