/* Tests of copies in another dtype, and of what they were made from. */
#include "analysis/live/sums.h"

#include "analysis/phase/births.h"
#include "base/text.h"

/* Cannot fail, because the source has looked the stack up. */
static const struct stack_facts *facts_of(const struct live_set *set, stack_id stack)
{
    struct error err;
    return site_stack_facts(set->sites, stack, &err);
}

#define CAST_WINDOW     8  /* allocations from the source of a conversion to its result */
#define EXCHANGE_WINDOW 24 /* the same for a result of a layer that others run after */

/* The allocation that a conversion may have made smaller, right before; SIZE_MAX if there is none.
 * It is there while the conversion runs. */
static size_t larger_source(const struct live_set *set, const struct live *live)
{
    const struct timeline *timeline = set->timeline;
    for (size_t i = live->index; live->in_trace && i-- > 0 && live->index - i <= CAST_WINDOW;) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if ((size == 2 * live->size || size == 4 * live->size || size == 8 * live->size) &&
            lifetime_end(&timeline->lifetimes[i]) >= timeline->lifetimes[live->index].alloc)
            return i;
    }
    return SIZE_MAX;
}

static bool is_conversion(const struct live_set *set, size_t index)
{
    stack_id stack = set->timeline->trace->stack[set->timeline->lifetimes[index].alloc];
    const struct stack_facts *facts = facts_of(set, stack);
    return facts && text_equals(symbols_text(site_table_symbols(set->sites), facts->site.op),
                                "aten::_to_copy");
}

/* True if autograd keeps another copy that autocast made of the same tensor for another operator.
 * The arguments of one operator are converted one right after the other, so there is a result in
 * between. A larger tensor in between may be what this copy was made from. The other copy was made
 * from a larger tensor: queries and keys of half the size are different tensors. */
static bool repeats_cast(const struct live_set *set, const struct live_facts *facts,
                         const struct live *live)
{
    const struct timeline *timeline = set->timeline;
    bool has_result = false;
    for (size_t i = live->index; live->in_trace && i-- > 0 && live->index - i <= CAST_WINDOW;) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint64_t size = trace_size(timeline->trace, lifetime->alloc);
        uint32_t run = phases_run_of(facts->phases, lifetime_end(lifetime));
        if (size > live->size && lifetime_end(lifetime) >= timeline->lifetimes[live->index].alloc)
            return false;
        bool is_kept = run == NO_RUN || facts->phases->runs[run].phase == PHASE_BACKWARD;
        if (is_conversion(set, i) && size == live->size)
            return has_result && is_kept &&
                   larger_source(
                       set, &(struct live){.in_trace = true, .index = (uint32_t)i, .size = size}) !=
                       SIZE_MAX;
        has_result |= size >= live->size && !is_conversion(set, i);
    }
    return false;
}

/* True if a conversion made its source larger, and the forward pass frees the source. */
static bool exchanges_source(const struct live_set *set, const struct live_facts *facts,
                             const struct live *live)
{
    const struct timeline *timeline = set->timeline;
    for (size_t i = live->index; live->in_trace && i-- > 0 && live->index - i <= EXCHANGE_WINDOW;) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint32_t end = lifetime_end(lifetime), run = phases_run_of(facts->phases, end);
        if (trace_size(timeline->trace, lifetime->alloc) == live->size / 2 &&
            end >= timeline->lifetimes[live->index].alloc && run != NO_RUN &&
            facts->phases->runs[run].phase != PHASE_BACKWARD)
            return true;
    }
    return false;
}

/* True if a conversion made its source smaller, and the forward pass freed the source. Without the
 * conversion, autograd would keep the source. */
static bool replaces_source(const struct live_set *set, const struct live_facts *facts,
                            const struct live *live)
{
    size_t source = larger_source(set, live);
    if (source == SIZE_MAX)
        return false;
    uint32_t run = phases_run_of(facts->phases, lifetime_end(&set->timeline->lifetimes[source]));
    return run != NO_RUN && facts->phases->runs[run].phase != PHASE_BACKWARD;
}

bool live_is_cast(const struct live_set *set, const struct live_facts *facts,
                  const struct live *live, const struct live_source *source)
{
    struct text op = symbols_text(site_table_symbols(set->sites), source->site.op);
    if (!live_waits_for_backward(set, facts, live, source) || !text_equals(op, "aten::_to_copy") ||
        live_is_logits(set, facts, live, source))
        return false;
    const struct stack_facts *stack = facts_of(set, live->stack);
    return stack && !stack->to_device &&
           (!replaces_source(set, facts, live) ||
            (stack->is_autocast && repeats_cast(set, facts, live)));
}

bool live_is_repeated_cast(const struct live_set *set, const struct live_facts *facts,
                           const struct live *live, const struct live_source *source)
{
    const struct stack_facts *stack = facts_of(set, live->stack);
    return stack && stack->is_autocast && live_is_cast(set, facts, live, source) &&
           repeats_cast(set, facts, live);
}

bool live_is_exchanged(const struct live_set *set, const struct live_facts *facts,
                       const struct live *live, const struct live_source *source)
{
    return live_is_widened(set, facts, live, source) && exchanges_source(set, facts, live);
}

bool live_is_widened(const struct live_set *set, const struct live_facts *facts,
                     const struct live *live, const struct live_source *source)
{
    const struct stack_facts *stack = facts_of(set, live->stack);
    return stack && stack->is_autocast && live_is_cast(set, facts, live, source) &&
           larger_source(set, live) == SIZE_MAX && !repeats_cast(set, facts, live);
}
