/* The rules that find the category of one allocation of the trace. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_TRACED_REASON_H
#define MEMSNAP_ANALYSIS_CATEGORY_TRACED_REASON_H

#include "analysis/category/classifier.h"

/* The facts about one allocation of the trace that the rules use. */
struct evidence {
    size_t index; /* in timeline->lifetimes */
    stack_id birth_stack, end_stack;
    const struct stack_facts *birth;
    const struct stack_facts *end; /* of the free's stack; NULL if it has none */
    uint32_t birth_run, end_run;   /* end_run is NO_RUN if never freed */
};

static inline uint64_t evidence_size(const struct classifier *classifier,
                                     const struct evidence *evidence)
{
    const struct timeline *timeline = classifier->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[evidence->index].alloc);
}

static inline bool evidence_ends_in_run(const struct evidence *evidence)
{
    return evidence->end_run == evidence->birth_run;
}

/* The reason for a category by stack, phases and lifetime; REASON_NONE if they do not tell. Uses
 * what the sizes counted so far say, so allocations must be taken in order of time. */
enum reason traced_reason(const struct classifier *classifier, const struct evidence *evidence);

/* plain_reason.c: for other Python code, or unknown code, outside the phases of a step. */
enum reason plain_reason(const struct classifier *classifier, const struct evidence *evidence);

/* True if it lives into the next forward pass, and only other code and data loading lie between. */
bool goes_into_forward(const struct classifier *classifier, const struct evidence *evidence);

/* True if it is a batch that other code makes within what looks like its update of the weights: a
 * copy or a random draw of another size than gradients, which lives into the next forward pass. */
bool is_batch_after_update(const struct classifier *classifier, const struct evidence *evidence);

/* True if the size is the sum of the last gradients that a backward run left, two or more. */
bool joins_gradients(const struct classifier *classifier, uint64_t size, uint32_t run);

/* True if plain code after a backward pass joins two or more of its gradients in one vector, or
 * computes another vector of that size. */
bool is_flat_gradient(const struct classifier *classifier, const struct evidence *evidence);

#endif
