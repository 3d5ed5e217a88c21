#include "analysis/chain/sizes.h"
#include "analysis/code/dispatched.h"
#include "analysis/phase/births.h"

/* True for backward operators that read the result of the forward operator instead of its argument:
 * always, or if the forward operator ran in place. */
static bool reads_result(struct text name)
{
    static const char *const names[] = {
        "aten::threshold_backward",     "aten::sigmoid_backward",
        "aten::tanh_backward",          "aten::elu_backward",
        "aten::leaky_relu_backward",    "aten::hardtanh_backward",
        "aten::_softmax_backward_data", "aten::_log_softmax_backward_data"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (text_equals(name, names[i]))
            return true;
    return false;
}

static bool operator_of(const struct chain_measure *measure, uint32_t item, string_id *name,
                        struct error *err)
{
    const struct timeline *timeline = measure->timeline;
    const struct snapshot *snapshot = timeline->snapshot;
    if (!snapshot->profile.is_profile)
        return dispatched_operator(measure->sites, timeline->trace->stack[item], name, err);
    *name = snapshot->extras[trace_extra(timeline->trace, item)].operation;
    return true;
}

bool chain_set_readers(struct forward_chain *chain, const struct chain_measure *measure,
                       struct error *err)
{
    const struct timeline *timeline = measure->timeline;
    for (size_t i = 0; i < chain->count; i++) {
        struct chain_element *element = &chain->elements[i];
        element->reader_item = EVENT_NEVER;
        if (element->output_item == EVENT_NEVER)
            continue;
        size_t output = births_from(timeline, element->output_item);
        uint32_t end = lifetime_end(&timeline->lifetimes[output]);
        if (end <= measure->pass->backward || end >= measure->pass->end)
            continue;
        uint32_t last = timeline->lifetimes[births_from(timeline, end) - 1].alloc;
        string_id name;
        if (last < measure->pass->backward)
            continue;
        if (!operator_of(measure, last, &name, err))
            return false;
        if (reads_result(symbols_text(site_table_symbols(measure->sites), name)))
            element->reader_item = last;
    }
    return true;
}
