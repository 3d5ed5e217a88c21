#include "analysis/oom/larger.h"

#include "analysis/phase/births.h"
#include "model/allocator_rules.h"

/* True for what a model computes from its input, or plain code from tensors. What is made for
 * weights has their sizes, whatever the batch, and data may come to the device as a whole. */
static bool depends_on_batch(const struct stack_facts *facts)
{
    if (facts->is_workspace || !facts_are_forward(facts))
        return false;
    return facts->context == CONTEXT_FORWARD || facts->context == CONTEXT_RECOMPUTE ||
           (facts->context == CONTEXT_OTHER && !facts->to_device);
}

/* The largest block that the code of a stack allocated before an item; 0: none. */
static uint64_t largest_before(const struct timeline *timeline, stack_id stack, uint32_t item)
{
    const struct trace *trace = timeline->trace;
    uint64_t largest = 0;
    for (size_t i = births_from(timeline, item); i-- > 0;) {
        uint32_t alloc = timeline->lifetimes[i].alloc;
        if (trace->stack[alloc] == stack && trace_size(trace, alloc) > largest)
            largest = trace_size(trace, alloc);
    }
    return largest > 0 ? allocator_round(&timeline->snapshot->rules, largest) : 0;
}

bool oom_larger_add(struct ooms *ooms, const struct timeline *timeline, struct site_table *sites,
                    const struct steps *steps, struct error *err)
{
    for (size_t i = 0; i < ooms->count; i++) {
        struct oom_row *row = &ooms->items[i];
        size_t step = steps_of(steps, (uint32_t)row->item);
        if (row->stack == STACK_NONE || step == NO_STEP || step == 0)
            continue;
        const struct stack_facts *facts = site_stack_facts(sites, row->stack, err);
        if (!facts)
            return false;
        if (depends_on_batch(facts))
            row->earlier_bytes = largest_before(timeline, row->stack, steps->items[step].first);
    }
    return true;
}
