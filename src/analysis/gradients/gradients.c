#include "analysis/gradients/gradients.h"

#include <stdlib.h>

#include "analysis/gradients/gradient_saving.h"
#include "analysis/gradients/held_gradients.h"
#include "analysis/phase/births.h"
#include "base/bisect.h"

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct phases *phases;
    const struct categories *categories;
    struct cycles *cycles;
    const struct idle_gradients *idle;
    const struct held_gradients *held;
    bool zeroes;     /* zero_grad() frees gradients before the next forward pass */
    uint64_t *sizes; /* of parameters, and of gradients that zero_grad() frees; ascending */
    size_t size_count, sizes_capacity;
    struct stale_gradient *gradients; /* those that are stale in at least one cycle */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

static bool add_size(struct finder *finder, uint64_t size, struct error *err)
{
    return vec_push(finder->sizes, finder->size_count, finder->sizes_capacity, finder->budget, err,
                    size);
}

static bool is_updated(uint8_t category)
{
    return category == CATEGORY_PARAMETER || category == CATEGORY_OPTIMIZER_STATE;
}

static bool freed_in(const struct finder *finder, uint32_t item, enum context *context,
                     struct error *err)
{
    return gradient_freed_in(finder->timeline, finder->sites, item, context, err);
}

/* Collects the sizes of allocations that are or may be parameters, or copies of parameters that the
 * optimizer updates, and the sizes of what zero_grad() frees: torch.nn.DataParallel adds up several
 * gradients in one buffer. */
static bool collect_sizes(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if ((timeline->preexisting[i].free_completed == EVENT_NEVER
                 ? finder->categories->of_preexisting[i] != CATEGORY_GRADIENT
                 : is_updated(finder->categories->of_preexisting[i])) &&
            !add_size(finder, timeline->preexisting[i].size, err))
            return false;
    for (size_t n = 0; n < finder->phases->outliving_count; n++) {
        size_t i = finder->phases->outliving[n];
        enum context context = CONTEXT_NONE;
        if (finder->categories->of_lifetime[i] == CATEGORY_GRADIENT &&
            !freed_in(finder, lifetime_end(&timeline->lifetimes[i]), &context, err))
            return false;
        bool is_size =
            is_updated(finder->categories->of_lifetime[i]) || context == CONTEXT_ZERO_GRAD;
        if (is_size &&
            !add_size(finder, trace_size(timeline->trace, timeline->lifetimes[i].alloc), err))
            return false;
    }
    if (finder->size_count > 0)
        qsort(finder->sizes, finder->size_count, sizeof(*finder->sizes), compare_64);
    return true;
}

static bool is_gradient_size(const struct finder *finder, uint64_t size)
{
    return finder->size_count > 0 &&
           bsearch(&size, finder->sizes, finder->size_count, sizeof(*finder->sizes), compare_64);
}

static bool add_gradient(struct finder *finder, struct stale_gradient gradient, struct error *err)
{
    const struct cycles *cycles = finder->cycles;
    size_t from = gradient.preexisting ? 0 : cycles_from(cycles, gradient.born);
    size_t to = cycles_until(cycles, gradient.freed);
    /* If no optimizer step was seen, only zero_grad() before the backward pass proves that the
     * gradient was stale. */
    if (from < cycles->count && cycles->items[from].first &&
        (!gradient.preexisting || gradient.freed > cycles->items[from].backward))
        from++;
    /* Only gradients have such a size. Workspaces, and results of torch.autograd.grad() that the
     * program keeps, are not freed by zero_grad(). */
    if (from >= to || !is_gradient_size(finder, gradient.size))
        return true;
    if (!vec_grow((void **)&finder->gradients, &finder->capacity, finder->count + 1,
                  sizeof(gradient), finder->budget, err))
        return false;
    gradient.from = (uint32_t)from;
    gradient.to = (uint32_t)to;
    finder->gradients[finder->count++] = gradient;
    return true;
}

static bool find_zero_grad(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    for (size_t n = 0; !finder->zeroes && n < finder->phases->outliving_count; n++) {
        size_t i = finder->phases->outliving[n];
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        enum context context;
        if (finder->categories->of_lifetime[i] != CATEGORY_GRADIENT ||
            cycles_from(finder->cycles, lifetime->alloc) <
                cycles_until(finder->cycles, lifetime->free_completed))
            continue;
        if (!freed_in(finder, lifetime_end(lifetime), &context, err))
            return false;
        finder->zeroes = context == CONTEXT_ZERO_GRAD;
    }
    return true;
}

/* Sets *others if zero_grad() frees a gradient between a backward pass and the next forward pass.
 */
static bool find_other_calls(const struct finder *finder, bool *others, struct error *err)
{
    const struct cycles *cycles = finder->cycles;
    const struct timeline *timeline = finder->timeline;
    for (size_t n = 0; !*others && n < finder->phases->outliving_count; n++) {
        size_t i = finder->phases->outliving[n];
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        enum context context;
        if (finder->categories->of_lifetime[i] != CATEGORY_GRADIENT)
            continue;
        size_t begun = cycles_until(cycles, end);
        if (begun > 0 && end < cycles->items[begun - 1].end)
            continue;
        if (!freed_in(finder, end, &context, err))
            return false;
        *others = context == CONTEXT_ZERO_GRAD;
    }
    return true;
}

/* Sets *is_of for the gradient of an input that requires one. It is freed together with the input,
 * while zero_grad() frees the gradients of weights in time. */
static bool is_of_input(const struct finder *finder, uint32_t end, bool *is_of, struct error *err)
{
    enum context context = CONTEXT_NONE;
    *is_of = false;
    if (finder->zeroes && !freed_in(finder, end, &context, err))
        return false;
    *is_of = context == CONTEXT_OTHER || context == CONTEXT_FORWARD || context == CONTEXT_DATA;
    return true;
}

/* A backward pass with retain_graph=True looks like autograd.grad(create_graph=True). True for a
 * gradient that such a pass made in the first step, if it lives through two more steps: backward()
 * then adds to it as .grad of a parameter. A result of autograd.grad() is in a variable, to which
 * the next step assigns another tensor. */
static bool is_summed_up(const struct finder *finder, const struct lifetime *lifetime)
{
    size_t from = cycles_from(finder->cycles, lifetime->alloc);
    return from <= 1 && cycles_until(finder->cycles, lifetime->free_completed) >= from + 2;
}

static bool collect_gradients(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        struct stale_gradient gradient = {
            .preexisting = true, .freed = preexisting->free_completed, .size = preexisting->size};
        bool is_idle = finder->idle->of_preexisting && finder->idle->of_preexisting[i], of_input;
        if (finder->categories->of_preexisting[i] != CATEGORY_GRADIENT || !preexisting->in_active ||
            is_idle)
            continue;
        if (!is_of_input(finder, preexisting_end(preexisting), &of_input, err) ||
            (!of_input && !add_gradient(finder, gradient, err)))
            return false;
    }
    for (size_t n = 0; n < finder->phases->outliving_count; n++) {
        size_t i = finder->phases->outliving[n];
        if (finder->categories->of_lifetime[i] != CATEGORY_GRADIENT)
            continue;
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint32_t run = finder->phases->of_lifetime[i].birth;
        bool is_idle = finder->idle->of_lifetime && finder->idle->of_lifetime[i];
        bool is_held = finder->held->is_held && finder->held->is_held[i];
        if (is_idle || is_held ||
            (finder->phases->runs[run].is_recorded && !is_summed_up(finder, lifetime)))
            continue;
        const struct stack_facts *facts =
            site_stack_facts(finder->sites, timeline->trace->stack[lifetime->alloc], err);
        if (!facts)
            return false;
        if (facts->by_hook)
            continue;
        bool of_input;
        if (!is_of_input(finder, lifetime_end(lifetime), &of_input, err))
            return false;
        if (of_input)
            continue;
        struct stale_gradient gradient = {.born = lifetime->alloc,
                                          .freed = lifetime->free_completed,
                                          .size = trace_size(timeline->trace, lifetime->alloc)};
        if (!add_gradient(finder, gradient, err))
            return false;
    }
    return true;
}

/* Sums the stale gradients of each cycle. Intermediate sums may wrap modulo 2^64. */
static void count_stale(struct finder *finder)
{
    struct cycles *cycles = finder->cycles;
    for (size_t i = 0; i < finder->count; i++) {
        const struct stale_gradient *gradient = &finder->gradients[i];
        cycles->items[gradient->from].bytes += gradient->size;
        cycles->items[gradient->from].count++;
        if (gradient->to == cycles->count)
            continue;
        cycles->items[gradient->to].bytes -= gradient->size;
        cycles->items[gradient->to].count--;
    }
    for (size_t i = 1; i < cycles->count; i++) {
        cycles->items[i].bytes += cycles->items[i - 1].bytes;
        cycles->items[i].count += cycles->items[i - 1].count;
    }
}

static bool sum_up(const struct finder *finder, struct stale_gradients *stale, struct error *err)
{
    const struct cycles *cycles = finder->cycles;
    for (size_t i = 0; i < cycles->count; i++) {
        const struct cycle *cycle = &cycles->items[i];
        int64_t bytes = cycle->bytes > INT64_MAX ? INT64_MAX : (int64_t)cycle->bytes;
        stale->passes += cycle->count > 0;
        if (cycle->count == 0 || bytes <= stale->bytes)
            continue;
        stale->bytes = bytes;
        stale->count = cycle->count;
    }
    bool any_freed = false;
    for (size_t i = 0; i < finder->count; i++) {
        const struct stale_gradient *gradient = &finder->gradients[i];
        stale->stay = stale->stay || gradient->freed > cycles->items[gradient->to - 1].end;
        any_freed = any_freed || gradient->freed < cycles->items[cycles->count - 1].end;
    }
    stale->stay = stale->stay && !any_freed;
    if (stale->count == 0)
        return true;
    const struct gradient_saving saving = {finder->timeline, finder->sites,     finder->phases,
                                           cycles,           finder->gradients, finder->count};
    return gradient_saving_measure(&saving, &stale->save_bytes, err);
}

bool stale_gradients_find(struct stale_gradients *stale, const struct timeline *timeline,
                          struct site_table *sites, const struct phases *phases,
                          const struct categories *categories, struct cycles *cycles,
                          const struct idle_gradients *idle, const struct held_gradients *held,
                          struct error *err)
{
    struct stale_gradients made = {0};
    struct finder finder = {.timeline = timeline,
                            .sites = sites,
                            .phases = phases,
                            .categories = categories,
                            .cycles = cycles,
                            .idle = idle,
                            .held = held,
                            .budget = timeline->snapshot->budget};
    *stale = made;
    if (cycles->count == 0)
        return true;
    bool ok = collect_sizes(&finder, err) && find_zero_grad(&finder, err) &&
              collect_gradients(&finder, err);
    if (ok) {
        count_stale(&finder);
        ok = sum_up(&finder, &made, err) &&
             (made.count == 0 || find_other_calls(&finder, &made.other_calls, err));
    }
    vec_free(finder.sizes, finder.sizes_capacity, sizeof(*finder.sizes), finder.budget);
    vec_free(finder.gradients, finder.capacity, sizeof(*finder.gradients), finder.budget);
    if (ok)
        *stale = made;
    return ok;
}
