#include "analysis/findings/recast_weights.h"

#include "analysis/phase/births.h"
#include "base/text.h"
#include "model/peak_without.h"

#define LEAST_WEIGHTS 2 /* live at once; a loader that converts one by one has a single one */

static uint64_t size_of(const struct timeline *timeline, size_t index)
{
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

/* Sets `*weight` if lifetime `index` was made for a model: by Module.to() and the like, or, where
 * `is_cast`, by a conversion in other code. */
static bool is_weight(const struct live_set *set, size_t index, bool is_cast, bool *weight,
                      struct error *err)
{
    const struct timeline *timeline = set->timeline;
    stack_id stack = timeline->trace->stack[timeline->lifetimes[index].alloc];
    const struct stack_facts *facts = site_stack_facts(set->sites, stack, err);
    *weight = facts && (facts->context == CONTEXT_INIT ||
                        (is_cast && facts->context == CONTEXT_OTHER &&
                         text_equals(symbols_text(site_table_symbols(set->sites), facts->site.op),
                                     "aten::_to_copy")));
    return facts != NULL;
}

/* True for the sizes of the same numbers in two floating-point dtypes. */
static bool are_of_dtypes(uint64_t a, uint64_t b)
{
    uint64_t less = a < b ? a : b, more = a < b ? b : a;
    return less > 0 && more % less == 0 && (more / less == 2 || more / less == 4);
}

/* Finds the weight that took the place of lifetime `index`: it is made, and then the old one is
 * freed before the next is made. SIZE_MAX: none did. */
static bool find_successor(const struct live_set *set, size_t index, size_t *successor,
                           struct error *err)
{
    const struct timeline *timeline = set->timeline;
    const struct trace *trace = timeline->trace;
    uint32_t end = lifetime_end(&timeline->lifetimes[index]);
    bool was_made, is_made;
    *successor = SIZE_MAX;
    if (end == EVENT_NEVER)
        return true;
    size_t last = births_from(timeline, end) - 1; /* there is one: the weight itself */
    uint32_t alloc = timeline->lifetimes[last].alloc;
    if (last == index || lifetime_end(&timeline->lifetimes[last]) <= end ||
        !are_of_dtypes(size_of(timeline, index), size_of(timeline, last)) ||
        trace->stack[alloc] == trace->stack[timeline->lifetimes[index].alloc])
        return true;
    if (!is_weight(set, index, false, &was_made, err) || !is_weight(set, last, true, &is_made, err))
        return false;
    if (was_made && is_made)
        *successor = last;
    return true;
}

static bool add_live(struct recast_weights *recast, const struct live_set *set,
                     const struct live *live, size_t successor, uint64_t *largest,
                     struct error *err)
{
    const struct timeline *timeline = set->timeline;
    const struct stack_facts *facts = site_stack_facts(set->sites, live->stack, err);
    if (!facts)
        return false;
    recast->bytes += (int64_t)live->size;
    recast->made_there |= !text_equals(symbols_text(site_table_symbols(set->sites), facts->site.op),
                                       "aten::_to_copy");
    if (live->size > *largest) {
        *largest = live->size;
        recast->stack = timeline->trace->stack[timeline->lifetimes[successor].alloc];
    }
    return true;
}

/* Sums the weights that are live at the peak and are converted later. */
static bool sum_live(struct recast_weights *recast, const struct live_set *set, struct error *err)
{
    size_t count = 0, successor;
    uint64_t largest = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct live *live = &set->items[i];
        if (!live->in_trace || live->stack == STACK_NONE)
            continue;
        if (!find_successor(set, live->index, &successor, err))
            return false;
        if (successor == SIZE_MAX)
            continue;
        if (!add_live(recast, set, live, successor, &largest, err))
            return false;
        count++;
    }
    if (count < LEAST_WEIGHTS)
        recast->bytes = 0;
    return true;
}

/* The memory that is missing if a weight has its last dtype from the beginning. */
static bool add_absences(struct absences *absences, const struct timeline *timeline, size_t index,
                         size_t successor, struct error *err)
{
    struct absence both = absence_of_lifetime(timeline, index), alone = both;
    uint64_t size = size_of(timeline, successor);
    both.from = alone.until = timeline->lifetimes[successor].alloc;
    alone.bytes -= size < alone.bytes ? size : alone.bytes;
    return absences_add(absences, alone, err) && absences_add(absences, both, err);
}

bool recast_weights_find(struct recast_weights *recast, const struct live_set *set,
                         struct error *err)
{
    const struct timeline *timeline = set->timeline;
    struct absences absences = {.budget = timeline->snapshot->budget};
    struct recast_weights found = {.stack = STACK_NONE};
    size_t successor;
    bool ok = sum_live(&found, set, err);
    for (size_t i = 0; ok && found.bytes > 0 && i < timeline->lifetime_count; i++) {
        ok = find_successor(set, i, &successor, err);
        if (ok && successor != SIZE_MAX)
            ok = add_absences(&absences, timeline, i, successor, err);
    }
    ok = ok && absences_save(&absences, timeline, &found.save_bytes, err);
    absences_release(&absences);
    if (ok)
        *recast = found;
    return ok;
}
