#include "analysis/chain/operations.h"

#include <stdlib.h>

#include "analysis/code/dispatched.h"

/* A cache, so that each stack is searched once. */
struct stack_names {
    string_id *names; /* by stack: 1 + the name of its operator; 0 if it was not searched yet */
    size_t count, capacity;
};

static bool name_stack(struct stack_names *known, const struct chain_measure *measure,
                       stack_id stack, string_id *name, struct error *err)
{
    string_id *seen = &known->names[stack];
    if (*seen == 0) {
        if (!dispatched_operator(measure->sites, stack, name, err))
            return false;
        *seen = *name + 1;
    }
    *name = *seen - 1;
    return true;
}

static bool name_all(struct operations *operations, struct stack_names *known,
                     const struct chain_measure *measure, struct error *err)
{
    const struct timeline *timeline = measure->timeline;
    const struct snapshot *snapshot = timeline->snapshot;
    bool ok = true;
    for (size_t i = 0; i < operations->count && ok; i++) {
        uint32_t item = timeline->lifetimes[operations->first + i].alloc;
        string_id *name = &operations->names[i];
        if (snapshot->profile.is_profile)
            *name = snapshot->extras[trace_extra(timeline->trace, item)].operation;
        else
            ok = name_stack(known, measure, timeline->trace->stack[item], name, err);
    }
    return ok;
}

bool operations_find(struct operations *operations, const struct chain_measure *measure,
                     uint32_t end, struct error *err)
{
    struct budget *budget = measure->timeline->snapshot->budget;
    const struct call_run *runs = measure->tree->runs;
    struct stack_names known = {.count = symbols_stack_count(site_table_symbols(measure->sites))};
    *operations = (struct operations){.budget = budget, .first = runs[0].lifetime};
    operations->count = runs[end].lifetime - operations->first;
    bool ok =
        vec_reserve(operations->names, operations->capacity, operations->count + 1, budget, err) &&
        vec_reserve(known.names, known.capacity, known.count + 1, budget, err);
    for (size_t i = 0; ok && i < known.count; i++)
        known.names[i] = 0;
    ok = ok && name_all(operations, &known, measure, err);
    vec_free(known.names, known.capacity, sizeof(*known.names), budget);
    if (!ok)
        operations_release(operations);
    return ok;
}

void operations_release(struct operations *operations)
{
    vec_free(operations->names, operations->capacity, sizeof(*operations->names),
             operations->budget);
    *operations = (struct operations){0};
}
