#include "analysis/gradients/gradient_saving.h"

#include <stdlib.h>

#include "analysis/gradients/pass_births.h"
#include "analysis/phase/births.h"
#include "model/curve_cursor.h"

/* The allocations of a cycle's first backward pass, those that its backward passes may add to
 * gradients, and those of the pass that made the gradients. */
struct repeated {
    struct pass_births now, summands, earlier;
    size_t run; /* index in `earlier`; SIZE_MAX if none yet */
};

/* The item at which the earlier backward pass had made the gradient, as far into the later pass. */
static uint32_t as_late(const struct gradient_saving *saving, uint32_t born, size_t run,
                        const struct cycle *now)
{
    uint32_t begin = saving->phases->runs[run].first;
    uint32_t end = phases_run_end(saving->phases, run, saving->timeline->trace->count);
    uint64_t later = (uint64_t)(born - begin) * (now->pass_end - now->backward);
    return now->backward + (uint32_t)(later / (end - begin));
}

/* Sets *may_be if AccumulateGrad may have added a tensor to a gradient. C++ frames show whether
 * AccumulateGrad freed it. */
static bool may_be_summand(const struct gradient_saving *saving, size_t index, bool *may_be,
                           struct error *err)
{
    const struct lifetime *lifetime = &saving->timeline->lifetimes[index];
    const struct phase_run *run = &saving->phases->runs[saving->phases->of_lifetime[index].birth];
    uint32_t end = lifetime_end(lifetime);
    stack_id stack = end == EVENT_NEVER ? STACK_NONE : saving->timeline->trace->stack[end];
    *may_be = run->phase == PHASE_BACKWARD && end != EVENT_NEVER;
    if (!*may_be || stack == STACK_NONE)
        return true;
    const struct trace *trace = saving->timeline->trace;
    const struct stack_facts *birth =
        site_stack_facts(saving->sites, trace->stack[lifetime->alloc], err);
    bool in_operator = birth && birth->in_operator;
    const struct stack_facts *facts = site_stack_facts(saving->sites, stack, err);
    *may_be = !in_operator || (facts && facts->accumulates_grad);
    return birth && facts;
}

/* Collects, by size, the tensors of a cycle's backward passes that may be added to gradients. */
static bool find_summands(const struct gradient_saving *saving, const struct cycle *cycle,
                          struct pass_births *summands, struct error *err)
{
    const struct timeline *timeline = saving->timeline;
    *summands = (struct pass_births){.budget = timeline->snapshot->budget};
    for (size_t i = births_from(timeline, cycle->backward);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < cycle->end; i++) {
        struct pass_birth birth = {.size =
                                       trace_size(timeline->trace, timeline->lifetimes[i].alloc),
                                   .item = timeline->lifetimes[i].alloc};
        bool may_be;
        if (!may_be_summand(saving, i, &may_be, err) ||
            (may_be && !vec_push(summands->items, summands->count, summands->capacity,
                                 summands->budget, err, birth)))
            return false;
    }
    pass_births_sort(summands);
    return true;
}

/* Sets *item to where a gradient that is stale in a cycle is freed or needed again. A pass that
 * adds to a gradient makes the summand first. Without the gradient, the summand would become the
 * gradient. So the gradient is needed from the item on that frees the summand. Passes that make no
 * summand, such as that of a gradient with respect to the input, do not need it. */
static bool needed_again(const struct gradient_saving *saving,
                         const struct stale_gradient *gradient, size_t cycle,
                         struct repeated *repeated, uint32_t *item, struct error *err)
{
    const struct cycle *now = &saving->cycles->items[cycle];
    uint32_t until = gradient->freed < now->end ? gradient->freed : now->end;
    bool is_unused = !pass_births_any(&repeated->summands, gradient->size, until);
    *item = gradient->freed <= now->pass_end || is_unused ? gradient->freed : now->backward;
    if (gradient->freed <= now->pass_end || is_unused || gradient->preexisting)
        return true;
    const struct phases *phases = saving->phases;
    size_t run = phases_run_of(phases, gradient->born);
    if (run != repeated->run) {
        pass_births_release(&repeated->earlier);
        repeated->run = run;
        if (!pass_births_find(&repeated->earlier, saving->timeline, phases->runs[run].first,
                              phases_run_end(phases, run, saving->timeline->trace->count), err))
            return false;
    }
    const struct pass_birth *summand =
        pass_births_again(&repeated->earlier, &repeated->now, gradient->size, gradient->born);
    *item = summand && summand->freed <= now->pass_end ? summand->freed
                                                       : as_late(saving, gradient->born, run, now);
    return true;
}

struct ending {
    uint32_t item; /* the gradient is stale until this item */
    uint64_t size;
};

static int compare_endings(const void *a, const void *b)
{
    const struct ending *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

struct endings {
    struct ending *items; /* ordered by item */
    size_t count, capacity;
};

static bool add_endings(const struct gradient_saving *saving, size_t cycle,
                        struct repeated *repeated, struct endings *endings, struct error *err)
{
    for (size_t i = 0; i < saving->count; i++) {
        const struct stale_gradient *gradient = &saving->gradients[i];
        struct ending ending = {.size = gradient->size};
        if (cycle < gradient->from || cycle >= gradient->to)
            continue;
        if (!needed_again(saving, gradient, cycle, repeated, &ending.item, err) ||
            !vec_push(endings->items, endings->count, endings->capacity,
                      saving->timeline->snapshot->budget, err, ending))
            return false;
    }
    return true;
}

/* Lists where each gradient that is stale in a cycle stops being stale. */
static bool list_endings(const struct gradient_saving *saving, size_t cycle,
                         struct endings *endings, struct error *err)
{
    const struct cycle *now = &saving->cycles->items[cycle];
    struct repeated repeated = {.run = SIZE_MAX};
    bool ok =
        pass_births_find(&repeated.now, saving->timeline, now->backward, now->pass_end, err) &&
        find_summands(saving, now, &repeated.summands, err) &&
        add_endings(saving, cycle, &repeated, endings, err);
    pass_births_release(&repeated.now);
    pass_births_release(&repeated.summands);
    pass_births_release(&repeated.earlier);
    if (ok && endings->count > 0)
        qsort(endings->items, endings->count, sizeof(*endings->items), compare_endings);
    return ok;
}

/* The highest value from the cursor up to item `end`. */
static int64_t highest(struct curve_cursor *cursor, uint32_t end)
{
    int64_t peak = INT64_MIN;
    while (cursor->item < end) {
        int64_t active = curve_cursor_step(cursor);
        peak = active > peak ? active : peak;
    }
    return peak;
}

/* The same, if stale gradients were freed. */
static int64_t highest_without(struct curve_cursor *cursor, uint32_t end,
                               const struct endings *endings)
{
    __extension__ __int128 stale = 0, peak = INT64_MIN;
    size_t ended = 0;
    for (size_t i = 0; i < endings->count; i++)
        stale += endings->items[i].size;
    while (cursor->item < end) {
        while (ended < endings->count && endings->items[ended].item <= cursor->item)
            stale -= endings->items[ended++].size;
        int64_t active = curve_cursor_step(cursor);
        peak = active - stale > peak ? active - stale : peak;
    }
    return (int64_t)peak;
}

#define MOST_KINDS 4 /* of cycles: the optimizers of a GAN take turns */

/* A cycle with the gradients that are stale in it. Cycles with as many stale bytes gain as much. */
struct kind {
    size_t cycle;
    struct endings endings;
};

struct kinds {
    struct kind items[MOST_KINDS];
    size_t count;
};

static const struct kind *kind_of(const struct kinds *kinds, size_t cycle)
{
    for (size_t k = 0; k < kinds->count; k++)
        if (kinds->items[k].cycle == cycle)
            return &kinds->items[k];
    return NULL;
}

static bool gains(const struct gradient_saving *saving, const struct kinds *kinds, size_t cycle)
{
    const struct cycle *cycles = saving->cycles->items;
    for (size_t k = 0; k < kinds->count; k++)
        if (cycles[cycle].bytes >= cycles[kinds->items[k].cycle].bytes)
            return true;
    return false;
}

/* The active peak if stale gradients were freed in the cycles of `kinds`, and in those that gain as
 * much. Sets *where to the cycle with this peak, or SIZE_MAX if it is before the first. */
static int64_t peak_without(const struct gradient_saving *saving, const struct kinds *kinds,
                            size_t *where)
{
    const struct cycles *cycles = saving->cycles;
    struct curve_cursor cursor = curve_cursor_begin(saving->timeline);
    int64_t peak = cursor.active;
    *where = SIZE_MAX;
    for (size_t begun = 0; begun <= cycles->count; begun++) {
        uint32_t end = begun < cycles->count ? cycles->items[begun].used
                                             : (uint32_t)saving->timeline->trace->count;
        size_t cycle = begun - 1;
        const struct kind *kind = begun > 0 ? kind_of(kinds, cycle) : NULL;
        int64_t here = kind ? highest_without(&cursor, end, &kind->endings) : highest(&cursor, end);
        if (here <= peak || (begun > 0 && !kind && gains(saving, kinds, cycle)))
            continue;
        peak = here;
        *where = cycle;
    }
    return peak;
}

static bool add_kind(const struct gradient_saving *saving, struct kinds *kinds, size_t cycle,
                     struct error *err)
{
    struct kind *kind = &kinds->items[kinds->count];
    *kind = (struct kind){.cycle = cycle};
    kinds->count++;
    return list_endings(saving, cycle, &kind->endings, err);
}

/* Frees stale gradients in the cycle with the peak, then in the one that has the peak without them,
 * and so on. */
static bool measure(const struct gradient_saving *saving, struct kinds *kinds, size_t cycle,
                    int64_t *peak, struct error *err)
{
    do {
        if (!add_kind(saving, kinds, cycle, err))
            return false;
        *peak = peak_without(saving, kinds, &cycle);
    } while (kinds->count < MOST_KINDS && cycle != SIZE_MAX && !kind_of(kinds, cycle) &&
             saving->cycles->items[cycle].count > 0);
    return true;
}

bool gradient_saving_measure(const struct gradient_saving *saving, int64_t *bytes,
                             struct error *err)
{
    int64_t peak = saving->timeline->active.peak_event;
    size_t begun = peak < 0 ? 0 : cycles_from(saving->cycles, (uint32_t)peak);
    *bytes = 0;
    if (begun == 0 || saving->cycles->items[begun - 1].count == 0)
        return true;
    struct kinds kinds = {.count = 0};
    bool ok = measure(saving, &kinds, begun - 1, &peak, err);
    if (ok)
        *bytes = saving->timeline->active.peak_bytes - peak;
    for (size_t k = 0; k < kinds.count; k++)
        vec_free(kinds.items[k].endings.items, kinds.items[k].endings.capacity,
                 sizeof(*kinds.items[k].endings.items), saving->timeline->snapshot->budget);
    return ok;
}
