#include "analysis/chain/sizes.h"

#include <stdlib.h>

#include "analysis/code/dispatched.h"
#include "analysis/phase/births.h"
#include "base/bisect.h"

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

/* True if a function of torch.nn.functional whose backward operator reads its result makes an
 * allocation. Only this tells where stacks have no C++ frames. */
static bool makes_read_result(const struct chain_measure *measure, uint32_t item)
{
    static const char *const names[] = {"relu", "sigmoid", "tanh", "softmax", "log_softmax"};
    const struct symbols *symbols = site_table_symbols(measure->sites);
    struct stack stack = symbols_stack_at(symbols, measure->timeline->trace->stack[item]);
    if (stack.count == 0)
        return false;
    struct frame frame = symbols_frame_at(symbols, stack.frames[0]);
    struct text file = symbols_text(symbols, frame.file);
    return (text_ends(file, "torch/nn/functional.py") ||
            text_ends(file, "torch\\nn\\functional.py")) &&
           text_is_one_of(symbols_text(symbols, frame.name), names,
                          sizeof(names) / sizeof(names[0]));
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

/* The items, ascending, that free the items of chain->kept. */
struct ends {
    uint32_t *items;
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

static bool find_ends(struct ends *ends, const struct forward_chain *chain,
                      const struct timeline *timeline, struct error *err)
{
    *ends = (struct ends){.budget = chain->budget};
    if (!vec_reserve(ends->items, ends->capacity, chain->kept_count + 1, ends->budget, err))
        return false;
    for (size_t i = 0; i < chain->kept_count; i++)
        ends->items[ends->count++] =
            lifetime_end(&timeline->lifetimes[births_from(timeline, chain->kept[i])]);
    qsort(ends->items, ends->count, sizeof(*ends->items), compare_32);
    return true;
}

/* The last of the ends before an item; 0 if there is none. */
static uint32_t last_end_before(const struct ends *ends, uint32_t item)
{
    size_t at =
        ends->count > 0 ? bisect_less(ends->items, sizeof(*ends->items), ends->count, item) : 0;
    return at > 0 ? ends->items[at - 1] : 0;
}

static void release_ends(struct ends *ends)
{
    vec_free(ends->items, ends->capacity, sizeof(*ends->items), ends->budget);
}

/* Sets the reader of an element's output to the operator that made allocation `last`, if its name
 * shows that it reads the output or, without a name, if the operator that made the output does. */
static bool set_by_name(struct chain_element *element, const struct chain_measure *measure,
                        uint32_t last, struct error *err)
{
    string_id name;
    if (!operator_of(measure, last, &name, err))
        return false;
    if (name == STRING_EMPTY ? makes_read_result(measure, element->output_item)
                             : reads_result(symbols_text(site_table_symbols(measure->sites), name)))
        element->reader_item = last;
    return true;
}

static bool set_reader(struct forward_chain *chain, const struct chain_measure *measure, size_t i,
                       const struct ends *ends, struct error *err)
{
    const struct timeline *timeline = measure->timeline;
    struct chain_element *element = &chain->elements[i];
    uint32_t run, reserve;
    element->reader_item = EVENT_NEVER;
    if (element->output_item == EVENT_NEVER)
        return true;
    size_t output = births_from(timeline, element->output_item);
    uint32_t end = lifetime_end(&timeline->lifetimes[output]);
    if (end <= measure->pass->backward || end >= measure->pass->end)
        return true;
    uint32_t last = timeline->lifetimes[births_from(timeline, end) - 1].alloc;
    if (last < measure->pass->backward)
        return true;
    if (!chain_reserve_with_output(chain, measure, i, &run, &reserve))
        return set_by_name(element, measure, last, err);
    /* The backward of a recurrent layer makes several allocations. It begins after the operator
     * before it has freed what was kept for that. */
    uint32_t from = last_end_before(ends, last) + 1;
    from = from > measure->pass->backward ? from : measure->pass->backward;
    element->reader_item = timeline->lifetimes[births_from(timeline, from)].alloc;
    return true;
}

bool chain_set_readers(struct forward_chain *chain, const struct chain_measure *measure,
                       struct error *err)
{
    struct ends ends;
    if (!find_ends(&ends, chain, measure->timeline, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < chain->count; i++)
        ok = set_reader(chain, measure, i, &ends, err);
    release_ends(&ends);
    return ok;
}
