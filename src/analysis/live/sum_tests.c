/* Tests that decide which live allocations a sum counts. */
#include "analysis/live/sums.h"

#include "analysis/code/operators.h"
#include "analysis/phase/births.h"
#include "model/live.h"

bool live_is_dropped(const struct live_set *set, const struct live_facts *facts,
                     const struct live *live, const struct live_source *source)
{
    (void)set, (void)source;
    return live->in_trace && facts->is_dropped && facts->is_dropped[live->index];
}

bool live_is_retained(const struct live_set *set, const struct live_facts *facts,
                      const struct live *live, const struct live_source *source)
{
    (void)set, (void)source;
    return live->in_trace && facts->is_retained && facts->is_retained[live->index];
}

bool live_is_kept(const struct live_set *set, const struct live_facts *facts,
                  const struct live *live, const struct live_source *source)
{
    (void)set, (void)source;
    return live->in_trace && facts->is_kept && facts->is_kept[live->index];
}

bool live_is_concatenated(const struct live_set *set, const struct live_facts *facts,
                          const struct live *live, const struct live_source *source)
{
    return live->in_trace && facts->is_concatenated && facts->is_concatenated[live->index] &&
           !live_is_dropped(set, facts, live, source);
}

bool live_is_activation(const struct live_set *set, const struct live_facts *facts,
                        const struct live *live, const struct live_source *source)
{
    return live_category(set, live) == CATEGORY_ACTIVATION &&
           !live_is_dropped(set, facts, live, source) &&
           !live_is_concatenated(set, facts, live, source);
}

/* The item at which the program freed an allocation, or EVENT_NEVER. */
static uint32_t end_of(const struct live_set *set, const struct live *live)
{
    return live->in_trace ? lifetime_end(&set->timeline->lifetimes[live->index])
                          : preexisting_end(&set->timeline->preexisting[live->index]);
}

/* True for an allocation that is never freed and was made after the last backward pass that ended
 * before the moment, if its own backward pass does not follow or fails. */
static bool is_left_over(const struct live_facts *facts, uint32_t birth)
{
    return birth >= facts->last_pass &&
           (facts->is_last_pass || failures_between(facts->failures, birth, EVENT_NEVER));
}

/* Cannot fail, because the source has looked the stack up. */
static const struct stack_facts *facts_of(const struct live_set *set, const struct live *live)
{
    struct error err;
    return site_stack_facts(set->sites, live->stack, &err);
}

static enum grad_mode mode_of(const struct live_set *set, const struct live *live)
{
    const struct stack_facts *stack = facts_of(set, live);
    return stack ? (enum grad_mode)stack->grad_mode : GRAD_UNKNOWN;
}

/* True at a moment of a step's backward passes, for what the graph saved in the step's forward pass
 * and releases after them: one pass keeps the graph for the next, which goes through a part of
 * it. */
static bool is_kept_between_passes(const struct live_set *set, const struct live_facts *facts,
                                   uint32_t birth, uint32_t end)
{
    const struct phases *phases = facts->phases;
    uint32_t born = birth > 0 ? phases_run_of(phases, birth) : NO_RUN;
    if (!facts->passes_share_graph || born == NO_RUN || facts->run == NO_RUN ||
        phases->runs[born].phase != PHASE_FORWARD ||
        phases->runs[facts->run].phase != PHASE_BACKWARD ||
        phases->runs[born].updates != phases->runs[facts->run].updates)
        return false;
    struct error err; /* cannot fail, because the stack was looked up for the category */
    const struct stack_facts *stack =
        site_stack_facts(set->sites, set->timeline->trace->stack[end], &err);
    return stack && stack->releases_saved;
}

bool live_waits_for_backward(const struct live_set *set, const struct live_facts *facts,
                             const struct live *live, const struct live_source *source)
{
    uint32_t end = end_of(set, live);
    uint32_t birth = live->in_trace ? set->timeline->lifetimes[live->index].alloc : 0;
    if (!live_is_activation(set, facts, live, source))
        return false;
    if (facts->is_freed_stack && live->stack != STACK_NONE && facts->is_freed_stack[live->stack] &&
        (end == EVENT_NEVER || failures_between(facts->failures, birth, end)))
        return false;
    if (end == EVENT_NEVER)
        return is_left_over(facts, birth) && mode_of(set, live) < GRAD_PROBABLY_OFF &&
               !live_is_kept(set, facts, live, source) &&
               !(live->in_trace && facts->is_result && facts->is_result[live->index]);
    if (live->in_trace && failures_between(facts->failures, birth, end))
        return true;
    uint32_t run = phases_run_of(facts->phases, end);
    return run != NO_RUN && (facts->phases->runs[run].phase == PHASE_BACKWARD ||
                             is_kept_between_passes(set, facts, birth, end));
}

bool live_is_derivative(const struct live_set *set, const struct live_facts *facts,
                        const struct live *live, const struct live_source *source)
{
    const struct stack_facts *stack = facts_of(set, live);
    return live->in_trace && stack && stack->site.has_backward &&
           stack->context != CONTEXT_RECOMPUTE && live_waits_for_backward(set, facts, live, source);
}

bool live_is_transformed(const struct live_set *set, const struct live_facts *facts,
                         const struct live *live, const struct live_source *source)
{
    const struct stack_facts *stack = facts_of(set, live);
    return live->in_trace && stack && stack->is_transformed &&
           live_waits_for_backward(set, facts, live, source);
}

bool live_is_compiled(const struct live_set *set, const struct live_facts *facts,
                      const struct live *live, const struct live_source *source)
{
    const struct stack_facts *stack = facts_of(set, live);
    return live->in_trace && stack && stack->is_compiled &&
           live_waits_for_backward(set, facts, live, source);
}

bool live_is_recomputed(const struct live_set *set, const struct live_facts *facts,
                        const struct live *live, const struct live_source *source)
{
    (void)facts, (void)source;
    const struct stack_facts *stack = facts_of(set, live);
    enum category category = live_category(set, live);
    return live->in_trace && stack && stack->context == CONTEXT_RECOMPUTE &&
           (category == CATEGORY_ACTIVATION || category == CATEGORY_TEMPORARY);
}

/* True for a matrix of attention that is kept for the backward pass, or belongs to the running
 * forward pass if no backward pass uses that. */
static bool is_attention(const struct live_set *set, const struct live_facts *facts,
                         const struct live *live, const struct live_source *source,
                         enum attention_code code)
{
    live_test *counts =
        facts->trains && !facts->in_unused_pass ? live_waits_for_backward : live_is_running;
    if (!live->in_trace || !facts->is_attention || !facts->is_attention[live->index] ||
        !counts(set, facts, live, source))
        return false;
    const struct stack_facts *stack = facts_of(set, live);
    return stack && stack->attention == code;
}

bool live_is_attention(const struct live_set *set, const struct live_facts *facts,
                       const struct live *live, const struct live_source *source)
{
    return is_attention(set, facts, live, source, ATTENTION_BY_HAND);
}

bool live_is_multihead(const struct live_set *set, const struct live_facts *facts,
                       const struct live *live, const struct live_source *source)
{
    return is_attention(set, facts, live, source, ATTENTION_MULTIHEAD);
}

bool live_is_unfused(const struct live_set *set, const struct live_facts *facts,
                     const struct live *live, const struct live_source *source)
{
    return is_attention(set, facts, live, source, ATTENTION_UNFUSED);
}

bool live_is_logits(const struct live_set *set, const struct live_facts *facts,
                    const struct live *live, const struct live_source *source)
{
    (void)source;
    if (!live->in_trace || !facts->is_logits || !facts->is_logits[live->index])
        return false;
    const struct lifetime *lifetime = &set->timeline->lifetimes[live->index];
    return lifetime_end(lifetime) != EVENT_NEVER || is_left_over(facts, lifetime->alloc);
}

bool live_is_logits_of_loss(const struct live_set *set, const struct live_facts *facts,
                            const struct live *live, const struct live_source *source)
{
    return live_is_logits(set, facts, live, source) &&
           !live_is_pass_result(set, facts, live, source);
}

bool live_waits_beside_logits(const struct live_set *set, const struct live_facts *facts,
                              const struct live *live, const struct live_source *source)
{
    return live_waits_for_backward(set, facts, live, source) &&
           !live_is_logits(set, facts, live, source);
}

bool live_may_have_graph(const struct live_set *set, const struct live_facts *facts,
                         const struct live *live, const struct live_source *source)
{
    return live_is_activation(set, facts, live, source) && live->in_trace &&
           end_of(set, live) == EVENT_NEVER && mode_of(set, live) < GRAD_PROBABLY_OFF &&
           !(facts->fails_at_logits && live_is_logits(set, facts, live, source));
}

bool live_is_without_grad(const struct live_set *set, const struct live_facts *facts,
                          const struct live *live, const struct live_source *source)
{
    return live_is_activation(set, facts, live, source) && mode_of(set, live) >= GRAD_NO_GRAD;
}

bool live_is_inference(const struct live_set *set, const struct live_facts *facts,
                       const struct live *live, const struct live_source *source)
{
    return live_is_activation(set, facts, live, source) &&
           mode_of(set, live) == GRAD_INFERENCE_MODE;
}

bool live_is_running(const struct live_set *set, const struct live_facts *facts,
                     const struct live *live, const struct live_source *source)
{
    if (!live->in_trace || facts->run == NO_RUN ||
        facts->phases->runs[facts->run].phase != PHASE_FORWARD ||
        !(live_is_activation(set, facts, live, source) ||
          live_category(set, live) == CATEGORY_TEMPORARY))
        return false;
    const struct lifetime *lifetime = &set->timeline->lifetimes[live->index];
    if (phases_run_of(facts->phases, lifetime->alloc) != facts->run)
        return false;
    if (lifetime_end(lifetime) == EVENT_NEVER) /* the pass may have run out of memory */
        return facts->run + 1 == facts->phases->count;
    return phases_run_of(facts->phases, lifetime_end(lifetime)) == facts->run;
}

/* True for results of operators. A tensor that only has storage, or comes from the host, is no
 * result, unless an operator made it for its own result. In a program that trains, other sums count
 * what is kept, so only temporaries count here. Requires C++ frames, which name the operators. */
bool live_is_plain_result(const struct live_set *set, const struct live_facts *facts,
                          const struct live *live, const struct live_source *source)
{
    enum category category = live_category(set, live);
    bool may_be =
        category == CATEGORY_TEMPORARY ||
        (!facts->trains && (category == CATEGORY_ACTIVATION || category == CATEGORY_UNKNOWN));
    if (!live->in_trace || !may_be || live->stack == STACK_NONE ||
        live_is_kept(set, facts, live, source) || live_is_dropped(set, facts, live, source) ||
        live_is_pass_result(set, facts, live, source) ||
        live_is_concatenated(set, facts, live, source) ||
        (facts->fails_at_logits && live_is_logits(set, facts, live, source)))
        return false;
    const struct stack_facts *stack = facts_of(set, live);
    struct text op = symbols_text(site_table_symbols(set->sites), source->site.op);
    if (!stack || stack->context != CONTEXT_OTHER || stack->is_workspace || stack->to_device)
        return false;
    return operator_computes(op) || stack->fills_result;
}

bool live_is_resident_data(const struct live_set *set, const struct live_facts *facts,
                           const struct live *live, const struct live_source *source)
{
    (void)source;
    return live->in_trace && live_category(set, live) == CATEGORY_INPUT &&
           facts->last_backward != EVENT_NEVER && end_of(set, live) >= facts->last_backward &&
           set->timeline->lifetimes[live->index].alloc < facts->first_forward;
}

bool live_is_pass_result(const struct live_set *set, const struct live_facts *facts,
                         const struct live *live, const struct live_source *source)
{
    (void)source;
    if (!live->in_trace || !facts->is_result || !facts->is_result[live->index])
        return false;
    uint32_t run = phases_run_of(facts->phases, end_of(set, live));
    return run == NO_RUN || facts->phases->runs[run].phase != PHASE_BACKWARD;
}

bool live_is_piled(const struct live_set *set, const struct live_facts *facts,
                   const struct live *live, const struct live_source *source)
{
    return live->in_trace && facts->is_piled && facts->is_piled[live->index] &&
           !live_is_pass_result(set, facts, live, source) &&
           !live_is_retained(set, facts, live, source);
}

/* True if the allocation was recorded in a private pool: of a CUDA graph, or one that the program
 * made. */
static bool is_in_private_pool(const struct live_set *set, const struct live *live)
{
    const struct event_extra *extra = live_extra(set->timeline, live);
    return extra && (extra->pool[0] != 0 || extra->pool[1] != 0);
}

bool live_is_movable_result(const struct live_set *set, const struct live_facts *facts,
                            const struct live *live, const struct live_source *source)
{
    return live_is_pass_result(set, facts, live, source) && !is_in_private_pool(set, live);
}

bool live_is_layer_result(const struct live_set *set, const struct live_facts *facts,
                          const struct live *live, const struct live_source *source)
{
    enum category category = live_category(set, live);
    return live->in_trace && facts->is_layer_result && facts->is_layer_result[live->index] &&
           !live_is_dropped(set, facts, live, source) &&
           (category == CATEGORY_ACTIVATION || category == CATEGORY_TEMPORARY);
}

bool live_is_elementwise(const struct live_set *set, const struct live_facts *facts,
                         const struct live *live, const struct live_source *source)
{
    return live->in_trace && facts->is_elementwise && facts->is_elementwise[live->index] &&
           live_waits_for_backward(set, facts, live, source) &&
           !live_is_logits(set, facts, live, source) &&
           !(facts->is_attention && facts->is_attention[live->index]);
}

bool live_is_optimizer_temporary(const struct live_set *set, const struct live_facts *facts,
                                 const struct live *live, const struct live_source *source)
{
    (void)source;
    if (!live->in_trace || live_category(set, live) != CATEGORY_TEMPORARY)
        return false;
    uint32_t run = phases_run_of(facts->phases, set->timeline->lifetimes[live->index].alloc);
    return run != NO_RUN && facts->phases->runs[run].phase == PHASE_OPTIMIZER;
}
