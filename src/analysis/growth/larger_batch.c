#include "analysis/growth/larger_batch.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/phase/forward.h"
#include "base/bisect.h"
#include "model/sums.h"

bool is_larger_batch(const struct growth_fit *fit, const struct site_group *group,
                     const struct stack_facts *facts, const struct symbols *symbols)
{
    if (fit->kind != GROWTH_GROWING || !fit->replaced)
        return false;
    struct text op = symbols_text(symbols, facts->site.op);
    if (op.size == 0)
        return group->category == CATEGORY_INPUT && group->source.own != STACK_NONE;
    return op_may_make_input(symbols, facts->site.op);
}

/* Adds the inputs of one step. */
static bool add_inputs(struct batches *batches, const struct live_set *set, const struct step *step,
                       size_t index, struct error *err)
{
    const struct timeline *timeline = set->timeline;
    const struct symbols *symbols = site_table_symbols(set->sites);
    for (size_t i = births_from(timeline, step->first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc <= step->last; i++) {
        if (set->categories->of_lifetime[i] != CATEGORY_INPUT)
            continue;
        uint32_t alloc = timeline->lifetimes[i].alloc;
        stack_id stack = timeline->trace->stack[alloc];
        const struct stack_facts *facts = site_stack_facts(set->sites, stack, err);
        if (!facts)
            return false;
        struct batch_input input = {index, stack, (int64_t)trace_size(timeline->trace, alloc)};
        if (op_may_make_input(symbols, facts->site.op) &&
            !vec_push(batches->items, batches->count, batches->capacity, batches->budget, err,
                      input))
            return false;
    }
    return true;
}

static int by_stack(const void *a, const void *b)
{
    const struct batch_input *x = a, *y = b;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

bool batches_find(struct batches *batches, const struct live_set *set, const struct steps *steps,
                  const struct step_ends *ends, struct error *err)
{
    struct batches made = {.budget = set->timeline->snapshot->budget};
    for (size_t k = 0; k < ends->count; k++) {
        size_t at = steps_of(steps, ends->items[k]);
        if (at != NO_STEP && !add_inputs(&made, set, &steps->items[at], k, err)) {
            batches_release(&made);
            return false;
        }
    }
    for (size_t i = 0; i < made.count; i++)
        sum_add_capped(&made.bytes[made.items[i].step], made.items[i].bytes);
    if (made.count > 0)
        qsort(made.items, made.count, sizeof(*made.items), by_stack);
    *batches = made;
    return true;
}

void batches_release(struct batches *batches)
{
    vec_free(batches->items, batches->capacity, sizeof(*batches->items), batches->budget);
    *batches = (struct batches){0};
}

/* The inputs of each step, but for those of one stack. */
static void inputs_of_others(const struct batches *batches, stack_id own, int64_t *bytes)
{
    size_t count = batches->count, i = 0;
    if (count > 0)
        i = bisect_less(&batches->items->stack, sizeof(*batches->items), count, own);
    memcpy(bytes, batches->bytes, sizeof(batches->bytes));
    for (; i < count && batches->items[i].stack == own; i++)
        bytes[batches->items[i].step] -= batches->items[i].bytes;
}

bool is_of_larger_batch(const struct batches *batches, const struct growth_fit *fit,
                        const struct growth_series *series, const struct site_group *group)
{
    int64_t inputs[GROWTH_STEPS];
    size_t last = series->count - 1;
    if (fit->kind != GROWTH_GROWING || !fit->replaced || group->category == CATEGORY_KV_CACHE)
        return false;
    inputs_of_others(batches, group->source.own, inputs);
    for (size_t k = 1; k < series->count; k++)
        if (series->bytes[k] > series->bytes[k - 1] && inputs[k] <= inputs[k - 1])
            return false;
    if (inputs[0] <= 0 || series->bytes[0] == 0)
        return false;
    double ratio = (double)inputs[last] / (double)inputs[0];
    return (double)series->bytes[last] <= ratio * ratio * (double)series->bytes[0];
}
