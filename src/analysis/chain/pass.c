#include "analysis/chain/pass.h"

#include "analysis/phase/births.h"
#include "model/sums.h"

struct search {
    const struct timeline *timeline;
    const struct phases *phases;
    const struct steps *steps;
    const struct categories *categories;
    size_t peak_step;
    struct pass *best;
    struct passes *all;
    struct error *err;
};

bool pass_keeps(const struct pass *pass, const struct timeline *timeline,
                const struct categories *categories, size_t lifetime)
{
    const struct lifetime *life = &timeline->lifetimes[lifetime];
    uint32_t end = lifetime_end(life);
    return life->alloc >= pass->first &&
           category_is_saved((enum category)categories->of_lifetime[lifetime]) &&
           end >= pass->backward;
}

/* Sums up what the pass keeps. The pass begins with the first activation that its backward frees;
 * activations before that belong to other code, such as a validation between two steps. The sum
 * does not overflow, as the timeline has checked. */
static void measure(const struct search *search, struct pass *pass)
{
    const struct timeline *timeline = search->timeline;
    bool any = false;
    size_t count = timeline->lifetime_count;
    for (size_t i = births_from(timeline, pass->first); i < count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (lifetime->alloc >= pass->backward)
            break;
        if (!pass_keeps(pass, timeline, search->categories, i))
            continue;
        if (!any && !pass->unfinished && lifetime_end(lifetime) >= pass->end)
            continue;
        if (!any)
            pass->first = lifetime->alloc;
        any = true;
        pass->kept_count += search->categories->of_lifetime[i] == CATEGORY_ACTIVATION &&
                            lifetime_end(lifetime) < pass->end;
        sum_add(&pass->kept_bytes, trace_size(timeline->trace, lifetime->alloc));
    }
}

/* Passes that keep about as much may be of one model, with gradient accumulation. All of them need
 * the plan, and the one that contains the peak shows what the plan gains. */
static bool is_better(const struct search *search, const struct pass *pass)
{
    const struct pass *best = search->best;
    int64_t most = pass->kept_bytes > best->kept_bytes ? pass->kept_bytes : best->kept_bytes;
    int64_t least = pass->kept_bytes + best->kept_bytes - most;
    if (pass->stopped) /* a complete pass that keeps about as much shows more */
        return pass->kept_bytes - pass->kept_bytes / 8 > best->kept_bytes;
    if (pass->at_peak != best->at_peak)
        return pass->at_peak;
    if (least > most - most / 8 && pass->has_peak != best->has_peak)
        return pass->has_peak;
    return pass->kept_bytes > best->kept_bytes;
}

static bool consider(const struct search *search, struct pass pass)
{
    struct pass *best = search->best;
    struct passes *all = search->all;
    int64_t peak = search->timeline->active.peak_event;
    pass.has_peak = peak >= pass.first && peak < pass.end;
    measure(search, &pass);
    pass.step = steps_of(search->steps, pass.first);
    pass.at_peak = search->peak_step != NO_STEP && pass.step == search->peak_step;
    pass.found = pass.kept_bytes > 0;
    if (pass.found && (!best->found || is_better(search, &pass)))
        *best = pass;
    return !pass.found ||
           vec_push(all->items, all->count, all->capacity, all->budget, search->err, pass);
}

static bool runs_out(const struct search *search, uint32_t first)
{
    const struct trace *trace = search->timeline->trace;
    for (uint32_t item = (uint32_t)trace->count; item-- > first;)
        if (trace->action[item] == ACTION_OOM)
            return true;
    return false;
}

/* Considers the last pass. If memory runs out during its backward, the items of the backward are
 * left out, because they do not free all that the forward kept. */
static bool consider_last(const struct search *search, uint32_t first, uint32_t backward,
                          uint32_t end)
{
    bool stopped = end == search->timeline->trace->count && runs_out(search, backward);
    return consider(search, (struct pass){.first = first,
                                          .backward = backward,
                                          .end = stopped ? backward : end,
                                          .unfinished = stopped,
                                          .stopped = stopped});
}

/* Considers the last forward pass of a trace without backward passes, if memory runs out in it. */
static bool consider_unfinished(const struct search *search, uint32_t first)
{
    uint32_t end = (uint32_t)search->timeline->trace->count;
    return !runs_out(search, first) ||
           consider(search,
                    (struct pass){.first = first, .backward = end, .end = end, .unfinished = true});
}

#define FEW_DERIVATIVES 64 /* one 64th of what the backward pass saves */

/* True if a backward pass keeps the graph for a later one without recording itself: with
 * retain_graph=True, where two losses share a part of the model. With create_graph=True, the pass
 * saves what it computes, and the later one goes through that. */
static bool is_kept_for_later(const struct search *search, size_t run)
{
    const struct phases *phases = search->phases;
    const struct timeline *timeline = search->timeline;
    uint32_t end = phases_run_end(phases, run, timeline->trace->count);
    int64_t saved = 0, all = 0;
    if (!phases->runs[run].is_recorded)
        return false;
    for (size_t i = births_from(timeline, phases->runs[run].first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end; i++) {
        int64_t size = (int64_t)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        bool is_saved = category_is_saved((enum category)search->categories->of_lifetime[i]);
        all += size;
        saved += is_saved && lifetime_end(&timeline->lifetimes[i]) >= end ? size : 0;
    }
    return saved <= all / FEW_DERIVATIVES;
}

/* Optimizers may step within the backward pass, one parameter at a time. So a pass ends at an
 * optimizer step only if no more of the backward pass follows before the next forward pass. */
bool pass_find(struct pass *pass, struct passes *all, const struct timeline *timeline,
               const struct phases *phases, const struct steps *steps,
               const struct categories *categories, struct error *err)
{
    struct search search = {timeline, phases, steps, categories, NO_STEP, pass, all, err};
    const uint32_t none = EVENT_NEVER;
    uint32_t first = none, backward = none, over = none;
    bool any_backward = false, goes_on = false, ok = true;
    *pass = (struct pass){.step = NO_STEP};
    *all = (struct passes){.budget = timeline->snapshot->budget};
    if (timeline->active.peak_event >= 0)
        search.peak_step = steps_of(steps, (uint32_t)timeline->active.peak_event);
    for (size_t i = 0; i < phases->count && ok; i++) {
        const struct phase_run *run = &phases->runs[i];
        if (run->phase == PHASE_OPTIMIZER) {
            first = backward == none ? none : first;
            over = over == none ? run->first : over;
        } else if (run->phase == PHASE_FORWARD) {
            uint32_t end = over == none ? run->first : over;
            if (goes_on && over == none) /* the pass includes the next backward pass */
                continue;
            if (backward != none)
                ok = consider(&search,
                              (struct pass){.first = first, .backward = backward, .end = end});
            if (first == none || backward != none)
                first = run->first;
            backward = over = none;
        } else if (run->phase == PHASE_BACKWARD && first != none) {
            any_backward = true;
            goes_on = (backward == none || goes_on) && is_kept_for_later(&search, i);
            backward = backward == none ? run->first : backward;
            over = none;
        }
    }
    uint32_t end = over == none ? (uint32_t)timeline->trace->count : over;
    if (ok && backward != none)
        ok = consider_last(&search, first, backward, end);
    else if (ok && first != none && !any_backward)
        ok = consider_unfinished(&search, first);
    pass->any_backward = any_backward;
    if (!ok)
        passes_release(all);
    return ok;
}

void passes_release(struct passes *passes)
{
    vec_free(passes->items, passes->capacity, sizeof(*passes->items), passes->budget);
    *passes = (struct passes){0};
}

bool call_is_forward(struct text name)
{
    return text_equals(name, "forward") || text_ends(name, ".forward");
}
