#include "analysis/growth/graph_bursts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "base/budget.h"

#define LEAST_TENSORS 8 /* tensors that one line frees at once */
#define LEAST_STACKS  4 /* different stacks that allocated them */
/* The same, if the pass frees at most half as many tensors as it keeps: layers that are called in a
 * loop have the same Python frames. */
#define FEW_STACKS 2
/* A burst holds at least one of so many tensors that are made from its first one to its last. A
 * program that keeps the results of a model's layers, without autograd, keeps one of each layer. */
#define LEAST_SHARE 4

bool graph_bursts_open(struct graph_bursts *bursts, const struct timeline *timeline,
                       const struct phases *phases, struct error *err)
{
    struct graph_bursts made = {
        .timeline = timeline, .phases = phases, .budget = timeline->snapshot->budget};
    if (!vec_reserve(made.balance, made.balance_capacity, phases->count + 1, made.budget, err))
        return false;
    memset(made.balance, 0, (phases->count + 1) * sizeof(*made.balance));
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        struct lifetime_runs runs = phases->of_lifetime[i];
        made.balance[runs.birth] += runs.end > runs.birth ? 1 : -2;
    }
    *bursts = made;
    return true;
}

uint32_t graph_pass_of(const struct phases *phases, size_t index)
{
    uint32_t run = phases->of_lifetime[index].birth;
    if (run > 0 && run < phases->count && phases->runs[run].phase == PHASE_OTHER)
        run--;
    return run < phases->count && phases->runs[run].phase == PHASE_FORWARD ? run : NO_RUN;
}

bool graph_bursts_add(struct graph_bursts *bursts, struct site_table *sites, size_t index,
                      struct error *err)
{
    const struct trace *trace = bursts->timeline->trace;
    const struct lifetime *lifetime = &bursts->timeline->lifetimes[index];
    uint32_t item = lifetime_end(lifetime);
    if (item == EVENT_NEVER ||
        bursts->phases->of_lifetime[index].end == graph_pass_of(bursts->phases, index))
        return true;
    const struct stack_facts *facts = site_stack_facts(sites, trace->stack[item], err);
    if (!facts)
        return false;
    if (facts->site.has_backward || facts->site.any_python_frame == NO_FRAME)
        return true;
    facts = site_stack_facts(sites, trace->stack[lifetime->alloc], err);
    if (!facts)
        return false;
    struct burst_end end = {item, (uint32_t)index};
    return facts->in_operator ||
           vec_push(bursts->ends, bursts->count, bursts->capacity, bursts->budget, err, end);
}

static int compare_ends(const void *a, const void *b)
{
    const struct burst_end *x = a, *y = b;
    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* True if the same stack frees both, with no allocation in between. */
static bool in_one_burst(const struct trace *trace, const struct burst_end *a,
                         const struct burst_end *b)
{
    if (trace->stack[a->item] != trace->stack[b->item])
        return false;
    for (uint32_t item = a->item; item < b->item; item++)
        if (trace->action[item] == ACTION_ALLOC)
            return false;
    return true;
}

/* True if the forward pass that made a tensor keeps most of what it makes. A pass without autograd
 * frees the result of a layer once the next layer has its own. */
static bool pass_keeps_most(const struct graph_bursts *bursts, uint32_t index)
{
    uint32_t pass = graph_pass_of(bursts->phases, index);
    return pass != NO_RUN && bursts->balance[pass] >= 0;
}

/* True if a burst holds a large part of what was made from its first tensor to its last. */
static bool holds_much(const struct burst_end *ends, size_t count)
{
    size_t first = ends[0].index, last = ends[0].index;
    for (size_t i = 1; i < count; i++) {
        first = ends[i].index < first ? ends[i].index : first;
        last = ends[i].index > last ? ends[i].index : last;
    }
    return count >= (last - first) / LEAST_SHARE;
}

/* True for tensors of a burst that come from many lines. */
static bool counts(const struct graph_bursts *bursts, const struct burst_end *ends, size_t count)
{
    const struct timeline *timeline = bursts->timeline;
    stack_id stacks[LEAST_STACKS];
    size_t distinct = 0;
    for (size_t i = 0; i < count && distinct < LEAST_STACKS; i++) {
        stack_id stack = timeline->trace->stack[timeline->lifetimes[ends[i].index].alloc];
        size_t known = 0;
        while (known < distinct && stacks[known] != stack)
            known++;
        if (known == distinct)
            stacks[distinct++] = stack;
    }
    return count >= LEAST_TENSORS && distinct >= FEW_STACKS &&
           (bursts->any_share || holds_much(ends, count)) &&
           (distinct == LEAST_STACKS || pass_keeps_most(bursts, ends[0].index));
}

bool graph_bursts_flag(struct graph_bursts *bursts, uint8_t *flags)
{
    bool any = false;
    if (bursts->count < LEAST_TENSORS)
        return false;
    qsort(bursts->ends, bursts->count, sizeof(*bursts->ends), compare_ends);
    for (size_t i = 0, next; i < bursts->count; i = next) {
        for (next = i + 1; next < bursts->count; next++)
            if (!in_one_burst(bursts->timeline->trace, &bursts->ends[next - 1],
                              &bursts->ends[next]))
                break;
        bool is_graph = counts(bursts, &bursts->ends[i], next - i);
        for (size_t j = i; is_graph && j < next; j++)
            flags[bursts->ends[j].index] = true;
        any |= is_graph;
    }
    return any;
}

void graph_bursts_close(struct graph_bursts *bursts)
{
    vec_free(bursts->ends, bursts->capacity, sizeof(*bursts->ends), bursts->budget);
    vec_free(bursts->balance, bursts->balance_capacity, sizeof(*bursts->balance), bursts->budget);
    *bursts = (struct graph_bursts){0};
}
