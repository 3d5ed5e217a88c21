#include "analysis/findings/weight_copies.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/live/sums.h"
#include "base/bisect.h"
#include "base/budget.h"
#include "base/text.h"
#include "model/peak_without.h"

#define MADE_AGAIN UINT32_MAX

#define MOST 8 / 10 /* part of the model's parameters that must have a copy */

struct weight {
    uint64_t size;
    uint32_t lifetime;
    bool is_copy;
};

struct finder {
    const struct live_set *set;
    const struct phases *phases;
    enum weight_origin origin;
    uint32_t *made;         /* by stack: MADE_AGAIN, or the pass that made module copies + 1 */
    bool loads_states;      /* the optimizer has the states that were read from a file */
    struct weight *weights; /* by size; copies first */
    size_t count, capacity;
    struct absence *absences;
    size_t absent, absences_capacity;
    uint64_t own_bytes, matched_bytes; /* own_bytes: of parameters that are no copies;
                                          matched_bytes: of those that are in pairs */
    stack_id *stacks;                  /* stacks that made these copies, later sorted */
    size_t stack_count, stacks_capacity, made_capacity;
    struct budget *budget;
};

/* True for a clone that the program makes between its steps, if no other kind of memory explains
 * it. */
static bool is_clone(const struct finder *finder, const struct live *live,
                     const struct stack_facts *facts)
{
    struct text op = symbols_text(site_table_symbols(finder->set->sites), facts->site.op);
    switch (live_category(finder->set, live)) {
    case CATEGORY_PARAMETER:
    case CATEGORY_ACTIVATION:
    case CATEGORY_INPUT:
    case CATEGORY_UNKNOWN:
        return text_equals(op, "aten::clone") &&
               live_phase(finder->set, finder->phases, live) <= PHASE_OTHER;
    default:
        return false;
    }
}

/* optimizer.load_state_dict() keeps the tensors that it gets if they have the dtype and the device
 * of the parameters. Then the optimizer makes no states of its own. If states were all that was
 * read, they are rather the weights, of the same sizes. */
static bool find_loaded_states(struct finder *finder, struct error *err)
{
    const struct live_set *set = finder->set;
    uint64_t states = 0, others = 0, own = 0; /* read from a file: states, others */
    for (size_t i = 0; i < set->count; i++) {
        const struct live *live = &set->items[i];
        bool is_state = live_category(set, live) == CATEGORY_OPTIMIZER_STATE;
        const struct stack_facts *facts = site_stack_facts(set->sites, live->stack, err);
        if (!facts)
            return false;
        if (facts->is_loaded)
            *(is_state ? &states : &others) += live->size;
        else if (is_state)
            own += live->size;
    }
    finder->loads_states = states > own && others > 0;
    return true;
}

static bool is_state_in_use(const struct finder *finder, const struct live *live)
{
    return finder->origin == WEIGHTS_LOADED && finder->loads_states &&
           live_category(finder->set, live) == CATEGORY_OPTIMIZER_STATE;
}

static uint32_t pass_of(const struct finder *finder, size_t lifetime)
{
    return finder->phases->runs[finder->phases->of_lifetime[lifetime].birth].pass;
}

/* Finds the code that copies modules again after a backward pass. */
static bool find_made_again(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->set->timeline;
    size_t stacks = symbols_stack_count(site_table_symbols(finder->set->sites)) + 1;
    if (!vec_reserve(finder->made, finder->made_capacity, stacks, finder->budget, err))
        return false;
    memset(finder->made, 0, stacks * sizeof(*finder->made));
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        stack_id stack = timeline->trace->stack[timeline->lifetimes[i].alloc];
        const struct stack_facts *facts = site_stack_facts(finder->set->sites, stack, err);
        if (!facts)
            return false;
        if (!facts->is_deep_copy)
            continue;
        uint32_t pass = pass_of(finder, i) + 1, *made = &finder->made[stack];
        *made = *made == 0 || *made == pass ? pass : MADE_AGAIN;
    }
    return true;
}

static bool is_copy(const struct finder *finder, const struct live *live,
                    const struct stack_facts *facts)
{
    if (finder->origin == WEIGHTS_LOADED)
        return facts->is_loaded && !is_state_in_use(finder, live);
    if (facts->is_deep_copy)
        return finder->made[live->stack] == MADE_AGAIN;
    return facts->copies_tensor || is_clone(finder, live, facts);
}

static bool add(struct finder *finder, const struct live *live, struct error *err)
{
    const struct stack_facts *facts = site_stack_facts(finder->set->sites, live->stack, err);
    if (!facts)
        return false;
    bool copy = live->in_trace && is_copy(finder, live, facts);
    bool is_own = live_category(finder->set, live) == CATEGORY_PARAMETER && !facts->is_deep_copy;
    if (!copy && !is_own)
        return true;
    return vec_push(finder->weights, finder->count, finder->capacity, finder->budget, err,
                    (struct weight){live->size, live->index, copy});
}

static int compare_weights(const void *a, const void *b)
{
    const struct weight *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (x->is_copy != y->is_copy)
        return x->is_copy ? -1 : 1;
    return (x->lifetime > y->lifetime) - (x->lifetime < y->lifetime);
}

static bool collect(struct finder *finder, struct error *err)
{
    const struct live_set *set = finder->set;
    for (size_t i = 0; i < set->count; i++) {
        const struct live *live = &set->items[i];
        bool counts = live->in_trace ? live->stack != STACK_NONE
                                     : live_category(set, live) == CATEGORY_PARAMETER;
        if (counts && !add(finder, live, err))
            return false;
    }
    if (finder->count > 0)
        qsort(finder->weights, finder->count, sizeof(*finder->weights), compare_weights);
    return true;
}

/* Pairs the parameters of one size, weights [from, to), with copies. */
static bool pair(struct finder *finder, size_t from, size_t to, struct error *err)
{
    const struct timeline *timeline = finder->set->timeline;
    uint64_t size = finder->weights[from].size;
    size_t own = from;
    while (own < to && finder->weights[own].is_copy)
        own++;
    size_t pairs = own - from < to - own ? own - from : to - own;
    finder->own_bytes += (to - own) * size;
    finder->matched_bytes += pairs * size;
    if (own == to)
        return true;
    for (size_t i = from; i < own; i++) {
        uint32_t alloc = timeline->lifetimes[finder->weights[i].lifetime].alloc;
        if (!vec_push(finder->stacks, finder->stack_count, finder->stacks_capacity, finder->budget,
                      err, timeline->trace->stack[alloc]))
            return false;
    }
    return true;
}

static bool pair_all(struct finder *finder, struct error *err)
{
    for (size_t from = 0, to; from < finder->count; from = to) {
        for (to = from; to < finder->count; to++)
            if (finder->weights[to].size != finder->weights[from].size)
                break;
        if (!pair(finder, from, to, err))
            return false;
    }
    return true;
}

/* Requires sorted `stacks`. */
static bool is_of_copies(const struct finder *finder, stack_id stack)
{
    return bsearch(&stack, finder->stacks, finder->stack_count, sizeof(stack), compare_32) != NULL;
}

/* Sums what the code that made the copies has live at the peak, and finds the stack that made most
 * of it. */
static bool sum_live(const struct finder *finder, struct weight_copies *copies, struct error *err)
{
    int64_t *bytes = NULL; /* by the first place of a stack in `stacks` */
    size_t capacity = 0, most = 0;
    if (!vec_reserve(bytes, capacity, finder->stack_count, finder->budget, err))
        return false;
    memset(bytes, 0, finder->stack_count * sizeof(*bytes));
    for (size_t i = 0; i < finder->set->count; i++) {
        const struct live *live = &finder->set->items[i];
        if (!live->in_trace || !is_of_copies(finder, live->stack) || is_state_in_use(finder, live))
            continue;
        size_t at =
            bisect_less(finder->stacks, sizeof(*finder->stacks), finder->stack_count, live->stack);
        bytes[at] += (int64_t)live->size;
        copies->bytes += (int64_t)live->size;
        most = bytes[at] > bytes[most] ? at : most;
    }
    copies->stack = finder->stacks[most];
    vec_free(bytes, capacity, sizeof(*bytes), finder->budget);
    return true;
}

/* Sets what tells whether the program may need the copies on the device. */
static void judge_use(const struct finder *finder, struct weight_copies *copies)
{
    const struct timeline *timeline = finder->set->timeline;
    struct error err; /* cannot fail: the stacks were looked up before */
    copies->may_be_used = true;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        stack_id stack = timeline->trace->stack[timeline->lifetimes[i].alloc];
        if (!is_of_copies(finder, stack))
            continue;
        const struct stack_facts *facts = site_stack_facts(finder->set->sites, stack, &err);
        copies->of_module |= facts && facts->is_deep_copy;
        copies->may_be_used &= pass_of(finder, i) == 0;
    }
    copies->may_be_used |= copies->of_module;
}

/* True if copy.deepcopy() made one of the copies within the dictionaries of an optimizer. */
static bool are_of_states(const struct finder *finder)
{
    struct error err; /* cannot fail: the stacks were looked up before */
    for (size_t i = 0; i < finder->stack_count; i++) {
        const struct stack_facts *facts =
            site_stack_facts(finder->set->sites, finder->stacks[i], &err);
        if (facts && facts->copied_in == COPIED_IN_DICTS)
            return true;
    }
    return false;
}

/* Lists everything that the code that made the copies allocated in the trace. Otherwise the copies
 * of another moment would make the next peak. */
static bool list_absences(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->set->timeline;
    qsort(finder->stacks, finder->stack_count, sizeof(*finder->stacks), compare_32);
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        struct live live = live_of_lifetime(timeline, i);
        if (is_of_copies(finder, live.stack) && !is_state_in_use(finder, &live) &&
            !vec_push(finder->absences, finder->absent, finder->absences_capacity, finder->budget,
                      err, absence_of_lifetime(timeline, i)))
            return false;
    }
    return true;
}

bool weight_copies_find(struct weight_copies *copies, const struct live_set *set,
                        const struct phases *phases, enum weight_origin origin, struct error *err)
{
    struct finder finder = {
        .set = set, .phases = phases, .origin = origin, .budget = set->timeline->snapshot->budget};
    int64_t peak;
    *copies = (struct weight_copies){0};
    bool ok = find_loaded_states(&finder, err) && find_made_again(&finder, err) &&
              collect(&finder, err) && pair_all(&finder, err);
    if (ok && finder.stack_count > 0 && finder.matched_bytes >= finder.own_bytes * MOST) {
        ok = list_absences(&finder, err) &&
             timeline_peak_without(set->timeline, finder.absences, finder.absent, &peak, err) &&
             sum_live(&finder, copies, err);
        if (ok) {
            copies->save_bytes = set->timeline->active.peak_bytes - peak;
            copies->of_states = are_of_states(&finder);
            judge_use(&finder, copies);
        }
        copies->has_more = copies->bytes / 2 > (int64_t)finder.own_bytes * MOST;
    }
    vec_free(finder.weights, finder.capacity, sizeof(*finder.weights), finder.budget);
    vec_free(finder.stacks, finder.stacks_capacity, sizeof(*finder.stacks), finder.budget);
    vec_free(finder.made, finder.made_capacity, sizeof(*finder.made), finder.budget);
    vec_free(finder.absences, finder.absences_capacity, sizeof(*finder.absences), finder.budget);
    return ok;
}
