#include "analysis/findings/benchmarks.h"

#include "model/peak_without.h"

struct finder {
    const struct timeline *timeline;
    struct benchmarks *benchmarks;
    struct absence *absences; /* in order of allocation */
    size_t count, capacity;
    uint64_t largest; /* of the allocations that are live at the peak */
};

static bool add(struct finder *finder, size_t lifetime, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    int64_t peak = timeline->active.peak_event;
    struct absence absence = absence_of_lifetime(timeline, lifetime);
    if ((int64_t)absence.from <= peak && peak < (int64_t)absence.until) {
        finder->benchmarks->at_peak_bytes += (int64_t)absence.bytes;
        if (absence.bytes > finder->largest) {
            finder->largest = absence.bytes;
            finder->benchmarks->stack = timeline->trace->stack[absence.from];
        }
    }
    return vec_push(finder->absences, finder->count, finder->capacity, timeline->snapshot->budget,
                    err, absence);
}

static bool find(struct finder *finder, struct site_table *sites, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        stack_id stack = timeline->trace->stack[timeline->lifetimes[i].alloc];
        const struct stack_facts *facts = site_stack_facts(sites, stack, err);
        if (!facts || (facts->is_benchmark && !add(finder, i, err)))
            return false;
    }
    return true;
}

bool benchmarks_find(struct benchmarks *benchmarks, const struct timeline *timeline,
                     struct site_table *sites, struct error *err)
{
    struct finder finder = {.timeline = timeline, .benchmarks = benchmarks};
    struct stacks_include include;
    int64_t peak = timeline->active.peak_bytes;
    *benchmarks = (struct benchmarks){.stack = STACK_NONE};
    if (!site_stacks_include(sites, &include, err))
        return false;
    bool ok = !include.benchmark ||
              (find(&finder, sites, err) &&
               timeline_peak_without(timeline, finder.absences, finder.count, &peak, err));
    benchmarks->save_bytes = timeline->active.peak_bytes - peak;
    vec_free(finder.absences, finder.capacity, sizeof(*finder.absences),
             timeline->snapshot->budget);
    return ok;
}
