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
};

bool pass_keeps(const struct pass *pass, const struct timeline *timeline,
                const struct categories *categories, size_t lifetime)
{
    uint32_t end = lifetime_end(&timeline->lifetimes[lifetime]);
    return categories->of_lifetime[lifetime] == CATEGORY_ACTIVATION && end >= pass->backward;
}

/* Sums up what the pass keeps. What was kept before the first activation that this backward frees
 * belongs to others, such as a validation between two steps. No overflow: the timeline checked it.
 */
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
        sum_add(&pass->kept_bytes, trace_size(timeline->trace, lifetime->alloc));
    }
}

static void consider(const struct search *search, struct pass pass)
{
    struct pass *best = search->best;
    measure(search, &pass);
    pass.step = steps_of(search->steps, pass.first);
    pass.at_peak = search->peak_step != NO_STEP && pass.step == search->peak_step;
    pass.any_backward = best->any_backward;
    pass.found = pass.kept_bytes > 0;
    bool better = pass.at_peak != best->at_peak ? pass.at_peak : pass.kept_bytes > best->kept_bytes;
    if (pass.found && (!best->found || better))
        *best = pass;
}

/* Without a backward pass, only the last forward pass is considered. */
static void consider_unfinished(const struct search *search, uint32_t first)
{
    const struct trace *trace = search->timeline->trace;
    uint32_t end = (uint32_t)trace->count;
    for (uint32_t item = end; item-- > first;)
        if (trace->action[item] == ACTION_OOM) {
            consider(search, (struct pass){
                                 .first = first, .backward = end, .end = end, .unfinished = true});
            return;
        }
}

void pass_find(struct pass *pass, const struct timeline *timeline, const struct phases *phases,
               const struct steps *steps, const struct categories *categories)
{
    struct search search = {timeline, phases, steps, categories, NO_STEP, pass};
    const uint32_t none = EVENT_NEVER;
    uint32_t first = none, backward = none;
    *pass = (struct pass){.step = NO_STEP};
    if (timeline->active.peak_event >= 0)
        search.peak_step = steps_of(steps, (uint32_t)timeline->active.peak_event);
    for (size_t i = 0; i < phases->count; i++) {
        const struct phase_run *run = &phases->runs[i];
        bool again = run->phase == PHASE_FORWARD, over = run->phase == PHASE_OPTIMIZER;
        if ((again || over) && backward != none) {
            consider(&search,
                     (struct pass){.first = first, .backward = backward, .end = run->first});
            first = backward = none;
        }
        if (over)
            first = none;
        if (again && first == none)
            first = run->first;
        if (run->phase == PHASE_BACKWARD && first != none && backward == none) {
            pass->any_backward = true;
            backward = run->first;
        }
    }
    if (backward != none)
        consider(&search, (struct pass){.first = first,
                                        .backward = backward,
                                        .end = (uint32_t)timeline->trace->count});
    else if (first != none && !pass->any_backward)
        consider_unfinished(&search, first);
}
