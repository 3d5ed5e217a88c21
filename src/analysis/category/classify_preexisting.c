#include "analysis/category/classifier.h"

#include <stdlib.h>

#include "analysis/category/preexisting_ends.h"
#include "analysis/phase/births.h"

/* Gradients that are freed before the optimizer steps must have more than this many times the bytes
 * of those that the steps use, to conclude that optimizers use copies. */
#define MOST_USED 4

/* True if only live blocks tell what the program did: the trace has no allocations. */
static bool has_blocks_only(const struct classifier *classifier)
{
    return classifier->timeline->lifetime_count == 0;
}

static bool is_persistent(const struct classifier *classifier,
                          const struct preexisting *preexisting)
{
    return classifier_stays(classifier, preexisting_end(preexisting));
}

static enum reason stack_reason(const struct classifier *classifier,
                                const struct preexisting *preexisting,
                                const struct stack_facts *facts)
{
    bool ends_at_once = phases_run_of(classifier->phases, preexisting_end(preexisting)) == 0;
    enum phase phase = preexisting_end_phase(classifier, preexisting);
    if (facts->is_workspace)
        return REASON_WORKSPACE;
    if (facts->communicates)
        return REASON_COMMUNICATION;
    switch ((enum context)facts->context) {
    case CONTEXT_INIT:
        return REASON_MODEL_MADE;
    case CONTEXT_FORWARD:
        return classifier->first_backward_run == NO_RUN && facts->grad_mode >= GRAD_PROBABLY_OFF
                   ? REASON_FORWARD_RESULT
                   : REASON_FORWARD_KEPT;
    case CONTEXT_RECOMPUTE:
        return REASON_RECOMPUTED;
    case CONTEXT_BACKWARD:
        if (is_persistent(classifier, preexisting) && facts->accumulates_grad &&
            facts->site.any_python_frame != NO_FRAME &&
            facts_make_zeros(site_table_symbols(classifier->sites), facts))
            return REASON_HOOK_STATE;
        return ends_at_once && phase == PHASE_BACKWARD && !facts->accumulates_grad
                   ? REASON_BACKWARD_PASSED_ON
                   : REASON_BACKWARD_KEPT;
    case CONTEXT_OPTIMIZER:
        return ends_at_once && phase == PHASE_OPTIMIZER ? REASON_STEP_FREED : REASON_STEP_KEPT;
    case CONTEXT_DATA:
    case CONTEXT_OTHER:
        return phase == PHASE_BACKWARD ? REASON_BACKWARD_FREES : REASON_NONE;
    case CONTEXT_ZERO_GRAD:
    case CONTEXT_NONE:
        break;
    }
    return REASON_NONE;
}

/* True if a block that stays has the size of a workspace of cuBLAS, and nothing shows that it is
 * something else: the Python line that multiplied first made both the product and the workspace. */
static bool is_workspace_by_size(const struct classifier *classifier,
                                 const struct preexisting *preexisting,
                                 const struct stack_facts *facts)
{
    return preexisting->size == CUBLAS_WORKSPACE && is_persistent(classifier, preexisting) &&
           (!facts || (facts->context == CONTEXT_FORWARD && facts->site.op == STRING_EMPTY));
}

/* Decides blocks whose category needs no counting. Sets REASON_NONE if the tallies must decide. */
static bool assign_one(const struct classifier *classifier, const struct preexisting *preexisting,
                       enum reason *reason, struct error *err)
{
    const struct trace *trace = classifier->timeline->trace;
    uint32_t end = preexisting_end(preexisting);
    *reason = REASON_NONE;
    const struct stack_facts *facts = NULL;
    if (preexisting->stack != STACK_NONE) {
        facts = site_stack_facts(classifier->sites, preexisting->stack, err);
        if (!facts)
            return false;
    }
    if (facts && facts->own != OWN_RULES_NONE) {
        *reason = REASON_RULE;
        return true;
    }
    if (classifier->timeline->snapshot->profile
            .is_heap) /* of a program without PyTorch: there are no categories */
        return true;
    if (end != EVENT_NEVER && trace->stack[end] != STACK_NONE) {
        const struct stack_facts *of_free =
            site_stack_facts(classifier->sites, trace->stack[end], err);
        if (!of_free)
            return false;
        if (of_free->context == CONTEXT_ZERO_GRAD) {
            *reason = REASON_ZERO_GRAD_FREED;
            return true;
        }
    }
    if (!facts && classifier_zero_grad_frees(classifier, preexisting->size, end)) {
        *reason = REASON_ZERO_GRAD_FREED;
        return true;
    }
    if (classifier->timeline->snapshot->profile.is_profile && end == EVENT_NEVER) {
        *reason = REASON_BEFORE_PROFILE;
    } else if (is_workspace_by_size(classifier, preexisting, facts)) {
        *reason = REASON_WORKSPACE_SIZE;
    } else if (facts) {
        *reason = stack_reason(classifier, preexisting, facts);
    } else if (preexisting_end_phase(classifier, preexisting) == PHASE_BACKWARD &&
               phases_run_of(classifier->phases, end) == classifier->first_backward_run) {
        *reason = REASON_BACKWARD_FREES;
    }
    return true;
}

static bool count_one(struct classifier *classifier, const struct preexisting *preexisting,
                      enum reason reason, struct error *err)
{
    bool stays = is_persistent(classifier, preexisting);
    bool is_parameter = stays && reason == REASON_MODEL_MADE;
    bool is_state = stays && reason == REASON_STEP_KEPT;
    if (reason != REASON_NONE && !is_parameter && !is_state)
        return true;
    struct size_tally *tally = size_tallies_at(&classifier->tallies, preexisting->size, err);
    if (!tally)
        return false;
    tally->made_in_earlier += is_state;
    if (is_state)
        return true;
    tally->parameters += is_parameter;
    tally->ended += preexisting->stack == STACK_NONE && !is_persistent(classifier, preexisting);
    if (stays) {
        tally->persistent += !is_parameter;
        tally->released += !is_parameter && preexisting_end(preexisting) != EVENT_NEVER;
    } else if (preexisting->stack == STACK_NONE &&
               preexisting_ends_in_step(classifier, preexisting)) {
        tally->replaced++;
    }
    return true;
}

/* True if a block stays, no weight has its size, and several passes of the trace make blocks of
 * this size that stay. Then steps before the trace did the same. */
static bool is_leaked(const struct classifier *classifier, const struct preexisting *preexisting)
{
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, preexisting->size);
    return tally && tally->count == 0 && tally->parameters == 0 && tally->kept_passes > 1 &&
           is_persistent(classifier, preexisting);
}

/* Decides a block that stays; if its size does not tell what it is, by the stack. */
static bool persistent_reason(struct classifier *classifier, const struct preexisting *preexisting,
                              enum reason *reason, struct error *err)
{
    if (!classifier_persistent(classifier, preexisting->size, preexisting_end(preexisting), reason,
                               err))
        return false;
    if (preexisting->stack == STACK_NONE)
        return true;
    if (*reason == REASON_INFERENCE && has_blocks_only(classifier))
        *reason = REASON_NONE; /* made while recording, as the results of forward passes are */
    const struct stack_facts *facts = site_stack_facts(classifier->sites, preexisting->stack, err);
    if (facts)
        *reason = classifier_buffer_reason(classifier, preexisting->size, facts, *reason);
    if (*reason == REASON_WORKSPACE_SIZE && facts_are_of_plain_code(facts))
        *reason = REASON_PERSISTENT;
    return facts != NULL;
}

static bool assign_by_size(struct classifier *classifier, const struct preexisting *preexisting,
                           enum reason *reason, struct error *err)
{
    if (is_leaked(classifier, preexisting)) {
        *reason = size_tallies_find(&classifier->tallies, preexisting->size)->kept_category ==
                          CATEGORY_INPUT
                      ? REASON_LEAKED_INPUT
                      : REASON_LEAKED_ACTIVATION;
        return true;
    }
    if (is_persistent(classifier, preexisting))
        return persistent_reason(classifier, preexisting, reason, err);
    const struct size_tally *tally = size_tallies_at(&classifier->tallies, preexisting->size, err);
    if (!tally)
        return false;
    *reason = preexisting_end_reason(classifier, preexisting, tally);
    return true;
}

struct at_address {
    uint64_t addr;
    size_t index;
};

static int compare_addresses(const void *a, const void *b)
{
    const struct at_address *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Decides blocks in order of address, because a model is made before its optimizer's states and
 * usually lies below them. */
static bool assign_by_sizes(struct classifier *classifier, struct categories *categories,
                            struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    struct budget *budget = timeline->snapshot->budget;
    struct at_address *rows = NULL;
    size_t capacity = 0, count = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        count += categories->why_preexisting[i] == REASON_NONE;
    if (count == 0)
        return true;
    if (!vec_reserve(rows, capacity, count, budget, err))
        return false;
    count = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (categories->why_preexisting[i] == REASON_NONE)
            rows[count++] = (struct at_address){timeline->preexisting[i].addr, i};
    qsort(rows, count, sizeof(*rows), compare_addresses);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        enum reason reason = REASON_NONE;
        ok = assign_by_size(classifier, &timeline->preexisting[rows[i].index], &reason, err);
        categories->why_preexisting[rows[i].index] = (uint8_t)reason;
    }
    vec_free(rows, capacity, sizeof(*rows), budget);
    return ok;
}

/* Cannot fail, because assign_one() has already looked the stack up. */
static uint8_t own_category(const struct classifier *classifier,
                            const struct preexisting *preexisting)
{
    struct error err;
    const struct stack_facts *facts = site_stack_facts(classifier->sites, preexisting->stack, &err);
    return facts ? facts->own : CATEGORY_UNKNOWN;
}

/* The reason byte; with a doubt for what pass_reason() finds. */
static uint8_t byte_of(const struct classifier *classifier, const struct preexisting *preexisting,
                       enum reason reason, uint32_t run)
{
    if (reason == REASON_ZERO_GRAD_FREED)
        return reason_byte(reason, DOUBT_NONE);
    if (reason == REASON_COMMUNICATION && preexisting->stack == STACK_NONE) /* by sizes alone */
        return reason_byte(reason, DOUBT_GUESS);
    if (reason == REASON_INFERENCE && has_blocks_only(classifier))
        return reason_byte(reason, DOUBT_GUESS); /* by live blocks alone: see shows_inference() */
    uint8_t byte = classifier_doubt(classifier, reason, run);
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, preexisting->size);
    bool is_like =
        tally && tally->twin[classifier_phase(classifier, run)] == 1 + CATEGORY_ACTIVATION;
    return reason == REASON_TWIN_ACTIVATION && !is_like && byte == reason_byte(reason, DOUBT_NONE)
               ? reason_byte(reason, DOUBT_INFERRED)
               : byte;
}

/* True if a snapshot without events shows a model that computes without gradients: a live block is
 * the result of a forward pass under torch.no_grad(), and none is of a backward pass or of an
 * optimizer. */
static bool shows_inference(const struct classifier *classifier,
                            const struct categories *categories)
{
    bool any = false;
    for (size_t i = 0; i < classifier->timeline->preexisting_count; i++) {
        enum category category = reason_category((enum reason)categories->why_preexisting[i]);
        if (category == CATEGORY_GRADIENT || category == CATEGORY_OPTIMIZER_STATE)
            return false;
        any = any || categories->why_preexisting[i] == REASON_FORWARD_RESULT;
    }
    return any;
}

bool classify_preexisting(struct classifier *classifier, struct categories *categories,
                          struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    bool begins_late = false;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        enum reason reason;
        if (!assign_one(classifier, &timeline->preexisting[i], &reason, err) ||
            !count_one(classifier, &timeline->preexisting[i], reason, err))
            return false;
        categories->why_preexisting[i] = (uint8_t)reason;
        begins_late = begins_late || (reason == REASON_NONE &&
                                      is_persistent(classifier, &timeline->preexisting[i]));
    }
    if (has_blocks_only(classifier) && shows_inference(classifier, categories))
        classifier->has_forward = true;
    struct optimizers optimizers;
    if (!roles_find_optimizers(timeline, &optimizers, err))
        return false;
    optimizers.may_be_unnamed = classifier->phases->has_stacks;
    optimizers.use_others = classifier->dropped > classifier->used * MOST_USED;
    optimizers.in_passes = classifier->passes_make_states;
    optimizers.frees_gradients = classifier->zero_grad_frees > 0;
    optimizers.steps_alone =
        optimizers.frees_gradients && classifier->zero_grad_frees <= classifier->zero_grads.count;
    if (!roles_solve(&classifier->roles, &classifier->tallies, &optimizers, &classifier->replaced,
                     begins_late, err) ||
        (!timeline->snapshot->profile.is_heap && !assign_by_sizes(classifier, categories, err)))
        return false;
    classify_earlier_zeros(classifier, categories);
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        enum reason reason = (enum reason)categories->why_preexisting[i];
        uint32_t run =
            phases_run_of(classifier->phases, preexisting_end(&timeline->preexisting[i]));
        categories->of_preexisting[i] = reason == REASON_RULE
                                            ? own_category(classifier, &timeline->preexisting[i])
                                            : (uint8_t)reason_category(reason);
        categories->why_preexisting[i] =
            byte_of(classifier, &timeline->preexisting[i], reason, run);
        if (run == NO_RUN && classifier->is_guess)
            categories->why_preexisting[i] = reason_byte(reason, DOUBT_GUESS);
    }
    return true;
}
