#include "analysis/growth/larger_batch.h"

#include "analysis/code/operators.h"
#include "analysis/phase/births.h"
#include "analysis/phase/forward.h"
#include "model/sums.h"

bool is_larger_batch(const struct growth_fit *fit, const struct site_group *group,
                     const struct stack_facts *facts, const struct symbols *symbols)
{
    if (fit->kind != GROWTH_GROWING || !fit->replaced)
        return false;
    struct text op = symbols_text(symbols, facts->site.op);
    if (op.size == 0)
        return group->category == CATEGORY_INPUT && group->source.own != STACK_NONE;
    return op_makes_input(symbols, facts->site.op) || operator_makes_storage(op);
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
        struct text op = symbols_text(symbols, facts->site.op);
        struct batch_input input = {index, stack, (int64_t)trace_size(timeline->trace, alloc)};
        if ((op.size == 0 || op_makes_input(symbols, facts->site.op) ||
             operator_makes_storage(op)) &&
            !vec_push(batches->items, batches->count, batches->capacity, batches->budget, err,
                      input))
            return false;
    }
    return true;
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
    *batches = made;
    return true;
}

void batches_release(struct batches *batches)
{
    vec_free(batches->items, batches->capacity, sizeof(*batches->items), batches->budget);
    *batches = (struct batches){0};
}

bool is_of_larger_batch(const struct batches *batches, const struct growth_fit *fit,
                        const struct growth_series *series, const struct site_group *group)
{
    int64_t inputs[GROWTH_STEPS] = {0};
    size_t last = series->count - 1;
    if (fit->kind != GROWTH_GROWING || !fit->replaced || group->category == CATEGORY_KV_CACHE)
        return false;
    for (size_t i = 0; i < batches->count; i++)
        if (batches->items[i].stack != group->source.own)
            sum_add_capped(&inputs[batches->items[i].step], batches->items[i].bytes);
    for (size_t k = 1; k < series->count; k++)
        if (series->bytes[k] > series->bytes[k - 1] && inputs[k] <= inputs[k - 1])
            return false;
    if (inputs[0] == 0 || series->bytes[0] == 0)
        return false;
    double ratio = (double)inputs[last] / (double)inputs[0];
    return (double)series->bytes[last] <= ratio * ratio * (double)series->bytes[0];
}
