/* Recurrent layers that cuDNN runs. */
#include "analysis/chain/sizes.h"

#include "analysis/chain/held.h"
#include "analysis/code/recurrent.h"
#include "analysis/phase/births.h"

/* True if an operator runs between the ends of two lifetimes, as an allocation shows. */
static bool end_apart(const struct timeline *timeline, uint32_t a, uint32_t b)
{
    return births_from(timeline, lifetime_end(&timeline->lifetimes[a])) !=
           births_from(timeline, lifetime_end(&timeline->lifetimes[b]));
}

uint32_t chain_reserve_of(const struct chain_measure *measure, uint32_t run)
{
    const struct timeline *timeline = measure->timeline;
    const struct call_run *runs = measure->tree->runs;
    uint32_t last = EVENT_NEVER;
    if (!code_is_recurrent(measure->tree->symbols, runs[run].path))
        return EVENT_NEVER;
    for (uint32_t k = runs[run + 1].lifetime; k-- > runs[run].lifetime;) {
        uint32_t end = lifetime_end(&timeline->lifetimes[k]);
        if (end < measure->pass->backward || end >= measure->pass->end)
            continue;
        if (last == EVENT_NEVER)
            last = k;
        else if (!end_apart(timeline, k, last))
            return last;
    }
    return EVENT_NEVER;
}

bool chain_reserve_with_output(const struct forward_chain *chain,
                               const struct chain_measure *measure, size_t element, uint32_t *run,
                               uint32_t *reserve)
{
    const struct call_run *runs = measure->tree->runs;
    if (chain->elements[element].output_item == EVENT_NEVER)
        return false;
    size_t output = births_from(measure->timeline, chain->elements[element].output_item);
    for (*run = measure->runs[element + 1]; (*run)-- > measure->runs[element];)
        if (runs[*run].lifetime <= output) {
            *reserve = chain_reserve_of(measure, *run);
            return *reserve != EVENT_NEVER && output < runs[*run + 1].lifetime &&
                   !end_apart(measure->timeline, (uint32_t)output, *reserve);
        }
    return false;
}

bool chain_hold_states(struct forward_chain *chain, const struct chain_measure *measure,
                       size_t element, struct error *err)
{
    const struct timeline *timeline = measure->timeline;
    const struct call_run *runs = measure->tree->runs;
    uint32_t run, reserve;
    if (!chain_reserve_with_output(chain, measure, element, &run, &reserve))
        return true;
    for (uint32_t k = runs[run].lifetime; k < runs[run + 1].lifetime; k++) {
        uint32_t alloc = timeline->lifetimes[k].alloc, end = lifetime_end(&timeline->lifetimes[k]);
        if (end < lifetime_end(&timeline->lifetimes[reserve]) && end_apart(timeline, k, reserve) &&
            chain_keeps(chain, alloc) && !chain_add_held(chain, timeline->trace, alloc, err))
            return false;
    }
    return true;
}
