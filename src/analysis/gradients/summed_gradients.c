#include "analysis/gradients/summed_gradients.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "base/budget.h"
#include "base/text.h"

#define LEAST_SIZE 64 /* bytes; sizes of smaller gradients tell nothing */

/* A gradient of one size that a cycle adds in place; or, with -1, one that the trace has made, so
 * that what is added may be for it. */
struct change {
    uint64_t size;
    uint32_t cycle;
    int32_t count;
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct categories *categories;
    const struct cycles *cycles;
    struct change *changes;
    size_t count, capacity;
    size_t renewed; /* gradients that are made, and freed after their cycle */
    struct budget *budget;
};

static bool is_of_accumulation(const struct finder *finder, const struct stack_facts *facts)
{
    return text_equals(symbols_text(site_table_symbols(finder->sites), facts->site.node),
                       "AccumulateGrad");
}

/* Sets *is to whether AccumulateGrad itself allocates or frees, and no hook that it calls, such as
 * one of DistributedDataParallel or of an optimizer, nor a backward pass within the backward pass,
 * which a checkpoint starts. */
static bool in_accumulation(const struct finder *finder, stack_id stack, bool *is,
                            struct error *err)
{
    const struct stack_facts *facts = site_stack_facts(finder->sites, stack, err);
    *is = facts && !facts->communicates && facts->site.any_python_frame == NO_FRAME &&
          is_of_accumulation(finder, facts);
    return facts != NULL;
}

/* The same for a free at an item. To add in place, AccumulateGrad allocates nothing. A hook may,
 * and what it frees when it returns does not show its frames. */
static bool is_added_at(const struct finder *finder, uint32_t item, bool *is, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    const stack_id *stacks = timeline->trace->stack;
    size_t before = births_from(timeline, item);
    if (!in_accumulation(finder, stacks[item], is, err))
        return false;
    if (!*is || before == 0)
        return true;
    const struct stack_facts *facts =
        site_stack_facts(finder->sites, stacks[timeline->lifetimes[before - 1].alloc], err);
    *is = facts && !is_of_accumulation(finder, facts);
    return facts != NULL;
}

static bool push(struct finder *finder, struct change change, struct error *err)
{
    return change.count == 0 ||
           vec_push(finder->changes, finder->count, finder->capacity, finder->budget, err, change);
}

/* A gradient of the trace that is live when the backward passes of `cycle` begin takes what one of
 * these adds. One cycle is enough to leave it out. */
static bool leave_out(struct finder *finder, size_t index, uint32_t cycle, struct error *err)
{
    const struct lifetime *lifetime = &finder->timeline->lifetimes[index];
    if (finder->categories->of_lifetime[index] != CATEGORY_GRADIENT ||
        cycle == finder->cycles->count ||
        lifetime_end(lifetime) < finder->cycles->items[cycle].backward)
        return true;
    struct change change = {trace_size(finder->timeline->trace, lifetime->alloc), cycle, -1};
    return push(finder, change, err);
}

/* True if backward() makes the gradient of the loss by itself, with which each call begins. */
static bool begins_call(const struct finder *finder, const struct stack_facts *facts)
{
    return facts->context == CONTEXT_BACKWARD && facts->site.node == STRING_EMPTY &&
           text_equals(symbols_text(site_table_symbols(finder->sites), facts->site.op),
                       "aten::ones_like");
}

/* Sets *end to the item at which the first call of backward() in a cycle is over for certain: the
 * next call adds to the gradients that it has made. */
static bool find_first_call(const struct finder *finder, const struct cycle *of, uint32_t *end,
                            struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    uint32_t from = of->forward_end < of->backward ? of->forward_end : of->backward;
    size_t calls = 0;
    *end = of->pass_end;
    for (size_t i = births_from(timeline, from);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < of->pass_end; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        const struct stack_facts *facts =
            site_stack_facts(finder->sites, timeline->trace->stack[item], err);
        if (!facts)
            return false;
        if (begins_call(finder, facts) && ++calls == 2) {
            *end = item;
            break;
        }
    }
    return true;
}

/* Judges a block that backward passes of a cycle make. */
static bool add(struct finder *finder, size_t index, uint32_t cycle, uint32_t first_end,
                struct error *err)
{
    const struct cycle *of = &finder->cycles->items[cycle];
    const struct trace *trace = finder->timeline->trace;
    const struct lifetime *lifetime = &finder->timeline->lifetimes[index];
    uint32_t end = lifetime_end(lifetime);
    struct change change = {trace_size(trace, lifetime->alloc), cycle, 0};
    bool is_made, is_first = lifetime->alloc < first_end, is_added = false;
    if (change.size < LEAST_SIZE)
        return true;
    if (!in_accumulation(finder, trace->stack[lifetime->alloc], &is_made, err) ||
        (end < of->end && !is_added_at(finder, end, &is_added, err)))
        return false;
    if (end < of->end) {
        change.count = is_first && is_added;
    } else if (finder->categories->of_lifetime[index] == CATEGORY_GRADIENT) {
        finder->renewed += end != EVENT_NEVER;
        change.count = -(int32_t)(!is_first || is_made);
    }
    return push(finder, change, err) && leave_out(finder, index, cycle + 1, err);
}

static bool collect(struct finder *finder, struct error *err)
{
    const struct lifetime *lifetimes = finder->timeline->lifetimes;
    size_t before = births_from(finder->timeline, finder->cycles->items[0].backward);
    for (size_t i = 0; i < before; i++)
        if (!leave_out(finder, i, 0, err))
            return false;
    for (uint32_t cycle = 0; cycle < finder->cycles->count; cycle++) {
        const struct cycle *of = &finder->cycles->items[cycle];
        uint32_t first_end;
        if (!find_first_call(finder, of, &first_end, err))
            return false;
        for (size_t i = births_from(finder->timeline, of->backward);
             i < finder->timeline->lifetime_count && lifetimes[i].alloc < of->end; i++)
            if (!add(finder, i, cycle, first_end, err))
                return false;
    }
    return true;
}

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->cycle > y->cycle) - (x->cycle < y->cycle);
}

/* The number of gradients of one size that every cycle adds; `count` changes. */
static uint64_t least_of(const struct finder *finder, const struct change *changes, size_t count)
{
    int64_t least = INT64_MAX;
    uint32_t cycles = 0;
    for (size_t i = 0, next; i < count; i = next) {
        int64_t sum = 0;
        for (next = i; next < count && changes[next].cycle == changes[i].cycle; next++)
            sum += changes[next].count;
        least = sum < least ? sum : least;
        cycles++;
    }
    return cycles == finder->cycles->count && least > 0 ? (uint64_t)least : 0;
}

static void sum_up(struct finder *finder, struct summed_gradients *summed)
{
    if (finder->count > 0)
        qsort(finder->changes, finder->count, sizeof(*finder->changes), compare_changes);
    for (size_t i = 0, next; i < finder->count; i = next) {
        uint64_t size = finder->changes[i].size;
        for (next = i + 1; next < finder->count && finder->changes[next].size == size;)
            next++;
        uint64_t count = least_of(finder, &finder->changes[i], next - i);
        summed->count += count;
        summed->bytes += (int64_t)(count * size);
    }
}

bool summed_gradients_find(struct summed_gradients *summed, const struct timeline *timeline,
                           struct site_table *sites, const struct categories *categories,
                           const struct cycles *cycles, struct error *err)
{
    struct finder finder = {.timeline = timeline,
                            .sites = sites,
                            .categories = categories,
                            .cycles = cycles,
                            .budget = timeline->snapshot->budget};
    *summed = (struct summed_gradients){0};
    if (cycles->count < SUMMED_LEAST_CYCLES)
        return true;
    bool ok = collect(&finder, err);
    if (ok && finder.renewed >= cycles->count - 1)
        sum_up(&finder, summed);
    vec_free(finder.changes, finder.capacity, sizeof(*finder.changes), finder.budget);
    return ok;
}
