#include "analysis/findings/earlier_model.h"

#include "analysis/phase/births.h"
#include "base/bisect.h"
#include "base/budget.h"
#include "model/peak_without.h"

#define LEAST_WEIGHTS 4 /* of a model; fewer may be a layer that is replaced */

/* A stretch between the phases of steps in which a program makes a model. */
struct building {
    uint32_t first, last; /* items that allocate its first and its last weight */
    uint32_t end;         /* the item at which a step goes on */
    stack_id stack;       /* of the first weight */
    size_t weights;       /* of this model */
    size_t freed;         /* weights of an earlier one that are freed once this one is complete */
    int64_t freed_bytes;  /* of these, and of everything else that is freed then */
};

struct finder {
    const struct live_set *set;
    const struct phases *phases;
    struct building *buildings; /* in order */
    size_t count, capacity;
    struct absence *absences;
    size_t absent, absences_capacity;
    struct budget *budget;
};

static bool is_step(const struct phases *phases, size_t run)
{
    return phases->runs[run].phase > PHASE_DATA;
}

static bool is_weight(const struct live_set *set, stack_id stack, bool *weight, struct error *err)
{
    const struct stack_facts *facts = site_stack_facts(set->sites, stack, err);
    *weight = facts && facts->context == CONTEXT_INIT && !facts->is_deep_copy;
    return facts != NULL;
}

/* Adds a weight to the building that goes on up to `end`. */
static bool add_weight(struct finder *finder, uint32_t item, uint32_t end, struct error *err)
{
    stack_id stack = finder->set->timeline->trace->stack[item];
    struct building *last = finder->count > 0 ? &finder->buildings[finder->count - 1] : NULL;
    if (!last || last->end != end)
        return vec_push(finder->buildings, finder->count, finder->capacity, finder->budget, err,
                        (struct building){
                            .first = item, .last = item, .end = end, .stack = stack, .weights = 1});
    last->last = item;
    last->weights++;
    return true;
}

static bool add_weights_of_run(struct finder *finder, size_t run, uint32_t end, struct error *err)
{
    const struct timeline *timeline = finder->set->timeline;
    uint32_t run_end = phases_run_end(finder->phases, run, timeline->trace->count);
    for (size_t i = births_from(timeline, finder->phases->runs[run].first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < run_end; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        bool weight;
        if (!is_weight(finder->set, timeline->trace->stack[item], &weight, err) ||
            (weight && lifetime_end(&timeline->lifetimes[i]) >= end &&
             !add_weight(finder, item, end, err)))
            return false;
    }
    return true;
}

/* Lists the stretches that end in a step. At the end of a program, everything is freed. */
static bool find_buildings(struct finder *finder, struct error *err)
{
    const struct phases *phases = finder->phases;
    size_t step = 0; /* the next run of a step */
    for (size_t run = 0; run < phases->count; run++) {
        while (step < phases->count && (step <= run || !is_step(phases, step)))
            step++;
        if (!is_step(phases, run) && step < phases->count &&
            !add_weights_of_run(finder, run, phases->runs[step].first, err))
            return false;
    }
    return true;
}

/* The building after whose last weight, and before whose end, the item lies; NULL: none. */
static struct building *building_at(const struct finder *finder, uint32_t item)
{
    size_t at =
        bisect_until(&finder->buildings->end, sizeof(*finder->buildings), finder->count, item);
    return at < finder->count && finder->buildings[at].last < item ? &finder->buildings[at] : NULL;
}

/* The building that replaces lifetime `index`, or what belongs to it; NULL: none. */
static struct building *replaced_by(const struct finder *finder, size_t index)
{
    const struct lifetime *lifetime = &finder->set->timeline->lifetimes[index];
    uint32_t end = lifetime_end(lifetime);
    struct building *building = end == EVENT_NEVER ? NULL : building_at(finder, end);
    return building && building->weights >= LEAST_WEIGHTS && lifetime->alloc < building->first
               ? building
               : NULL;
}

static bool count_freed(struct finder *finder, struct error *err)
{
    const struct trace *trace = finder->set->timeline->trace;
    for (size_t i = 0; i < finder->set->timeline->lifetime_count; i++) {
        struct building *building = replaced_by(finder, i);
        uint32_t alloc = finder->set->timeline->lifetimes[i].alloc;
        bool weight;
        if (!building)
            continue;
        if (!is_weight(finder->set, trace->stack[alloc], &weight, err))
            return false;
        building->freed += weight;
        building->freed_bytes += (int64_t)trace_size(trace, alloc);
    }
    return true;
}

static bool list_absences(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->set->timeline;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct building *building = replaced_by(finder, i);
        struct absence absence = absence_of_lifetime(timeline, i);
        if (!building || building->freed < LEAST_WEIGHTS)
            continue;
        absence.from = building->first;
        if (!vec_push(finder->absences, finder->absent, finder->absences_capacity, finder->budget,
                      err, absence))
            return false;
    }
    return true;
}

/* The building in which the peak lies; NULL: none. */
static const struct building *building_of_peak(const struct finder *finder)
{
    int64_t peak = finder->set->timeline->active.peak_event;
    for (size_t i = 0; i < finder->count; i++)
        if (finder->buildings[i].first <= peak && peak < finder->buildings[i].end)
            return &finder->buildings[i];
    return NULL;
}

static bool judge(struct finder *finder, struct earlier_model *earlier, struct error *err)
{
    const struct timeline *timeline = finder->set->timeline;
    const struct building *building = building_of_peak(finder);
    int64_t peak;
    if (!building)
        return true;
    if (!count_freed(finder, err))
        return false;
    if (building->freed < LEAST_WEIGHTS)
        return true;
    if (!list_absences(finder, err) ||
        !timeline_peak_without(timeline, finder->absences, finder->absent, &peak, err))
        return false;
    *earlier = (struct earlier_model){building->freed_bytes, timeline->active.peak_bytes - peak,
                                      building->stack};
    return true;
}

bool earlier_model_find(struct earlier_model *earlier, const struct live_set *set,
                        const struct phases *phases, struct error *err)
{
    struct finder finder = {
        .set = set, .phases = phases, .budget = set->timeline->snapshot->budget};
    *earlier = (struct earlier_model){.stack = STACK_NONE};
    bool ok = find_buildings(&finder, err) && judge(&finder, earlier, err);
    vec_free(finder.buildings, finder.capacity, sizeof(*finder.buildings), finder.budget);
    vec_free(finder.absences, finder.absences_capacity, sizeof(*finder.absences), finder.budget);
    return ok;
}
