#include "analysis/category/traced_reason.h"

#include "analysis/phase/births.h"
#include "analysis/phase/refine.h"

#define MOST_PLAIN_RUNS 4 /* looked through for the next phase of a step */

/* True if it is freed in the run in which it was made, or in the same backward pass. */
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

/* True if it was made and freed inside one operator or autograd node. Without C++ frames: by one
 * line of Python, or by unknown code, while nothing is made that outlives it. */
static bool is_scratch(const struct classifier *classifier, const struct evidence *evidence)
{
    const struct stack_facts *birth = evidence->birth, *end = evidence->end;
    if (!ends_in_pass(classifier, evidence))
        return false;
    if (end && end->site.node != STRING_EMPTY && end->site.node == birth->site.node)
        return true;
    if (birth->in_operator && end)
        return end->in_operator;
    if (end && evidence->birth_stack != STACK_NONE && evidence->birth_stack != evidence->end_stack)
        return false;
    return birth_is_leaf(classifier->timeline, evidence->index);
}

/* True if autograd saved it: the pass that made it was itself recorded (create_graph=True). The
 * graph releases what it saved, which C++ frames show; without them, a later backward pass frees
 * it. Passes that lifetimes tell are not exact enough for that: zero_grad right before a backward
 * pass frees gradients. */
static bool is_saved_again(const struct classifier *classifier, const struct evidence *evidence)
{
    if (evidence->end && evidence->end->releases_saved)
        return true;
    if (!outlives_pass(classifier, evidence) ||
        classifier_phase(classifier, evidence->end_run) != PHASE_BACKWARD ||
        classifier->phases->runs[evidence->end_run].evidence >= PHASE_BY_LIFETIMES)
        return false;
    return !evidence->end || evidence->end->context == CONTEXT_BACKWARD;
}

static enum reason backward_reason(const struct classifier *classifier,
                                   const struct evidence *evidence)
{
    if (evidence->birth->accumulates_grad && outlives_pass(classifier, evidence))
        return REASON_BACKWARD_ACCUMULATED;
    if (is_saved_again(classifier, evidence))
        return REASON_BACKWARD_SAVED;
    if (outlives_pass(classifier, evidence))
        return REASON_BACKWARD_KEPT;
    if (evidence->end_run == NO_RUN)
        return evidence->birth->accumulates_grad ? REASON_BACKWARD_ACCUMULATED : REASON_NONE;
    return is_scratch(classifier, evidence) ? REASON_BACKWARD_SCRATCH : REASON_BACKWARD_PASSED_ON;
}

/* True if it has the size of a weight and lives over a backward pass until a later forward pass:
 * the forward pass updates a model itself, as a momentum encoder. */
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

static enum reason step_reason(const struct evidence *evidence)
{
    return evidence_ends_in_run(evidence) ? REASON_STEP_FREED : REASON_STEP_KEPT;
}

/* True if it lives into the next forward pass, and only other code and data loading lie between. */
static bool goes_into_forward(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t next = evidence->birth_run + 1;
    while (classifier_phase(classifier, next) == PHASE_OTHER ||
           classifier_phase(classifier, next) == PHASE_DATA) {
        if (next - evidence->birth_run > MOST_PLAIN_RUNS)
            return false;
        next++;
    }
    return classifier_phase(classifier, next) == PHASE_FORWARD &&
           (evidence->end_run == NO_RUN || evidence->end_run >= next);
}

/* The next (or last) run of a step before or after `run`, or PHASE_UNKNOWN if none is near. */
static enum phase step_near(const struct classifier *classifier, uint32_t run, int by,
                            uint32_t *near)
{
    for (int i = 1; i <= MOST_PLAIN_RUNS; i++) {
        *near = run + (uint32_t)(by * i); /* wraps around to a run that does not exist */
        enum phase phase = classifier_phase(classifier, *near);
        if (phase > PHASE_DATA)
            return phase;
    }
    return PHASE_UNKNOWN;
}

/* True if a backward pass left gradients of the size or, if `or_used`, made blocks of the size that
 * it used up, which may have been gradients. */
static bool has_gradient_size(const struct classifier *classifier, uint64_t size, bool or_used)
{
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, size);
    return tally && (tally->gradients.most > 0 || (or_used && tally->accumulated.most > 0));
}

/* True if an input of the size was freed before. */
static bool has_input_size(const struct classifier *classifier, uint64_t size)
{
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, size);
    for (int phase = 0; tally && phase < PHASE_COUNT; phase++)
        if (tally->twin[phase] == 1 + CATEGORY_INPUT)
            return true;
    return false;
}

/* True if it is freed right after an optimizer step or in it, and lives over passes before that. */
static bool is_freed_after_step(const struct classifier *classifier,
                                const struct evidence *evidence)
{
    uint32_t run = evidence->end_run, step;
    if (classifier_phase(classifier, run) == PHASE_OPTIMIZER)
        return run > evidence->birth_run;
    return classifier_phase(classifier, run) <= PHASE_DATA &&
           step_near(classifier, run, -1, &step) == PHASE_OPTIMIZER && step > evidence->birth_run;
}

/* True if it is made after a backward pass, lives into the optimizer step, and has the size of a
 * gradient in the same type or in one that is twice as wide. */
static bool is_main_gradient(const struct classifier *classifier, const struct evidence *evidence)
{
    uint64_t size = evidence_size(classifier, evidence), half = size % 2 == 0 ? size / 2 : 0;
    uint32_t pass, step;
    if (step_near(classifier, evidence->birth_run, -1, &pass) != PHASE_BACKWARD)
        return false;
    enum phase next = step_near(classifier, evidence->birth_run, 1, &step);
    if (next == PHASE_OPTIMIZER)
        return evidence->end_run >= step && (has_gradient_size(classifier, size, true) ||
                                             has_gradient_size(classifier, half, true));
    /* more passes add to it before the step */
    return next == PHASE_FORWARD && is_freed_after_step(classifier, evidence) &&
           (has_gradient_size(classifier, size, false) ||
            has_gradient_size(classifier, half, false));
}

/* True if plain code between two parts of a forward pass made it, and the backward pass frees it
 * as a saved tensor; without C++ frames, if it frees it at all. */
static bool is_saved_between(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t near;
    return classifier_phase(classifier, evidence->end_run) == PHASE_BACKWARD &&
           (!evidence->end || evidence->end->releases_saved) &&
           step_near(classifier, evidence->birth_run, -1, &near) == PHASE_FORWARD;
}

/* For other Python code, or unknown code, outside the phases of a step. */
static enum reason other_reason(const struct classifier *classifier,
                                const struct evidence *evidence)
{
    uint32_t birth = evidence->birth_run, end = evidence->end_run;
    bool by_operator =
        op_makes_input(site_table_symbols(classifier->sites), evidence->birth->site.op) ||
        evidence->birth->context == CONTEXT_DATA;
    if (!classifier->phases->any_step)
        return by_operator && classifier->has_model ? REASON_COPIED : REASON_NONE;
    /* data that is there from the start and stays may be the whole data set, not a batch */
    uint32_t end_item = lifetime_end(&classifier->timeline->lifetimes[evidence->index]);
    bool is_over = !classifier_stays(classifier, end_item) || birth > classifier->first_step_run;
    bool goes_in = is_over && goes_into_forward(classifier, evidence);
    if (evidence->end && evidence->end->context == CONTEXT_ZERO_GRAD)
        return REASON_ZERO_GRAD_FREED;
    if (is_main_gradient(classifier, evidence))
        return REASON_MAIN_GRADIENT;
    if (goes_in && by_operator)
        return REASON_BATCH;
    if (!by_operator && is_saved_between(classifier, evidence))
        return REASON_BACKWARD_FREES;
    bool trains = classifier->first_backward_run != NO_RUN;
    if (goes_in && trains && evidence->birth->context == CONTEXT_OTHER &&
        (end != NO_RUN || has_input_size(classifier, evidence_size(classifier, evidence))))
        return REASON_BEFORE_FORWARD;
    if (end == birth)
        return REASON_PLAIN_FREED;
    if (classifier_phase(classifier, end) == PHASE_BACKWARD)
        return REASON_BACKWARD_FREES;
    bool is_loss = birth > 0 && classifier_phase(classifier, birth - 1) == PHASE_FORWARD &&
                   classifier_phase(classifier, birth + 1) == PHASE_BACKWARD;
    if (is_loss)
        return REASON_LOSS;
    bool is_result =
        birth > 0 && classifier_phase(classifier, birth - 1) == PHASE_FORWARD && !by_operator;
    bool by_python = evidence->birth->site.any_python_frame != NO_FRAME;
    if (is_result && (evidence->birth->in_operator || by_python))
        return REASON_AFTER_FORWARD;
    bool unseen = evidence->birth_stack == STACK_NONE && !classifier->phases->has_stacks;
    if (goes_in && unseen)
        return REASON_BEFORE_FORWARD;
    return REASON_NONE;
}

/* For stacks that show no context: by the phase in which it was made. */
static enum reason phase_reason(const struct classifier *classifier,
                                const struct evidence *evidence)
{
    switch (classifier_phase(classifier, evidence->birth_run)) {
    case PHASE_FORWARD:
        return forward_reason(classifier, evidence);
    case PHASE_BACKWARD:
        return backward_reason(classifier, evidence);
    case PHASE_OPTIMIZER:
        return step_reason(evidence);
    case PHASE_UNKNOWN:
    case PHASE_OTHER:
    case PHASE_DATA:
    case PHASE_COUNT:
        break;
    }
    return other_reason(classifier, evidence);
}

enum reason traced_reason(const struct classifier *classifier, const struct evidence *evidence)
{
    if (evidence->birth->is_workspace)
        return REASON_WORKSPACE;
    if (evidence->birth->communicates)
        return REASON_COMMUNICATION;
    if (evidence->birth_stack == STACK_NONE && evidence->end_run == NO_RUN &&
        evidence_size(classifier, evidence) == CUBLAS_WORKSPACE)
        return REASON_WORKSPACE_SIZE;
    switch ((enum context)evidence->birth->context) {
    case CONTEXT_OPTIMIZER:
        return step_reason(evidence);
    case CONTEXT_BACKWARD:
        return backward_reason(classifier, evidence);
    case CONTEXT_RECOMPUTE:
        return is_scratch(classifier, evidence) ? REASON_RECOMPUTED_SCRATCH : REASON_RECOMPUTED;
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
