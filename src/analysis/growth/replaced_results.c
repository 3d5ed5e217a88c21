#include "analysis/growth/replaced_results.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/growth/closed_passes.h"
#include "analysis/growth/kept_results.h"
#include "analysis/phase/births.h"
#include "base/text.h"

#define SIMILAR 2 /* largest ratio of two similar sizes */

/* A tensor that outlives the step that made it, or else the pass of that step. The program frees it
 * at item `end`. */
struct outliving {
    uint32_t end, lifetime, step;
    uint32_t closed; /* the item at which its pass ends, if it outlives the pass but not the step;
                        else 0 */
    bool in_evaluation; /* `closed` is the item at which the next pass of an evaluation begins */
};

struct finder {
    struct replaced_results *results;
    struct closed_passes passes;
    bool *is_replaced; /* by stack: a block that this code made was replaced */
    struct outliving *outliving;
    size_t stack_capacity, outliving_count, outliving_capacity;
    struct budget *budget;
};

static bool may_be_result(const struct finder *finder, size_t index)
{
    stack_id stack =
        finder->results->timeline->trace->stack[finder->results->timeline->lifetimes[index].alloc];
    if (stack == STACK_NONE ||
        (finder->results->is_dropped && finder->results->is_dropped[index]) ||
        (finder->results->is_retained && finder->results->is_retained[index]) ||
        result_windows_have(finder->results->windows, finder->results->timeline, index))
        return false;
    switch ((enum category)finder->results->categories->of_lifetime[index]) {
    case CATEGORY_ACTIVATION:
    case CATEGORY_INPUT:
    case CATEGORY_AUTOGRAD_DETAIL:
    case CATEGORY_TEMPORARY:
    case CATEGORY_UNKNOWN:
        return true;
    case CATEGORY_GRADIENT:
        return site_is_hook_copy(finder->results->sites, stack) ||
               (finder->results->gradients->is_held && finder->results->gradients->is_held[index]);
    default:
        return false;
    }
}

/* True if one result may replace the other in a variable: their sizes are equal or similar, such as
 * those of logits of a text that becomes longer. A concatenation does not count, because its result
 * contains the old one. */
static bool may_follow(const struct finder *finder, size_t old, size_t new)
{
    const struct trace *trace = finder->results->timeline->trace;
    const struct lifetime *lifetimes = finder->results->timeline->lifetimes;
    stack_id stack = trace->stack[lifetimes[new].alloc];
    uint64_t before = trace_size(trace, lifetimes[old].alloc),
             after = trace_size(trace, lifetimes[new].alloc);
    if (stack != trace->stack[lifetimes[old].alloc])
        return false;
    if (before == after)
        return true;
    struct error err; /* cannot fail, because the categories have looked the stack up */
    const struct stack_facts *facts = site_stack_facts(finder->results->sites, stack, &err);
    return facts && after / SIMILAR <= before && before / SIMILAR <= after &&
           facts->site.op != STRING_EMPTY &&
           !text_equals(symbols_text(site_table_symbols(finder->results->sites), facts->site.op),
                        "aten::cat");
}

/* The first item after `item` that allocates; EVENT_NEVER if none does. */
static uint32_t next_birth(const struct finder *finder, uint32_t item)
{
    size_t next = births_from(finder->results->timeline, item);
    return next < finder->results->timeline->lifetime_count
               ? finder->results->timeline->lifetimes[next].alloc
               : EVENT_NEVER;
}

/* True if the code that made a block made another one right before the item `end`, at which the
 * block is freed. If the new block is freed with the old one, nothing was replaced: both were
 * results that a list or a function kept up to then. */
static bool is_set_again(const struct finder *finder, size_t index, uint32_t end)
{
    const struct lifetime *lifetimes = finder->results->timeline->lifetimes;
    uint32_t next = next_birth(finder, end);
    size_t until = births_from(finder->results->timeline, end);
    for (size_t i = until > RESULT_REPLACED ? until - RESULT_REPLACED : 0; i < until; i++)
        if (i > index && may_follow(finder, index, i) &&
            lifetime_end(&lifetimes[i]) > (next == EVENT_NEVER ? end : next))
            return true;
    return false;
}

/* The item at which the forward pass of a training step begins, if an evaluation before it made a
 * tensor, and the step after it is over before the tensor is freed; else 0. Such an evaluation lies
 * in the step that follows it. */
static uint32_t training_after_evaluation(const struct finder *finder, size_t index, size_t step)
{
    const struct lifetime *lifetime = &finder->results->timeline->lifetimes[index];
    const struct step *steps = finder->results->steps->items;
    const struct phases *phases = finder->results->phases;
    bool evaluates = false;
    if (step + 1 >= finder->results->steps->count || lifetime_end(lifetime) <= steps[step + 1].last)
        return 0;
    for (size_t i = phases_run_of(phases, steps[step].first);
         i < phases->count && phases->runs[i].first <= steps[step].last; i++) {
        const struct phase_run *run = &phases->runs[i];
        bool is_trained =
            run->is_saved || (i + 1 < phases->count && run[1].phase == PHASE_BACKWARD);
        if (run->phase == PHASE_FORWARD && is_trained)
            return evaluates && run->first > lifetime->alloc ? run->first : 0;
        evaluates |= run->phase == PHASE_FORWARD && run->first <= lifetime->alloc;
    }
    return 0;
}

/* The item at which the iteration after the one that made a tensor begins. Steps of inference begin
 * right after a forward pass, and what is computed there belongs to that pass, except for the input
 * of the next one. */
static uint32_t next_iteration(const struct finder *finder, size_t index, size_t step)
{
    uint32_t alloc = finder->results->timeline->lifetimes[index].alloc;
    uint32_t last = finder->results->steps->items[step].last;
    const struct phases *phases = finder->results->phases;
    uint32_t training = training_after_evaluation(finder, index, step);
    if (finder->results->categories->of_lifetime[index] == CATEGORY_INPUT)
        return last + 1;
    if (finder->results->steps->source != STEPS_FORWARD)
        return training > 0 ? training : last + 1;
    for (size_t i = phases_run_of(phases, finder->results->steps->items[step].first);
         i < phases->count && phases->runs[i].first <= last; i++)
        if (phases->runs[i].phase == PHASE_FORWARD)
            return phases->runs[i].first > alloc ? phases->runs[i].first : last + 1;
    return last + 1;
}

static bool add(struct finder *finder, const struct outliving *outliving, uint32_t to,
                struct error *err)
{
    struct held_result held = {
        .from = outliving->closed, .to = to, .lifetime = outliving->lifetime};
    held.in_step = held.from > 0;
    held.in_evaluation = outliving->in_evaluation;
    if (!held.in_step)
        held.from = next_iteration(finder, held.lifetime, outliving->step);
    return vec_push(finder->results->held, finder->results->count, finder->results->capacity,
                    finder->budget, err, held);
}

/* Sets the pass that a tensor outlives within its step. False if there is none. */
static bool set_pass(const struct finder *finder, struct outliving *outliving)
{
    outliving->closed = closed_passes_end(&finder->passes, outliving->lifetime);
    if (outliving->closed == 0 && finder->results->steps->source != STEPS_FORWARD) {
        outliving->closed = closed_passes_evaluation(&finder->passes, outliving->lifetime);
        outliving->in_evaluation = outliving->closed > 0;
    }
    return outliving->closed > 0;
}

static bool collect_outliving(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->results->timeline;
    const struct step *steps = finder->results->steps->items;
    size_t step = 0; /* the first that ends with the allocation or after it */
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t alloc = timeline->lifetimes[i].alloc, end = lifetime_end(&timeline->lifetimes[i]);
        while (step < finder->results->steps->count && steps[step].last < alloc)
            step++;
        if (step == finder->results->steps->count)
            break;
        if (end == EVENT_NEVER || steps[step].first > alloc || !may_be_result(finder, i))
            continue;
        struct outliving outliving = {.end = end, .lifetime = (uint32_t)i, .step = (uint32_t)step};
        if (end <= steps[step].last && !set_pass(finder, &outliving))
            continue;
        if (!vec_push(finder->outliving, finder->outliving_count, finder->outliving_capacity,
                      finder->budget, err, outliving))
            return false;
    }
    return true;
}

static int compare_ends(const void *a, const void *b)
{
    const struct outliving *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->lifetime > y->lifetime) - (x->lifetime < y->lifetime);
}

/* True if nothing is allocated between two frees. */
static bool in_one_burst(const struct trace *trace, uint32_t from, uint32_t to)
{
    for (uint32_t item = from; item < to; item++)
        if (trace->action[item] == ACTION_ALLOC)
            return false;
    return true;
}

/* Adds tensors of one step, or one pass, that are freed together, if one of them was replaced.
 * Those made before the replaced one are in its graph or are parts of it. Those made after the last
 * replaced one are not: they are variables of a function that returns the new value. */
static bool add_burst(struct finder *finder, const struct outliving *items, size_t count,
                      struct error *err)
{
    const struct timeline *timeline = finder->results->timeline;
    uint32_t last_set = 0;
    bool any_set = false;
    for (size_t i = 0; i < count; i++) {
        if ((any_set && items[i].lifetime < last_set) ||
            !is_set_again(finder, items[i].lifetime, items[i].end))
            continue;
        last_set = items[i].lifetime;
        any_set = true;
    }
    for (size_t i = 0; any_set && i < count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[items[i].lifetime];
        if (items[i].lifetime > last_set)
            continue;
        finder->is_replaced[timeline->trace->stack[lifetime->alloc]] = true;
        if (!add(finder, &items[i], lifetime->free_completed, err))
            return false;
    }
    return true;
}

static bool find_replaced(struct finder *finder, struct error *err)
{
    if (!collect_outliving(finder, err))
        return false;
    const struct outliving *items = finder->outliving;
    if (finder->outliving_count > 1)
        qsort(finder->outliving, finder->outliving_count, sizeof(*items), compare_ends);
    for (size_t i = 0, next; i < finder->outliving_count; i = next) {
        for (next = i + 1; next < finder->outliving_count; next++)
            if (items[next].step != items[i].step || items[next].closed != items[i].closed ||
                !in_one_burst(finder->results->timeline->trace, items[next - 1].end,
                              items[next].end))
                break;
        if (!add_burst(finder, &items[i], next - i, err))
            return false;
    }
    return true;
}

/* True if a block of the same code takes the place of another in a variable. */
static bool takes_place(const struct finder *finder, size_t old, size_t new)
{
    const struct timeline *timeline = finder->results->timeline;
    uint32_t end = lifetime_end(&timeline->lifetimes[old]);
    return end != EVENT_NEVER && end > timeline->lifetimes[new].alloc &&
           lifetime_end(&timeline->lifetimes[new]) > end &&
           births_from(timeline, end) - new <= RESULT_REPLACED &&may_follow(finder, old, new);
}

/* Marks the code whose blocks from lifetime `first` on are replaced within their step, as in the
 * loop of an evaluation. The last of them stays in its variable. */
static bool mark_replaced(struct finder *finder, size_t first, struct error *err)
{
    const struct timeline *timeline = finder->results->timeline;
    size_t *latest = NULL, capacity = 0; /* by stack: 1 + the lifetime; 0: none yet */
    size_t stacks = symbols_stack_count(timeline->snapshot->symbols);
    if (!vec_reserve(latest, capacity, stacks, finder->budget, err))
        return false;
    memset(latest, 0, stacks * sizeof(*latest));
    for (size_t i = first; i < timeline->lifetime_count; i++) {
        stack_id stack = timeline->trace->stack[timeline->lifetimes[i].alloc];
        if (!may_be_result(finder, i))
            continue;
        finder->is_replaced[stack] |=
            latest[stack] > 0 && takes_place(finder, latest[stack] - 1, i);
        latest[stack] = i + 1;
    }
    vec_free(latest, capacity, sizeof(*latest), finder->budget);
    return true;
}

/* Adds those of the last complete step, if the trace ends after it, as when memory runs out, and
 * those of the step in which it ends, if that has begun another pass. */
static bool find_last(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->results->timeline;
    const struct steps *steps = finder->results->steps;
    size_t step = steps->count - 2, first = births_from(timeline, steps->items[step].first);
    if (!mark_replaced(finder, first, err))
        return false;
    for (size_t i = first; i < timeline->lifetime_count; i++) {
        uint32_t alloc = timeline->lifetimes[i].alloc;
        if (alloc > steps->items[step].last)
            step = steps->count - 1;
        struct outliving outliving = {.lifetime = (uint32_t)i, .step = (uint32_t)step};
        if (lifetime_end(&timeline->lifetimes[i]) == EVENT_NEVER && may_be_result(finder, i) &&
            finder->is_replaced[timeline->trace->stack[alloc]] &&
            (step + 1 < steps->count ||
             (outliving.closed = closed_passes_end(&finder->passes, i)) > 0) &&
            !add(finder, &outliving, EVENT_NEVER, err))
            return false;
    }
    return true;
}

bool replaced_results_find(struct replaced_results *results, struct error *err)
{
    const struct timeline *timeline = results->timeline;
    struct finder finder = {.results = results, .budget = timeline->snapshot->budget};
    size_t stacks = symbols_stack_count(timeline->snapshot->symbols);
    bool ok = vec_reserve(finder.is_replaced, finder.stack_capacity, stacks, finder.budget, err);
    if (ok)
        memset(finder.is_replaced, 0, stacks * sizeof(*finder.is_replaced));
    ok = ok && closed_passes_find(&finder.passes, timeline, results->phases, err) &&
         find_replaced(&finder, err) && find_last(&finder, err);
    closed_passes_release(&finder.passes);
    vec_free(finder.is_replaced, finder.stack_capacity, sizeof(*finder.is_replaced), finder.budget);
    vec_free(finder.outliving, finder.outliving_capacity, sizeof(*finder.outliving), finder.budget);
    return ok;
}

void replaced_results_release(struct replaced_results *results)
{
    vec_free(results->held, results->capacity, sizeof(*results->held),
             results->timeline->snapshot->budget);
}
