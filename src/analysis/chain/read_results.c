/* Results of modules that code beside them reads in its backward pass: in `scale * block(x)`, the
 * product saves the result of the block. A checkpoint around the block does not free it. */
#include <stdlib.h>

#include "analysis/chain/held.h"
#include "analysis/chain/sizes.h"
#include "analysis/code/dispatched.h"
#include "analysis/phase/births.h"

#define MOST_RESULTS 4  /* allocations of one operator that are looked at */
#define SMALL        16 /* statistics, such as those of a norm, are smaller than this part */

/* True for operators whose backward pass does not read their own result. Then it is kept only
 * because other code reads it. Not all such operators are here. */
static bool ignores_result(struct text name)
{
    static const char *const names[] = {
        "aten::addmm", "aten::mm",       "aten::bmm",       "aten::baddbmm", "aten::add",
        "aten::sub",   "aten::mul",      "aten::div",       "aten::gelu",    "aten::silu",
        "aten::cat",   "aten::_to_copy", "aten::embedding",
    };
    static const char *const endings[] = {"convolution", "layer_norm", "group_norm", "batch_norm",
                                          "rms_norm"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (text_equals(name, names[i]))
            return true;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (text_ends(name, endings[i]))
            return true;
    return false;
}

/* True for what is kept for the backward pass, and no longer. */
static bool is_kept(const struct forward_chain *chain, const struct chain_measure *measure,
                    const struct lifetime *lifetime)
{
    return chain_keeps(chain, lifetime->alloc) &&
           (measure->pass->unfinished || lifetime_end(lifetime) < measure->pass->end);
}

/* Sets *item to the allocation of what the last operator of these calls returns, if it is kept and
 * the operator itself does not read it; else to EVENT_NEVER. */
static bool find_result(const struct forward_chain *chain, const struct chain_measure *measure,
                        struct births calls, uint32_t *item, struct error *err)
{
    const struct timeline *timeline = measure->timeline;
    const struct trace *trace = timeline->trace;
    string_id last = STRING_EMPTY, name;
    uint64_t largest = 0;
    *item = EVENT_NEVER;
    for (size_t k = calls.end; k-- > calls.first && calls.end - k <= MOST_RESULTS;) {
        uint32_t alloc = timeline->lifetimes[k].alloc;
        if (!dispatched_operator(measure->sites, trace->stack[alloc], &name, err))
            return false;
        if (k + 1 == calls.end)
            last = name;
        if (name == STRING_EMPTY || name != last ||
            !ignores_result(symbols_text(site_table_symbols(measure->sites), name)))
            break;
        if (is_kept(chain, measure, &timeline->lifetimes[k]) &&
            trace_size(trace, alloc) / SMALL > largest) {
            *item = alloc;
            largest = trace_size(trace, alloc);
        }
    }
    return true;
}

static int by_value(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

bool chain_hold_read_results(struct forward_chain *chain, const struct chain_measure *measure,
                             struct error *err)
{
    size_t before = chain->held_count;
    if (measure->timeline->snapshot->profile.is_profile)
        return true;
    for (size_t i = 0; i < chain->count; i++) {
        const struct chain_element *element = &chain->elements[i];
        uint32_t item;
        if (!chain_hold_states(chain, measure, i, err))
            return false;
        if (!chain_is_modules(chain, i) || element->output_item == EVENT_NEVER ||
            element->output_item < element->calls_end)
            continue;
        if (!find_result(chain, measure, chain_births_in_calls(chain, measure, i), &item, err))
            return false;
        if (item != EVENT_NEVER && !chain_add_held(chain, measure->timeline->trace, item, err))
            return false;
    }
    if (chain->held_count > before)
        qsort(chain->held, chain->held_count, sizeof(*chain->held), by_value);
    return true;
}
