#include "analysis/phase/forward.h"

#include "analysis/code/operators.h"
#include "analysis/phase/births.h"

#define MOST_INTERRUPTIONS 1024 /* runs that are searched for the end of a backward pass */

bool op_makes_input(const struct symbols *symbols, string_id op)
{
    static const char *const ops[] = {"aten::_to_copy", "aten::to",    "aten::copy_",
                                      "aten::randint",  "aten::randn", "aten::rand"};
    return text_is_one_of(symbols_text(symbols, op), ops, sizeof(ops) / sizeof(ops[0]));
}

bool op_may_make_input(const struct symbols *symbols, string_id op)
{
    struct text name = symbols_text(symbols, op);
    return name.size == 0 || op_makes_input(symbols, op) || operator_makes_storage(name);
}

bool op_computes(const struct symbols *symbols, string_id op)
{
    static const char *const starts[] = {"aten::mm",           "aten::addmm",
                                         "aten::bmm",          "aten::baddbmm",
                                         "aten::addmv",        "aten::mv",
                                         "aten::convolution",  "aten::cudnn_convolution",
                                         "aten::_convolution", "aten::embedding",
                                         "aten::_embedding",   "aten::_cudnn_rnn",
                                         "aten::native_",      "aten::cudnn_batch_norm",
                                         "aten::_scaled_",     "aten::_flash_",
                                         "aten::_efficient_",  "aten::_softmax",
                                         "aten::_log_softmax"};
    return text_starts_with_one_of(symbols_text(symbols, op), starts,
                                   sizeof(starts) / sizeof(starts[0]));
}

static uint32_t run_end(const struct forward_search *search, size_t run)
{
    return phases_run_end(search->phases, run, search->timeline->trace->count);
}

/* The end of the backward pass. Optimizers may interrupt it, and plain code may do so for a few
 * events. More plain code may be a forward pass. */
static uint32_t backward_end(const struct forward_search *search)
{
    const struct phases *phases = search->phases;
    uint32_t end = run_end(search, search->pass);
    for (size_t i = search->pass + 1; i < phases->count && i - search->pass <= MOST_INTERRUPTIONS;
         i++) {
        bool is_short = run_end(search, i) - phases->runs[i].first <= FLICKER_EVENTS;
        bool is_plain = phases->runs[i].phase <= PHASE_OTHER;
        if (phases->runs[i].phase == PHASE_FORWARD || (is_plain && !is_short))
            break;
        if (phases->runs[i].phase == PHASE_BACKWARD)
            end = run_end(search, i);
    }
    return end;
}

/* The end of the next backward pass, by which variables hold the results of the next iteration;
 * EVENT_NEVER if there is none. */
static uint32_t next_pass_end(struct forward_search *search)
{
    const struct phases *phases = search->phases;
    if (search->kept_of == search->pass)
        return search->kept;
    uint32_t end = backward_end(search);
    search->kept_of = search->pass;
    search->kept = EVENT_NEVER;
    for (size_t i = search->pass + 1; i < phases->count && search->kept == EVENT_NEVER; i++)
        if (phases->runs[i].first >= end && phases->runs[i].phase == PHASE_BACKWARD)
            search->kept = run_end(search, i);
    return search->kept;
}

/* An allocation before the pass. */
struct made {
    uint32_t item, freed;
    stack_id stack;
    bool has_operator, computes, is_batch, is_workspace;
};

static bool look_at(const struct forward_search *search, size_t index, struct made *made,
                    struct error *err)
{
    const struct lifetime *lifetime = &search->timeline->lifetimes[index];
    const struct symbols *symbols = site_table_symbols(search->sites);
    made->item = lifetime->alloc;
    made->freed = lifetime_end(lifetime);
    made->stack = search->timeline->trace->stack[lifetime->alloc];
    const struct stack_facts *facts = site_stack_facts(search->sites, made->stack, err);
    if (!facts)
        return false;
    made->has_operator = facts->site.op != STRING_EMPTY;
    made->computes = op_computes(symbols, facts->site.op);
    made->is_batch = facts->context == CONTEXT_INIT || op_makes_input(symbols, facts->site.op);
    made->is_workspace = facts->is_workspace;
    return true;
}

bool forward_saved(const struct forward_search *search, uint32_t *item, struct error *err)
{
    const struct timeline *timeline = search->timeline;
    uint32_t pass = search->phases->runs[search->pass].first, pass_end = backward_end(search);
    *item = search->end;
    for (size_t i = births_from(timeline, search->first); i < timeline->lifetime_count; i++) {
        struct made made;
        uint32_t freed = lifetime_end(&timeline->lifetimes[i]);
        if (timeline->lifetimes[i].alloc >= search->end)
            break;
        if (freed < pass || freed >= pass_end)
            continue;
        if (!look_at(search, i, &made, err))
            return false;
        if (made.is_batch)
            continue;
        *item = made.item;
        break;
    }
    return true;
}

/* Notes the batch at the first allocation. */
static bool may_compute(struct forward_search *search, const struct made *made)
{
    if (made->has_operator)
        return made->computes;
    if (search->batch == search->end)
        search->batch = made->item;
    return made->stack != search->timeline->trace->stack[search->batch];
}

bool forward_certain(struct forward_search *search, uint32_t *item, struct error *err)
{
    const struct timeline *timeline = search->timeline;
    uint32_t pass = search->phases->runs[search->pass].first, pass_end = backward_end(search);
    uint32_t kept = next_pass_end(search), held = search->end, computed = search->end;
    *item = search->batch = search->end;
    for (size_t i = births_from(timeline, search->first); i < timeline->lifetime_count; i++) {
        struct made made;
        if (timeline->lifetimes[i].alloc >= search->end)
            break;
        if (!look_at(search, i, &made, err))
            return false;
        if (made.is_batch || made.is_workspace)
            continue;
        if (made.freed < pass) {
            if (made.computes && computed == search->end && held < search->end)
                computed = made.item;
            continue;
        }
        bool is_begun = made.stack != STACK_NONE && made.stack == search->begun;
        bool is_saved = made.freed < pass_end;
        bool is_weight = (search->is_initial || !made.has_operator) && made.freed >= kept;
        if (is_saved || is_begun || (!is_weight && may_compute(search, &made))) {
            *item = made.item;
            return true;
        }
        if (is_weight && search->is_initial)
            held = computed = search->batch = search->end;
        else if (!is_weight && held == search->end)
            held = made.item;
    }
    *item = computed < search->end ? computed : held;
    return true;
}

bool forward_extend(struct forward_search *search, uint32_t from, uint32_t *item, struct error *err)
{
    const struct timeline *timeline = search->timeline;
    uint32_t kept = next_pass_end(search), certain = *item;
    uint32_t batch = search->batch < certain ? search->batch : certain;
    for (size_t i = births_from(timeline, from); i < timeline->lifetime_count; i++) {
        struct made made;
        if (timeline->lifetimes[i].alloc >= certain)
            break;
        if (!look_at(search, i, &made, err))
            return false;
        bool computes = made.computes;
        if (!made.has_operator)
            computes = made.stack == search->begun ||
                       (made.item > batch && made.stack != timeline->trace->stack[batch]);
        if (computes && made.item < *item)
            *item = made.item;
        else if (search->is_initial && made.freed >= kept && !made.is_workspace)
            *item = certain;
    }
    return true;
}
