#include "analysis/chain/selective.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/chain/held.h"
#include "analysis/chain/operations.h"
#include "analysis/code/dispatched.h"
#include "analysis/phase/births.h"

struct collector {
    struct forward_chain *chain;
    const struct chain_measure *measure;
    const struct snapshot *snapshot;
    struct operations operations;
    uint32_t *last; /* by string: 1 + the index of the last of chain->operators with that name */
    size_t names;
    uint32_t element;
    struct error *err;
};

/* True for operators that draw random numbers. They must run again, or operators after them would
 * draw other numbers than in the forward pass. */
static bool is_random(struct text name)
{
    static const char *const parts[] = {
        "dropout", "bernoulli",  "multinomial", "normal_", "uniform", "exponential", "geometric",
        "poisson", "log_normal", "cauchy",      "rrelu",   "::rand",  "random"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (text_find(name, parts[i]))
            return true;
    return text_equals(name, "aten::normal");
}

/* True for operators that have an optional dropout. A trace does not tell whether they use it. */
static bool may_be_random(struct text name)
{
    static const char *const parts[] = {"attention", "scaled_dot_product", "_rnn"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (text_find(name, parts[i]))
            return true;
    return false;
}

/* True for an operator that has results. Unlike a Python function, an operator has a namespace. One
 * whose name ends in '_' changes an argument and has no result of its own. */
static bool is_operator(struct text name)
{
    return text_find(name, "::") && name.bytes[name.size - 1] != '_' &&
           !text_starts(name, "torch::autograd::");
}

/* The operator of a name in the present element; added if absent. NULL on failure, with *ok false,
 * and for names that are not operators with results, with *ok true. */
static struct chain_operator *operator_of(struct collector *collector, string_id name, bool *ok)
{
    struct forward_chain *chain = collector->chain;
    struct text text = symbols_text(collector->snapshot->symbols, name);
    *ok = true;
    if (name == STRING_EMPTY || name >= collector->names || !is_operator(text))
        return NULL;
    uint32_t last = collector->last[name];
    if (last > 0 && chain->operators[last - 1].element == collector->element)
        return &chain->operators[last - 1];
    struct chain_operator made = {
        .name = name, .element = collector->element, .must_run = is_random(text)};
    made.is_costly = operator_weight(text) > 1;
    *ok = vec_push(chain->operators, chain->operator_count, chain->operator_capacity, chain->budget,
                   collector->err, made);
    if (!*ok)
        return NULL;
    collector->last[name] = (uint32_t)chain->operator_count;
    return &chain->operators[chain->operator_count - 1];
}

/* Adds an allocation to its operator. Memory that is freed before another operator allocates is a
 * workspace and not a result. `next` is the next item that allocates with another stack. */
static bool add_lifetime(struct collector *collector, struct chain_operator *operation,
                         uint32_t lifetime, uint32_t next)
{
    const struct chain_measure *measure = collector->measure;
    struct forward_chain *chain = collector->chain;
    const struct lifetime *it = &measure->timeline->lifetimes[lifetime];
    int64_t size = (int64_t)trace_size(measure->timeline->trace, it->alloc);
    struct chain_result result = {it->alloc, (uint32_t)(operation - chain->operators), true};
    result.is_kept = pass_keeps(measure->pass, measure->timeline, measure->categories, lifetime);
    if (result.is_kept) {
        operation->kept_bytes += size;
        operation->held_bytes += chain_is_held(chain, it->alloc) ? size : 0;
    } else if (measure->categories->of_lifetime[lifetime] == CATEGORY_WORKSPACE ||
               lifetime_end(it) <= next)
        return true;
    else if (__builtin_add_overflow(operation->passing_bytes, size, &operation->passing_bytes))
        operation->passing_bytes = INT64_MAX;
    return vec_push(chain->results, chain->result_count, chain->result_capacity, chain->budget,
                    collector->err, result);
}

static bool add_lifetimes(struct collector *collector, uint32_t first, uint32_t end)
{
    const struct timeline *timeline = collector->measure->timeline;
    uint32_t other = first; /* the next lifetime of another stack */
    bool ok = true;
    for (uint32_t k = first; k < end && ok; k++) {
        uint32_t item = timeline->lifetimes[k].alloc;
        stack_id stack = timeline->trace->stack[item];
        other = other > k ? other : k + 1;
        while (other < timeline->lifetime_count &&
               timeline->trace->stack[timeline->lifetimes[other].alloc] == stack)
            other++;
        uint32_t next =
            other < timeline->lifetime_count ? timeline->lifetimes[other].alloc : EVENT_NEVER - 1;
        struct chain_operator *operation =
            operator_of(collector, operations_at(&collector->operations, k), &ok);
        ok = ok && (!operation || add_lifetime(collector, operation, k, next));
    }
    return ok;
}

/* The number of launches before an item. */
static size_t launch_at(const struct collector *collector, uint32_t item)
{
    int64_t time = trace_time(collector->measure->timeline->trace, item);
    return snapshot_launches_before(collector->snapshot, time);
}

static int64_t launch_time(const struct snapshot *snapshot, size_t launch)
{
    return snapshot->launches[launch].kernel_ns -
           (launch > 0 ? snapshot->launches[launch - 1].kernel_ns : 0);
}

/* Scales the times of an element's operators so that their sum matches the time of the element,
 * which may be the median of equal elements. */
static void scale_times(struct forward_chain *chain, size_t first, int64_t time, int64_t measured)
{
    for (size_t k = first; k < chain->operator_count && measured > 0; k++)
        chain->operators[k].forward_ns =
            (int64_t)((double)chain->operators[k].forward_ns * ((double)time / (double)measured));
}

static bool add_launches(struct collector *collector, size_t first, size_t end)
{
    bool ok = true;
    for (size_t k = first; k < end && ok; k++) {
        struct chain_operator *operation =
            operator_of(collector, collector->snapshot->launches[k].operation, &ok);
        if (operation)
            operation->forward_ns += launch_time(collector->snapshot, k);
    }
    return ok;
}

/* Sets the weights of an element and of its operators, which are those from `first` on. */
static void weigh(struct collector *collector, uint32_t element, size_t first)
{
    struct forward_chain *chain = collector->chain;
    const struct symbols *symbols = collector->snapshot->symbols;
    int64_t weight = chain->elements[element].activation_bytes;
    for (size_t k = first; k < chain->operator_count; k++) {
        struct chain_operator *it = &chain->operators[k];
        int64_t made = it->kept_bytes;
        it->weight = it->kept_bytes;
        if (it->is_costly && !__builtin_add_overflow(it->kept_bytes, it->passing_bytes, &made) &&
            !__builtin_mul_overflow(made, operator_weight(symbols_text(symbols, it->name)), &made))
            it->weight = made;
        if (__builtin_add_overflow(weight, it->weight - it->kept_bytes, &weight))
            weight = INT64_MAX;
    }
    chain->elements[element].weight = weight;
}

static bool collect_element(struct collector *collector, uint32_t i)
{
    struct forward_chain *chain = collector->chain;
    const struct chain_measure *measure = collector->measure;
    const struct call_run *runs = measure->tree->runs;
    const struct pass *pass = measure->pass;
    uint32_t last = pass->backward < pass->end ? pass->backward : pass->end - 1;
    size_t before = chain->operator_count;
    size_t first = launch_at(collector, chain->elements[i].first_item);
    size_t end =
        launch_at(collector, i + 1 < chain->count ? chain->elements[i + 1].first_item : last);
    collector->element = i;
    if (!add_lifetimes(collector, runs[measure->runs[i]].lifetime,
                       runs[measure->runs[i + 1]].lifetime))
        return false;
    if (!chain->kernels_timed) {
        weigh(collector, i, before);
        return true;
    }
    if (!add_launches(collector, first, end))
        return false;
    int64_t measured = 0;
    for (size_t k = first; k < end; k++)
        measured += launch_time(collector->snapshot, k);
    scale_times(chain, before, chain->elements[i].forward_ns, measured);
    return true;
}

/* Sets must_run of operators that may draw random numbers, unless they all have one name and no
 * other operator draws any. Only then can a checkpoint keep all their results. */
static void mark_random(const struct collector *collector)
{
    struct forward_chain *chain = collector->chain;
    const struct symbols *symbols = collector->snapshot->symbols;
    string_id only = STRING_EMPTY; /* the only name that may draw random numbers */
    bool others = false;
    for (size_t i = 0; i < chain->operator_count; i++) {
        struct chain_operator *it = &chain->operators[i];
        bool doubtful = may_be_random(symbols_text(symbols, it->name));
        others |= it->must_run || (doubtful && only != STRING_EMPTY && only != it->name);
        only = doubtful ? it->name : only;
    }
    for (size_t i = 0; i < chain->operator_count && others; i++)
        chain->operators[i].must_run |=
            may_be_random(symbols_text(symbols, chain->operators[i].name));
}

/* Renames "aten::addmm" to "aten.addmm", which is its name in Python. */
static bool rename_operators(struct collector *collector)
{
    struct symbols *symbols = collector->snapshot->symbols;
    struct forward_chain *chain = collector->chain;
    memset(collector->last, 0, collector->names * sizeof(*collector->last));
    for (size_t i = 0; i < chain->operator_count; i++) {
        string_id *name = &chain->operators[i].name;
        char dotted[256];
        if (collector->last[*name] == 0) {
            struct text text = text_first(symbols_text(symbols, *name), sizeof(dotted));
            size_t size = 0;
            for (size_t k = 0; k < text.size; k++) {
                bool is_pair =
                    text.bytes[k] == ':' && k + 1 < text.size && text.bytes[k + 1] == ':';
                dotted[size++] = is_pair ? '.' : text.bytes[k];
                k += is_pair;
            }
            string_id made;
            if (!symbols_string(symbols, dotted, size, &made, collector->err))
                return false;
            collector->last[*name] = made;
        }
        *name = collector->last[*name];
    }
    return true;
}

/* Collects the operators of all elements. Requires the operators of allocations. */
static bool collect(struct collector *collector)
{
    struct forward_chain *chain = collector->chain;
    collector->names = symbols_string_count(collector->snapshot->symbols);
    size_t bytes = collector->names * sizeof(*collector->last);
    if (!budget_take(chain->budget, bytes, collector->err))
        return false;
    collector->last = calloc(1, bytes);
    bool ok = collector->last || error_out_of_memory(collector->err);
    for (uint32_t i = 0; i < chain->count && ok; i++)
        ok = collect_element(collector, i);
    if (ok)
        mark_random(collector);
    ok = ok && rename_operators(collector);
    free(collector->last);
    budget_give(chain->budget, bytes);
    return ok;
}

bool chain_set_operators(struct forward_chain *chain, const struct chain_measure *measure,
                         struct error *err)
{
    struct collector collector = {
        .chain = chain, .measure = measure, .snapshot = measure->timeline->snapshot, .err = err};
    if (chain->count == 0)
        return true;
    if (!operations_find(&collector.operations, measure, measure->runs[chain->count], err))
        return false;
    bool ok = collect(&collector);
    operations_release(&collector.operations);
    for (size_t i = 0; i < chain->operator_count && ok; i++) {
        chain->operators_named = true;
        chain->weighed |= !chain->kernels_timed && chain->operators[i].is_costly;
    }
    return ok;
}
