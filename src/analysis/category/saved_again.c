/* Recognises tensors of a backward pass that autograd saved, because it recorded the pass, too. */
#include "analysis/category/traced_reason.h"
#include "analysis/phase/births.h"

/* True if a transform of torch.func saved an allocation, as far as stacks without C++ frames tell.
 * It records its own backward pass, for a transform around it. So what the pass made lives until it
 * is over, and goes with the graph, before the program frees the gradients. */
static bool is_saved_by_transform(const struct classifier *classifier,
                                  const struct evidence *evidence)
{
    const struct timeline *timeline = classifier->timeline;
    const struct phases *phases = classifier->phases;
    uint32_t run = evidence->birth_run;
    if (run != classifier->transform_run || run + 1 >= phases->count ||
        evidence->birth_stack != STACK_NONE || evidence->end_run == NO_RUN ||
        (evidence->end && evidence->end->context != CONTEXT_NONE))
        return false;
    size_t next = births_from(timeline, phases->runs[run + 1].first);
    return lifetime_end(&timeline->lifetimes[evidence->index]) >
           timeline->lifetimes[next - 1].alloc;
}

bool saved_again(const struct classifier *classifier, const struct evidence *evidence)
{
    const struct phase_run *runs = classifier->phases->runs;
    if ((evidence->end && evidence->end->releases_saved) ||
        is_saved_by_transform(classifier, evidence))
        return true;
    if (evidence->end_run == NO_RUN || evidence_ends_in_run(evidence) ||
        !runs[evidence->birth_run].is_recorded)
        return false;
    enum context context = evidence->end ? (enum context)evidence->end->context : CONTEXT_NONE;
    if (runs[evidence->end_run].phase == PHASE_BACKWARD)
        return !evidence->end || context == CONTEXT_NONE ||
               (context == CONTEXT_BACKWARD && !evidence->birth->in_operator);
    return context != CONTEXT_ZERO_GRAD &&
           runs[evidence->end_run].pass == runs[evidence->birth_run].pass;
}
