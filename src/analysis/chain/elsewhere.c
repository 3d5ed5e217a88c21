#include "analysis/chain/elsewhere.h"

#include "analysis/chain/names.h"
#include "analysis/phase/births.h"
#include "model/allocator_rules.h"

uint32_t chain_reach_end(const struct forward_chain *chain)
{
    for (size_t i = 0; i < chain->other_count; i++)
        if (chain->others[i].alike && chain->others[i].first >= chain->end)
            return chain->others[i].first;
    return chain->step_end;
}

static uint64_t block_bytes(uint64_t size)
{
    return allocator_round_up(size, ALLOCATOR_MIN_BLOCK);
}

/* The bytes that are allocated when the trace begins. */
static uint64_t bytes_before(const struct timeline *timeline)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (timeline->preexisting[i].in_allocated)
            bytes += block_bytes(timeline->preexisting[i].size);
    return bytes;
}

bool chain_name_place(const struct timeline *timeline, struct site_table *sites, uint32_t item,
                      struct text *at, struct error *err)
{
    stack_id stack = timeline->trace->stack[item];
    struct symbols *symbols = timeline->snapshot->symbols;
    struct buffer label = BUFFER_INIT;
    struct site site;
    if (!site_of(sites, stack, &site, err))
        return false;
    site_at_model_call(sites, stack, &site);
    site_label(sites, stack, &site, &label);
    bool ok = chain_add_label(symbols, &label, at, err);
    buffer_release(&label);
    return ok;
}

/* A stretch of the trace between passes, and its highest memory. */
struct gap {
    bool is_open;
    uint32_t first, highest; /* highest: the item that reaches `bytes`; EVENT_NEVER if nothing has
                              * been allocated so far */
    uint64_t bytes;
};

struct search {
    struct forward_chain *chain;
    const struct timeline *timeline;
    struct site_table *sites;
    const struct categories *categories;
    const struct phases *phases;
    const struct passes *passes;
    uint32_t end; /* chain_reach_end() */
    struct gap gap;
    size_t lifetime; /* the first lifetime after all earlier gaps */
    struct error *err;
};

static bool is_of_forward(struct search *search, size_t index, bool *is_forward)
{
    stack_id stack = search->timeline->trace->stack[search->timeline->lifetimes[index].alloc];
    const struct stack_facts *facts = site_stack_facts(search->sites, stack, search->err);
    *is_forward =
        facts && (facts->context == CONTEXT_FORWARD ||
                  category_is_saved((enum category)search->categories->of_lifetime[index]));
    return facts != NULL;
}

/* Sets *keeps if the gap has a forward pass that keeps activations, such as an evaluation with
 * gradients enabled. Then the number of live allocations at its highest memory is close to that of
 * the chain's activations. Under no_grad it is small. */
static bool keeps_activations(struct search *search, bool *keeps)
{
    const struct timeline *timeline = search->timeline;
    size_t count = 0, i = search->lifetime;
    for (; i < timeline->lifetime_count; i++) {
        const struct lifetime *life = &timeline->lifetimes[i];
        if (life->alloc > search->gap.highest)
            break;
        if (life->alloc < search->gap.first || lifetime_end(life) <= search->gap.highest)
            continue;
        bool is_forward;
        if (!is_of_forward(search, i, &is_forward))
            return false;
        count += is_forward;
    }
    search->lifetime = i;
    *keeps = count * 2 > search->chain->kept_count;
    return true;
}

#define FEW 4 /* up to a quarter as many tensors are not another forward pass */

/* The first item of the next backward pass after a run; EVENT_NEVER: there is none. */
static uint32_t next_backward(const struct phases *phases, uint32_t run)
{
    for (; run < phases->count; run++)
        if (phases->runs[run].phase == PHASE_BACKWARD)
            return phases->runs[run].first;
    return EVENT_NEVER;
}

/* Sets *has if a backward pass follows the forward phase that holds the highest memory of the gap,
 * finds most of what is kept there, and has no other forward pass before it, which would keep about
 * as much. */
static bool has_backward(struct search *search, bool *has)
{
    const struct timeline *timeline = search->timeline;
    const struct phases *phases = search->phases;
    uint32_t highest = search->gap.highest, run = phases_run_of(phases, highest);
    *has = false;
    if (run >= phases->count)
        return true;
    uint32_t backward = next_backward(phases, run);
    size_t own = 0, left = 0, others = 0;
    for (size_t i = births_from(timeline, phases->runs[run].first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < backward; i++) {
        const struct lifetime *life = &timeline->lifetimes[i];
        bool is_forward, is_left = lifetime_end(life) >= backward;
        if (!is_left && (life->alloc > highest || lifetime_end(life) <= highest))
            continue;
        if (!is_of_forward(search, i, &is_forward))
            return false;
        *(life->alloc <= highest ? &own : &others) += is_forward;
        left += is_forward && is_left && life->alloc <= highest;
    }
    *has = backward != EVENT_NEVER && left > own / 2 && others <= own / FEW;
    return true;
}

/* Ends the gap. `ran_out`: memory ran out in it, so it is incomplete and is
 * ignored. */
static bool end_gap(struct search *search, bool ran_out)
{
    const struct gap gap = search->gap;
    struct forward_chain *chain = search->chain;
    bool keeps;
    search->gap.is_open = false;
    if (gap.highest == EVENT_NEVER || ran_out)
        return true;
    if (!keeps_activations(search, &keeps))
        return false;
    struct chain_elsewhere *found = keeps ? &chain->unused : &chain->elsewhere;
    if (gap.bytes <= found->bytes)
        return true;
    if (keeps && !has_backward(search, &found->has_backward))
        return false;
    found->bytes = gap.bytes;
    found->event = search->timeline->trace->first_event + gap.highest;
    return chain_name_place(search->timeline, search->sites, gap.highest, &found->at, search->err);
}

bool chain_find_elsewhere(struct forward_chain *chain, const struct timeline *timeline,
                          struct site_table *sites, const struct categories *categories,
                          const struct phases *phases, const struct passes *passes,
                          struct error *err)
{
    struct search search = {.chain = chain,
                            .timeline = timeline,
                            .sites = sites,
                            .categories = categories,
                            .phases = phases,
                            .passes = passes,
                            .end = chain_reach_end(chain),
                            .err = err};
    const struct trace *trace = timeline->trace;
    uint64_t now = bytes_before(timeline);
    bool ran_out = false, ok = true;
    for (uint32_t item = 0, pass = 0; item < trace->count && ok; item++) {
        uint8_t action = trace->action[item];
        uint64_t bytes = block_bytes(trace_size(trace, item));
        while (pass < passes->count && passes->items[pass].end <= item)
            pass++;
        if ((pass < passes->count && item >= passes->items[pass].first) ||
            (item >= chain->first && item < search.end)) {
            ok = !search.gap.is_open || end_gap(&search, ran_out);
            ran_out = false;
        } else if (!search.gap.is_open) {
            search.gap = (struct gap){true, item, EVENT_NEVER, 0};
        }
        ran_out |= action == ACTION_OOM;
        if (action == trace->request)
            now -= bytes < now ? bytes : now;
        now += action == trace->birth ? bytes : 0;
        if (search.gap.is_open && action == trace->birth && now > search.gap.bytes) {
            search.gap.bytes = now;
            search.gap.highest = item;
        }
    }
    return ok && (!search.gap.is_open || end_gap(&search, ran_out));
}
