#include "analysis/live/sums.h"

#include <stdlib.h>

#include "analysis/phase/births.h"

/* The bytes of one allocation, counted for its line of code. */
struct part {
    frame_id frame;
    int64_t bytes;
    size_t live; /* item of the set */
};

bool live_is_dropped(const struct live_set *set, const struct live_facts *facts,
                     const struct live *live, const struct live_source *source)
{
    (void)set, (void)source;
    return live->in_trace && facts->is_dropped && facts->is_dropped[live->index];
}

bool live_is_kept(const struct live_set *set, const struct live_facts *facts,
                  const struct live *live, const struct live_source *source)
{
    (void)set, (void)source;
    return live->in_trace && facts->is_kept && facts->is_kept[live->index];
}

bool live_is_activation(const struct live_set *set, const struct live_facts *facts,
                        const struct live *live, const struct live_source *source)
{
    return live_category(set, live) == CATEGORY_ACTIVATION &&
           !live_is_dropped(set, facts, live, source);
}

/* The item at which the program freed it, or EVENT_NEVER. */
static uint32_t end_of(const struct live_set *set, const struct live *live)
{
    return live->in_trace ? lifetime_end(&set->timeline->lifetimes[live->index])
                          : preexisting_end(&set->timeline->preexisting[live->index]);
}

/* True for what is never freed and born since the last backward pass that ended before the moment,
 * if its own backward pass does not come, or fails. */
static bool is_left_behind(const struct live_facts *facts, uint32_t birth)
{
    return birth >= facts->last_pass &&
           (facts->is_last_pass || failures_between(facts->failures, birth, EVENT_NEVER));
}

bool live_waits_for_backward(const struct live_set *set, const struct live_facts *facts,
                             const struct live *live, const struct live_source *source)
{
    uint32_t end = end_of(set, live);
    uint32_t birth = live->in_trace ? set->timeline->lifetimes[live->index].alloc : 0;
    if (!live_is_activation(set, facts, live, source))
        return false;
    if (end == EVENT_NEVER)
        return is_left_behind(facts, birth) &&
               !(live->in_trace && facts->is_result && facts->is_result[live->index]);
    if (live->in_trace && failures_between(facts->failures, birth, end))
        return true;
    uint32_t run = phases_run_of(facts->phases, end);
    return run != NO_RUN && facts->phases->runs[run].phase == PHASE_BACKWARD;
}

/* A matrix of attention that is not fused, and whether torch.nn.MultiheadAttention made it. */
static bool is_attention(const struct live_set *set, const struct live_facts *facts,
                         const struct live *live, const struct live_source *source,
                         bool in_multihead)
{
    struct error err; /* cannot fail: the source has looked the stack up */
    if (!live->in_trace || !facts->is_attention || !facts->is_attention[live->index] ||
        !live_waits_for_backward(set, facts, live, source))
        return false;
    const struct stack_facts *stack = site_stack_facts(set->sites, live->stack, &err);
    return stack && stack->in_multihead == in_multihead;
}

bool live_is_attention(const struct live_set *set, const struct live_facts *facts,
                       const struct live *live, const struct live_source *source)
{
    return is_attention(set, facts, live, source, false);
}

bool live_is_multihead(const struct live_set *set, const struct live_facts *facts,
                       const struct live *live, const struct live_source *source)
{
    return is_attention(set, facts, live, source, true);
}

bool live_is_logits(const struct live_set *set, const struct live_facts *facts,
                    const struct live *live, const struct live_source *source)
{
    (void)source;
    if (!live->in_trace || !facts->is_logits || !facts->is_logits[live->index])
        return false;
    const struct lifetime *lifetime = &set->timeline->lifetimes[live->index];
    return lifetime_end(lifetime) != EVENT_NEVER || is_left_behind(facts, lifetime->alloc);
}

static enum grad_mode mode_of(const struct live_set *set, const struct live *live)
{
    struct error err; /* cannot fail: the source has looked the stack up */
    const struct stack_facts *stack = site_stack_facts(set->sites, live->stack, &err);
    return stack ? (enum grad_mode)stack->grad_mode : GRAD_UNKNOWN;
}

bool live_may_have_graph(const struct live_set *set, const struct live_facts *facts,
                         const struct live *live, const struct live_source *source)
{
    return live_is_activation(set, facts, live, source) && live->in_trace &&
           end_of(set, live) == EVENT_NEVER && mode_of(set, live) < GRAD_PROBABLY_OFF;
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

#define CAST_WINDOW 8 /* allocations from the source of a conversion to its result, at most */

/* True if the conversion made its source smaller, and the forward pass freed the source: without
 * the conversion, autograd would keep the source. */
static bool replaces_source(const struct live_set *set, const struct live_facts *facts,
                            const struct live *live)
{
    const struct timeline *timeline = set->timeline;
    for (size_t i = live->index; live->in_trace && i-- > 0 && live->index - i <= CAST_WINDOW;) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if (size != 2 * live->size && size != 4 * live->size && size != 8 * live->size)
            continue;
        uint32_t run = phases_run_of(facts->phases, lifetime_end(&timeline->lifetimes[i]));
        return run != NO_RUN && facts->phases->runs[run].phase != PHASE_BACKWARD;
    }
    return false;
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

bool live_is_cast(const struct live_set *set, const struct live_facts *facts,
                  const struct live *live, const struct live_source *source)
{
    struct text op = symbols_text(site_table_symbols(set->sites), source->site.op);
    if (!live_waits_for_backward(set, facts, live, source) || !text_equals(op, "aten::_to_copy") ||
        live_is_logits(set, facts, live, source) || replaces_source(set, facts, live))
        return false;
    struct error err; /* cannot fail: the source has looked the stack up */
    const struct stack_facts *stack = site_stack_facts(set->sites, live->stack, &err);
    return stack && !stack->to_device;
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

unsigned live_phase(const struct live_set *set, const struct phases *phases,
                    const struct live *live)
{
    if (!live->in_trace)
        return live_is_older(set, live) ? LIVE_PHASE_BEFORE : PHASE_UNKNOWN;
    uint32_t run = phases_run_of(phases, set->timeline->lifetimes[live->index].alloc);
    return run == NO_RUN ? PHASE_UNKNOWN : phases->runs[run].phase;
}

const char *live_phase_name(unsigned phase)
{
    return phase == LIVE_PHASE_BEFORE ? "before_recording" : phase_name((enum phase)phase);
}

/* By frame, then the largest first. */
static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->live > y->live) - (x->live < y->live);
}

static bool label_top(const struct live_set *set, struct part *parts, size_t count,
                      bool by_model_call, struct live_sum *sum, struct error *err)
{
    size_t top = count;
    qsort(parts, count, sizeof(*parts), compare_parts);
    for (size_t i = 0, end; i < count; i = end) {
        int64_t bytes = 0;
        for (end = i; end < count && parts[end].frame == parts[i].frame; end++)
            bytes += parts[end].bytes;
        if (bytes > sum->top_bytes ||
            (bytes == sum->top_bytes && top < count &&
             site_frame_order(set->sites, parts[i].frame, parts[top].frame) < 0)) {
            sum->top_bytes = bytes;
            top = i;
        }
    }
    struct live_source source;
    if (top == count)
        return true;
    if (!live_source_of(set, &set->items[parts[top].live], &source, err))
        return false;
    if (by_model_call)
        site_at_model_call(set->sites, source.shown, &source.site);
    live_source_label(set, &source, NULL, true, &sum->top_label);
    return !sum->top_label.failed || error_out_of_memory(err);
}

/* The allocations of one sum. */
struct parts {
    struct part *items; /* room for the whole set */
    size_t count;
};

static void add_live(const struct live_set *set, size_t item, const struct live_source *source,
                     bool by_model_call, struct live_sum *sum, struct parts *parts)
{
    int64_t bytes = (int64_t)set->items[item].size;
    struct site site = source->site;
    frame_id frame;
    sum->bytes += bytes;
    sum->count++;
    sum->largest_bytes = bytes > sum->largest_bytes ? bytes : sum->largest_bytes;
    if (by_model_call)
        site_at_model_call(set->sites, source->shown, &site);
    if (site_frame(set->sites, source->shown, &site, &frame))
        parts->items[parts->count++] = (struct part){frame, bytes, item};
}

static bool add_all(const struct live_set *set, const struct live_facts *facts,
                    const struct live_question *questions, size_t count, struct live_sum *sums,
                    struct parts *parts, struct error *err)
{
    for (size_t i = 0; i < set->count; i++) {
        struct live_source source;
        if (!live_source_of(set, &set->items[i], &source, err))
            return false;
        for (size_t k = 0; k < count; k++)
            if (questions[k].counts(set, facts, &set->items[i], &source))
                add_live(set, i, &source, questions[k].by_model_call, &sums[k], &parts[k]);
    }
    return true;
}

bool live_sums(const struct live_set *set, const struct live_facts *facts,
               const struct live_question *questions, size_t count, struct live_sum *sums,
               struct error *err)
{
    struct live_sum made[LIVE_SUMS_MOST] = {0};
    struct parts parts[LIVE_SUMS_MOST] = {0};
    struct part *room = NULL;
    struct budget *budget = set->timeline->snapshot->budget;
    size_t capacity = 0;
    if (!vec_reserve(room, capacity, count * set->count + 1, budget, err))
        return false;
    for (size_t k = 0; k < count; k++)
        parts[k].items = room + k * set->count;
    bool ok = add_all(set, facts, questions, count, made, parts, err);
    for (size_t k = 0; ok && k < count; k++)
        ok = parts[k].count == 0 || label_top(set, parts[k].items, parts[k].count,
                                              questions[k].by_model_call, &made[k], err);
    vec_free(room, capacity, sizeof(*room), budget);
    for (size_t k = 0; k < count; k++) {
        if (ok)
            sums[k] = made[k];
        else
            live_sum_release(&made[k]);
    }
    return ok;
}

void live_sum_release(struct live_sum *sum)
{
    buffer_release(&sum->top_label);
    *sum = (struct live_sum){0};
}
