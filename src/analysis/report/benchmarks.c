#include "analysis/report/benchmarks.h"

#include "model/peak_without.h"

struct finder {
    const struct timeline *timeline;
    struct benchmarks *benchmarks;
    struct absence *absences; /* in order of allocation */
    size_t count, capacity;
    uint64_t largest; /* of the allocations that are live at the peak */
};

static bool add(struct finder *finder, const struct lifetime *lifetime, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    int64_t peak = timeline->active.peak_event;
    uint64_t size = trace_size(timeline->trace, lifetime->alloc);
    if ((int64_t)lifetime->alloc <= peak && peak < (int64_t)lifetime->free_completed) {
        finder->benchmarks->at_peak_bytes += (int64_t)size;
        if (size > finder->largest) {
            finder->largest = size;
            finder->benchmarks->stack = timeline->trace->stack[lifetime->alloc];
        }
    }
    return vec_push(finder->absences, finder->count, finder->capacity, timeline->snapshot->budget,
                    err, (struct absence){lifetime->alloc, lifetime->free_completed, size});
}

static bool find(struct finder *finder, struct site_table *sites, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        const struct stack_facts *facts =
            site_stack_facts(sites, timeline->trace->stack[lifetime->alloc], err);
        if (!facts || (facts->is_benchmark && !add(finder, lifetime, err)))
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
