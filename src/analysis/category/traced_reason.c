#include "analysis/category/traced_reason.h"

#include "analysis/phase/births.h"

/* True if an allocation is freed in the run or in the backward pass in which it was made. */
static bool ends_in_pass(const struct classifier *classifier, const struct evidence *evidence)
{
    return evidence_ends_in_run(evidence) ||
           phases_same_backward(classifier->phases, evidence->birth_run, evidence->end_run);
}

/* True if an allocation outlives the pass in which it was made. */
static bool outlives_pass(const struct classifier *classifier, const struct evidence *evidence)
{
    if (evidence->end_run != NO_RUN)
        return !ends_in_pass(classifier, evidence);
    bool in_last_run = evidence->birth_run + 1 == classifier->phases->count;
    return !(in_last_run && classifier->is_cut);
}

#define NODE_BIRTHS 64 /* births of one autograd node that are examined */

/* True if an allocation was made and freed inside one autograd node. A later node may have the same
 * name, as those of equal layers do; then others run before it. */
static bool is_scratch_of_node(const struct classifier *classifier, const struct evidence *evidence)
{
    const struct timeline *timeline = classifier->timeline;
    string_id node = evidence->birth->site.node;
    if (!evidence->end || node == STRING_EMPTY || evidence->end->site.node != node)
        return false;
    uint32_t end = lifetime_end(&timeline->lifetimes[evidence->index]);
    for (size_t i = evidence->index + 1;
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end; i++) {
        struct error err; /* the stack's own allocation reports it */
        stack_id stack = timeline->trace->stack[timeline->lifetimes[i].alloc];
        const struct stack_facts *facts = site_stack_facts(classifier->sites, stack, &err);
        if (!facts || facts->site.node != node || i - evidence->index > NODE_BIRTHS)
            return false;
    }
    return true;
}

/* True if an allocation was made and freed inside one operator or autograd node. Without C++
 * frames: if one line of Python, or unknown code, makes and frees it, and nothing is made meanwhile
 * that outlives it. */
static bool is_scratch(const struct classifier *classifier, const struct evidence *evidence)
{
    const struct stack_facts *birth = evidence->birth, *end = evidence->end;
    if (!ends_in_pass(classifier, evidence))
        return false;
    if (is_scratch_of_node(classifier, evidence))
        return true;
    if (birth->in_operator && end)
        return end->in_operator;
    if (end && evidence->birth_stack != STACK_NONE && evidence->birth_stack != evidence->end_stack)
        return false;
    return birth_is_leaf(classifier->timeline, evidence->index);
}

/* True if a thread of autograd frees an allocation after the pass, and adds to no gradient there.
 * The thread drops the graph of a pass when the pass has ended, or at the latest when the next pass
 * begins. It also drops the results of torch.autograd.grad(), but those have the sizes of weights.
 */
static bool is_dropped_by_thread(const struct classifier *classifier,
                                 const struct evidence *evidence)
{
    const struct timeline *timeline = classifier->timeline;
    if (evidence->end_run == NO_RUN || classifier->early_bytes == 0 ||
        classifier_has_early(classifier, evidence_size(classifier, evidence)))
        return false;
    if (evidence->end)
        return evidence->end->site.has_backward && !evidence->end->accumulates_grad &&
               evidence->end->site.any_python_frame == NO_FRAME;
    if (evidence->birth_stack != STACK_NONE || !classifier->frees_have_stacks)
        return false;
    if (classifier_phase(classifier, evidence->end_run) != PHASE_BACKWARD)
        return true;
    uint32_t pass = classifier->phases->runs[evidence->end_run].first;
    size_t second = births_from(timeline, pass) + 1;
    return second < timeline->lifetime_count &&
           lifetime_end(&timeline->lifetimes[evidence->index]) < timeline->lifetimes[second].alloc;
}

/* The recomputation runs in a node of the backward pass, which asks for what was saved. So the
 * nodes that free this later often have the same name, but they recompute nothing then. */
static bool is_freed_by_recomputation(const struct classifier *classifier,
                                      const struct evidence *evidence)
{
    bool is_known = evidence->end && evidence->end->site.node != STRING_EMPTY;
    if (is_known && evidence->end->context != CONTEXT_RECOMPUTE)
        return false;
    return is_scratch(classifier, evidence);
}

bool facts_make_zeros(const struct symbols *symbols, const struct stack_facts *facts)
{
    static const char *const names[] = {"aten::zeros", "aten::zeros_like", "aten::new_zeros"};
    struct text op = symbols_text(symbols, facts->site.op);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (text_equals(op, names[i]))
            return true;
    return false;
}

/* True for Python code that the thread of autograd calls in the first backward pass, by a stack
 * without C++ frames. In that pass such code meets each weight for the first time. */
static bool is_first_call(const struct classifier *classifier, const struct evidence *evidence)
{
    return evidence->birth->context == CONTEXT_OTHER && !evidence->birth->in_operator &&
           !evidence->birth->in_main &&
           phases_same_backward(classifier->phases, evidence->birth_run,
                                classifier->first_backward_run);
}

/* True if Python code makes zeros that stay inside AccumulateGrad. That node runs no Python itself,
 * so it is a hook. Without C++ frames, what such code makes and keeps is taken for zeros. */
static bool is_hook_state(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t end = lifetime_end(&classifier->timeline->lifetimes[evidence->index]);
    if (evidence->birth->site.any_python_frame == NO_FRAME || !classifier_stays(classifier, end))
        return false;
    return (evidence->birth->accumulates_grad &&
            facts_make_zeros(site_table_symbols(classifier->sites), evidence->birth)) ||
           is_first_call(classifier, evidence);
}

/* The reason for what outlives a backward pass. It is a gradient, unless, without stacks, it has
 * the size of no gradient. Then it is a result of another pass, or a batch that was made right
 * after this one. */
static enum reason left_reason(const struct classifier *classifier, const struct evidence *evidence)
{
    uint64_t size = evidence_size(classifier, evidence);
    const struct size_tally *tally =
        classifier->passes_make_states ? size_tallies_find(&classifier->tallies, size) : NULL;
    if (tally && tally->kept > 0 &&
        classifier_stays(classifier,
                         lifetime_end(&classifier->timeline->lifetimes[evidence->index])))
        return REASON_PASS_STATE;
    if (!classifier_is_no_gradient(classifier, size) ||
        joins_gradients(classifier, size, evidence->birth_run))
        return REASON_BACKWARD_KEPT;
    if (evidence->end_run == NO_RUN)
        return REASON_AFTER_FORWARD;
    if (classifier_phase(classifier, evidence->end_run) == PHASE_BACKWARD)
        return REASON_BACKWARD_FREES;
    bool dies_with_graph = !goes_into_forward(classifier, evidence);
    return dies_with_graph ? REASON_AFTER_FORWARD : REASON_BEFORE_FORWARD;
}

/* The reason for what is live when the trace ends in the backward pass, for example because memory
 * ran out. Gradients are as large as weights, if any weights are known. */
static enum reason unfinished_reason(const struct classifier *classifier,
                                     const struct evidence *evidence)
{
    const struct size_tally *tally =
        size_tallies_find(&classifier->tallies, evidence_size(classifier, evidence));
    if (evidence->birth->accumulates_grad)
        return REASON_BACKWARD_ACCUMULATED;
    if (classifier->early_bytes == 0)
        return REASON_NONE;
    return tally && tally->early > 0 ? REASON_UNFINISHED_GRADIENT : REASON_UNFINISHED_BACKWARD;
}

/* True for a tensor that a backward pass saved in the graph, if the pass keeps its graph. A
 * gradient stays after the pass, too, but has the size of a weight. */
static bool is_left_in_graph(const struct classifier *classifier, const struct evidence *evidence)
{
    return classifier->phases->runs[evidence->birth_run].keeps_graph &&
           classifier_lacks_early(classifier, evidence_size(classifier, evidence));
}

static enum reason backward_reason(const struct classifier *classifier,
                                   const struct evidence *evidence)
{
    if (is_hook_state(classifier, evidence))
        return REASON_HOOK_STATE;
    if (evidence->birth->accumulates_grad && outlives_pass(classifier, evidence))
        return REASON_BACKWARD_ACCUMULATED;
    if (saved_again(classifier, evidence))
        return REASON_BACKWARD_SAVED;
    if (outlives_pass(classifier, evidence)) {
        if (is_dropped_by_thread(classifier, evidence))
            return REASON_BACKWARD_PASSED_ON;
        return is_left_in_graph(classifier, evidence) ? REASON_BACKWARD_SAVED
                                                      : left_reason(classifier, evidence);
    }
    if (evidence->end_run == NO_RUN)
        return unfinished_reason(classifier, evidence);
    return is_scratch(classifier, evidence) ? REASON_BACKWARD_SCRATCH : REASON_BACKWARD_PASSED_ON;
}

/* True if an allocation has the size of a weight and lives over a backward pass until a later
 * forward pass. Then the forward pass updates a model itself, as a momentum encoder does. */
static bool is_new_weight(const struct classifier *classifier, const struct evidence *evidence)
{
    const struct phases *phases = classifier->phases;
    uint32_t birth = evidence->birth_run, end = evidence->end_run;
    const struct size_tally *tally =
        size_tallies_find(&classifier->tallies, evidence_size(classifier, evidence));
    if (!tally || tally->weights_replaced == 0)
        return false;
    return end == NO_RUN || (classifier_phase(classifier, end) == PHASE_FORWARD &&
                             phases->runs[end].pass > phases->runs[birth].pass);
}

static enum reason forward_reason(const struct classifier *classifier,
                                  const struct evidence *evidence)
{
    if (evidence_ends_in_run(evidence))
        return is_scratch(classifier, evidence) ? REASON_FORWARD_SCRATCH : REASON_FORWARD_PASSED_ON;
    if (evidence->end && evidence->end->releases_graph && !evidence->end->site.has_backward &&
        classifier_phase(classifier, evidence->end_run) != PHASE_BACKWARD)
        return REASON_GRAPH_DROPPED;
    if (classifier->first_backward_run == NO_RUN)
        return REASON_FORWARD_RESULT;
    return is_new_weight(classifier, evidence) ? REASON_WEIGHT_REPLACED : REASON_FORWARD_KEPT;
}

/* True for temporaries of torch.optim's foreach implementation, if the trace ends in the step, as
 * where memory runs out: then nothing frees them. */
static bool is_unfinished(const struct classifier *classifier, const struct evidence *evidence)
{
    struct text op = site_operator(classifier->sites, evidence->birth);
    return evidence->end_run == NO_RUN && text_starts(op, "aten::_foreach_") &&
           evidence->birth_run + 1 == classifier->phases->count;
}

static enum reason step_reason(const struct classifier *classifier, const struct evidence *evidence)
{
    return evidence_ends_in_run(evidence) || is_unfinished(classifier, evidence) ? REASON_STEP_FREED
                                                                                 : REASON_STEP_KEPT;
}

/* True if only lifetimes show the phase in which an allocation was made. */
static bool is_inferred(const struct classifier *classifier, const struct evidence *evidence)
{
    return classifier->phases->has_stacks &&
           classifier->phases->runs[evidence->birth_run].evidence == PHASE_BY_LIFETIMES;
}

/* The reason for stacks without a context, by the phase in which the allocation was made. */
static enum reason phase_reason(const struct classifier *classifier,
                                const struct evidence *evidence)
{
    switch (classifier_phase(classifier, evidence->birth_run)) {
    case PHASE_FORWARD:
        /* between two backward passes, a script may join gradients */
        return is_inferred(classifier, evidence) && is_flat_gradient(classifier, evidence)
                   ? REASON_MAIN_GRADIENT
                   : forward_reason(classifier, evidence);
    case PHASE_BACKWARD:
        return backward_reason(classifier, evidence);
    case PHASE_OPTIMIZER:
        return is_batch_after_update(classifier, evidence) ? REASON_BATCH
                                                           : step_reason(classifier, evidence);
    case PHASE_UNKNOWN:
    case PHASE_OTHER:
    case PHASE_DATA:
    case PHASE_COUNT:
        break;
    }
    return plain_reason(classifier, evidence);
}

/* True for the names of operators that call cuBLAS. */
static bool is_product(struct text op)
{
    static const char *const products[] = {
        "aten::mm", "aten::addmm",   "aten::_addmm_activation", "aten::bmm",
        "aten::mv", "aten::baddbmm", "aten::_scaled_mm"};
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
        if (text_equals(op, products[i]))
            return true;
    return false;
}

/* True if an allocation has the size of a workspace of cuBLAS, a matrix product makes it right
 * after its result, and it is either freed in the product or stays, as before torch 2.15. For
 * profiler traces, which have no C++ frames that would tell. */
static bool is_workspace_of_product(const struct classifier *classifier,
                                    const struct evidence *evidence)
{
    const struct timeline *timeline = classifier->timeline;
    const struct trace *trace = timeline->trace;
    uint64_t size = evidence_size(classifier, evidence);
    if ((size != CUBLAS_WORKSPACE && size != HOPPER_WORKSPACE) || evidence->index == 0 ||
        (evidence->end_run != NO_RUN && !birth_is_leaf(timeline, evidence->index)) ||
        !is_product(symbols_text(site_table_symbols(classifier->sites), evidence->birth->site.op)))
        return false;
    uint32_t before = timeline->lifetimes[evidence->index - 1].alloc;
    return trace->stack[before] == evidence->birth_stack && trace_size(trace, before) != size;
}

/* FSDP2 makes the gradients of a rank views of the buffer that a reduce-scatter fills. Then
 * zero_grad() frees the buffer, unless the trace ends before that. */
static enum reason communication_reason(const struct classifier *classifier,
                                        const struct evidence *evidence)
{
    if (evidence->end && evidence->end->context == CONTEXT_ZERO_GRAD)
        return REASON_ZERO_GRAD_FREED;
    if (evidence->end_run == NO_RUN && outlives_pass(classifier, evidence) &&
        classifier_phase(classifier, evidence->birth_run) == PHASE_BACKWARD &&
        classifier_has_twin(classifier, evidence_size(classifier, evidence), CATEGORY_GRADIENT))
        return REASON_BACKWARD_KEPT;
    return REASON_COMMUNICATION;
}

enum reason traced_reason(const struct classifier *classifier, const struct evidence *evidence)
{
    if (evidence->birth->is_benchmark)
        return REASON_BENCHMARK;
    if (evidence->birth->is_workspace)
        return REASON_WORKSPACE;
    if (evidence->birth->communicates)
        return communication_reason(classifier, evidence);
    if (evidence->birth_stack == STACK_NONE && evidence->end_run == NO_RUN &&
        evidence_size(classifier, evidence) == CUBLAS_WORKSPACE)
        return REASON_WORKSPACE_SIZE;
    if (classifier_zero_grad_frees(classifier, evidence_size(classifier, evidence),
                                   lifetime_end(&classifier->timeline->lifetimes[evidence->index])))
        return REASON_ZERO_GRAD_FREED;
    if (is_workspace_of_product(classifier, evidence) ||
        classifier_is_workspace(classifier, evidence->index))
        return REASON_WORKSPACE_SIZE;
    switch ((enum context)evidence->birth->context) {
    case CONTEXT_OPTIMIZER:
        return step_reason(classifier, evidence);
    case CONTEXT_BACKWARD:
        return backward_reason(classifier, evidence);
    case CONTEXT_RECOMPUTE:
        return is_freed_by_recomputation(classifier, evidence) ? REASON_RECOMPUTED_SCRATCH
                                                               : REASON_RECOMPUTED;
    case CONTEXT_FORWARD:
        return forward_reason(classifier, evidence);
    case CONTEXT_INIT:
        return evidence_ends_in_run(evidence) ? REASON_MODEL_MADE_FREED : REASON_MODEL_MADE;
    case CONTEXT_DATA:
    case CONTEXT_OTHER:
    case CONTEXT_NONE:
        return phase_reason(classifier, evidence);
    case CONTEXT_ZERO_GRAD:
        break;
    }
    return REASON_NONE;
}
