#include "analysis/phase/refine.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "analysis/phase/forward.h"
#include "analysis/phase/update_function.h"
#include "base/bisect.h"

struct refiner {
    const struct phases *old;
    const struct timeline *timeline;
    struct site_table *sites; /* NULL without stacks */
    struct phases made;
    uint64_t *sizes; /* different sizes of the gradients of the last backward pass, ascending */
    size_t size_count, size_capacity;
    uint64_t gradient_bytes;        /* bytes of all these gradients */
    const struct step_marks *steps; /* annotated optimizer steps; NULL if they are not needed */
    size_t next_step;
    struct known_sizes weights;
    uint32_t pass_begin;          /* first item of the last backward pass */
    uint32_t gradients_end;       /* the item that frees the last of these gradients */
    size_t stop;                  /* the next backward or optimizer run; see look_ahead() */
    size_t last_forward;          /* the last forward run before `stop`; 0 if none */
    struct forward_search search; /* for the forward pass in plain code */
};

static uint32_t run_end(const struct refiner *refiner, size_t run)
{
    return phases_run_end(refiner->old, run, refiner->timeline->trace->count);
}

static bool is_plain(const struct phase_run *run)
{
    return run->phase <= PHASE_OTHER;
}

static uint64_t add_capped(uint64_t sum, uint64_t size)
{
    return sum + size < sum ? UINT64_MAX : sum + size;
}

/* Collects the sizes of the gradients that a backward pass leaves. If it leaves none, because it
 * adds to those of an earlier pass, keeps the sizes of that pass. */
static bool collect_gradient_sizes(struct refiner *refiner, size_t pass, struct error *err)
{
    const struct timeline *timeline = refiner->timeline;
    uint32_t end = run_end(refiner, pass), freed = 0;
    size_t count = 0;
    uint64_t bytes = 0;
    for (size_t i = births_from(timeline, refiner->old->runs[pass].first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end; i++) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if (lifetime_end(&timeline->lifetimes[i]) < end)
            continue;
        if (refiner->weights.count > 0 &&
            !bsearch(&size, refiner->weights.items, refiner->weights.count, sizeof(size),
                     compare_64))
            continue;
        bytes = add_capped(bytes, size);
        if (!vec_grow((void **)&refiner->sizes, &refiner->size_capacity, count + 1,
                      sizeof(uint64_t), refiner->made.budget, err))
            return false;
        refiner->sizes[count++] = size;
        if (lifetime_end(&timeline->lifetimes[i]) > freed)
            freed = lifetime_end(&timeline->lifetimes[i]);
    }
    if (count == 0)
        return true;
    refiner->gradients_end = freed;
    qsort(refiner->sizes, count, sizeof(uint64_t), compare_64);
    refiner->gradient_bytes = bytes;
    refiner->size_count = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || refiner->sizes[i] != refiner->sizes[refiner->size_count - 1])
            refiner->sizes[refiner->size_count++] = refiner->sizes[i];
    return true;
}

/* True if an annotation shows the step that follows the last backward pass, so that it need not be
 * guessed in code up to item `end`. */
static bool step_is_marked(struct refiner *refiner, uint32_t end)
{
    const struct step_marks *steps = refiner->steps;
    if (!steps)
        return false;
    while (refiner->next_step < steps->count &&
           steps->items[refiner->next_step].begin < refiner->pass_begin)
        refiner->next_step++;
    return refiner->next_step < steps->count && steps->items[refiner->next_step].begin <= end;
}

/* True if copy.deepcopy() made an allocation. No optimizer uses that for its states. */
static bool is_deep_copy(const struct refiner *refiner, uint32_t item)
{
    struct error err; /* cannot fail: the phases have looked the stack up */
    stack_id stack = refiner->timeline->trace->stack[item];
    if (!refiner->sites || stack == STACK_NONE)
        return false;
    const struct stack_facts *facts = site_stack_facts(refiner->sites, stack, &err);
    return facts && facts->copies_tensor;
}

/* Finds the part [*begin, *stop) of the plain items [first, end) that updates parameters. It is
 * empty if there is none, as when all gradients are freed. */
static void find_update(const struct refiner *refiner, uint32_t first, uint32_t end,
                        uint32_t *begin, uint32_t *stop)
{
    const struct timeline *timeline = refiner->timeline;
    uint64_t fitting = 0, all = 0, kept_fitting = 0, kept = 0;
    uint32_t most = end; /* the end of the longest part that begins with the first updating item */
    *begin = *stop = end;
    if (refiner->size_count == 0)
        return;
    for (size_t i = births_from(timeline, first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        if (item > refiner->gradients_end)
            break;
        uint64_t size = trace_size(timeline->trace, item);
        bool fits =
            bsearch(&size, refiner->sizes, refiner->size_count, sizeof(size), compare_64) != NULL &&
            !is_deep_copy(refiner, item);
        bool stays = lifetime_end(&timeline->lifetimes[i]) >= end;
        all = add_capped(all, size);
        if (stays)
            kept = add_capped(kept, size);
        if (!fits)
            continue;
        fitting = add_capped(fitting, size);
        if (stays)
            kept_fitting = add_capped(kept_fitting, size);
        if (*begin == end)
            *begin = item;
        *stop = item + 1;
        if (refiner->sites && fitting >= all - fitting && fitting >= refiner->gradient_bytes / 2)
            most = item + 1;
    }
    bool makes_states =
        kept_fitting >= refiner->gradient_bytes / 2 && kept_fitting >= kept - kept_fitting;
    if (*begin == end || fitting >= all - fitting || makes_states)
        return;
    *stop = most;
    if (most == end)
        *begin = end;
}

/* The same, by the user's function that updates. */
static bool find_function(const struct refiner *refiner, uint32_t first, uint32_t end,
                          uint32_t *begin, uint32_t *stop, struct error *err)
{
    struct update_search search = {.timeline = refiner->timeline,
                                   .sites = refiner->sites,
                                   .first = first,
                                   .end = end,
                                   .pass = refiner->pass_begin,
                                   .gradients_end = refiner->gradients_end,
                                   .sizes = refiner->sizes,
                                   .size_count = refiner->size_count,
                                   .gradient_bytes = refiner->gradient_bytes};
    *begin = *stop = end;
    return !refiner->sites || refiner->size_count == 0 ||
           update_in_function(&search, begin, stop, err);
}

/* Adds the plain items [first, end). After a backward pass, the optimizer step among them becomes a
 * run of its own. */
static bool put_plain(struct refiner *refiner, uint32_t first, uint32_t end,
                      const struct phase_run *run, bool after_pass, struct error *err)
{
    uint32_t begin = end, stop = end;
    enum phase phase = (enum phase)run->phase;
    enum phase_evidence evidence = (enum phase_evidence)run->evidence;
    bool may_update = after_pass && !step_is_marked(refiner, end);
    if (may_update)
        find_update(refiner, first, end, &begin, &stop);
    if (may_update && begin == stop && !find_function(refiner, first, end, &begin, &stop, err))
        return false;
    return (begin == first || first == end ||
            phases_append(&refiner->made, first, phase, evidence, err)) &&
           (begin == stop ||
            phases_append(&refiner->made, begin, PHASE_OPTIMIZER, PHASE_BY_LIFETIMES, err)) &&
           (stop == end || phases_append(&refiner->made, stop, phase, evidence, err));
}

/* Finds the backward or optimizer run that ends the stretch that begins with `run`. Each run is
 * visited once. */
static void look_ahead(struct refiner *refiner, size_t run)
{
    const struct phases *phases = refiner->old;
    if (run < refiner->stop)
        return;
    refiner->last_forward = 0;
    for (refiner->stop = run + 1; refiner->stop < phases->count; refiner->stop++) {
        enum phase phase = (enum phase)phases->runs[refiner->stop].phase;
        if (phase == PHASE_BACKWARD || phase == PHASE_OPTIMIZER)
            break;
        if (phase == PHASE_FORWARD)
            refiner->last_forward = refiner->stop;
    }
}

/* Decides a run that may be of an autograd thread. It is backward if it frees what the previous
 * forward pass, or plain code after that pass, made, or if a later backward pass frees that. */
static bool put_thread(struct refiner *refiner, size_t run, struct error *err)
{
    const struct phase_run *old = &refiner->old->runs[run];
    size_t before = run - 1;
    while (before > 0 && is_plain(&refiner->old->runs[before]))
        before--;
    struct forward_search search = refiner->search;
    uint32_t saved;
    search.first = refiner->old->runs[before].first;
    search.end = old->first;
    search.pass = run;
    if (!forward_saved(&search, &saved, err))
        return false;
    bool is_backward = saved < old->first || old->is_recorded;
    return phases_append(&refiner->made, old->first,
                         is_backward ? PHASE_BACKWARD : (enum phase)old[-1].phase,
                         PHASE_BY_LIFETIMES, err);
}

/* Sets *item to where the forward pass begins in a plain run before a backward pass. */
static bool find_forward(struct refiner *refiner, size_t run, bool after_pass, uint32_t *item,
                         struct error *err)
{
    struct forward_search *search = &refiner->search;
    search->first = refiner->old->runs[run].first;
    search->end = run_end(refiner, run);
    search->pass = refiner->stop;
    uint32_t begin, updated = search->first;
    if (!forward_certain(search, item, err))
        return false;
    if (refiner->last_forward > 0) /* a module's forward comes before, so this is the loss */
        return true;
    if (after_pass) {
        find_update(refiner, search->first, *item, &begin, &updated);
        updated = begin < updated ? updated : search->first;
    }
    if (!forward_extend(search, updated, item, err))
        return false;
    if (*item < search->end)
        search->begun = refiner->timeline->trace->stack[*item];
    return true;
}

static bool refine_run(struct refiner *refiner, size_t run, bool after_pass, struct error *err)
{
    const struct phase_run *old = &refiner->old->runs[run];
    uint32_t first = old->first, end = run_end(refiner, run), forward = end;
    look_ahead(refiner, run);
    bool before_pass = refiner->stop < refiner->old->count &&
                       refiner->old->runs[refiner->stop].phase == PHASE_BACKWARD &&
                       refiner->last_forward <= run;
    if (old->phase == PHASE_BACKWARD && old->evidence == PHASE_BY_LIFETIMES && run > 0 &&
        refiner->sites)
        return put_thread(refiner, run, err);
    if (!is_plain(old))
        return phases_append(&refiner->made, first, (enum phase)old->phase,
                             (enum phase_evidence)old->evidence, err);
    if (refiner->sites && before_pass && !find_forward(refiner, run, after_pass, &forward, err))
        return false;
    return put_plain(refiner, first, forward, old, after_pass, err) &&
           (forward == end ||
            phases_append(&refiner->made, forward, PHASE_FORWARD, PHASE_BY_LIFETIMES, err));
}

bool phases_refine(struct phases *phases, const struct timeline *timeline, struct site_table *sites,
                   const struct step_marks *steps, struct known_sizes weights, struct error *err)
{
    struct refiner refiner = {
        .old = phases, .timeline = timeline, .sites = sites, .steps = steps, .weights = weights};
    refiner.search = (struct forward_search){.phases = phases,
                                             .timeline = timeline,
                                             .sites = sites,
                                             .is_initial = true,
                                             .begun = STACK_NONE};
    refiner.made.budget = phases->budget;
    bool after_pass = false,
         ok = true; /* after_pass: the last phase of a step was a backward pass */
    for (size_t run = 0; ok && run < phases->count; run++) {
        ok = refine_run(&refiner, run, after_pass, err);
        if (phases->runs[run].phase == PHASE_BACKWARD) {
            refiner.search.is_initial = false;
            refiner.pass_begin = phases->runs[run].first;
            ok = ok && collect_gradient_sizes(&refiner, run, err);
        }
        if (phases->runs[run].phase > PHASE_DATA)
            after_pass =
                phases->runs[run].phase == PHASE_BACKWARD && !phases->runs[run].is_recorded;
    }
    vec_free(refiner.sizes, refiner.size_capacity, sizeof(uint64_t), refiner.made.budget);
    if (!ok) {
        phases_release(&refiner.made);
        return false;
    }
    vec_free(phases->runs, phases->runs_capacity, sizeof(*phases->runs), phases->budget);
    phases->runs = refiner.made.runs;
    phases->count = refiner.made.count;
    phases->runs_capacity = refiner.made.runs_capacity;
    return true;
}
