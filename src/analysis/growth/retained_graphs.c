#include "analysis/growth/retained_graphs.h"

#include <string.h>

#include "analysis/growth/early_ends.h"
#include "analysis/growth/handed_graphs.h"
#include "analysis/growth/retained_items.h"

struct finder {
    struct retained_items found;
    uint32_t *from; /* by lifetime: see early_ends.h */
    uint8_t *is_held;
    size_t from_capacity, held_capacity;
};

/* True if the code outside of the layers comes next: the tensor is the last result of a call. */
static bool is_last_of_call(const struct finder *finder, size_t at)
{
    const struct retained_item *item = &finder->found.items[at], *next = item + 1;
    return item->forwards > 0 && (at + 1 == finder->found.count || next->pass != item->pass ||
                                  next->forwards < item->forwards);
}

/* Flags what counts. Of a call of a model, leaves out its last result and the last one that a layer
 * in it returns to the model. */
static bool flag(struct finder *finder, struct error *err)
{
    size_t lifetimes = finder->found.timeline->lifetime_count, last = SIZE_MAX;
    size_t items = finder->found.timeline->trace->count;
    if (!vec_reserve(finder->is_held, finder->held_capacity, lifetimes + 1, finder->found.budget,
                     err) ||
        !vec_reserve(finder->from, finder->from_capacity, lifetimes + 1, finder->found.budget, err))
        return false;
    memset(finder->is_held, 0, lifetimes + 1);
    memset(finder->from, 0, (lifetimes + 1) * sizeof(*finder->from));
    for (size_t i = 0; i < finder->found.count; i++) {
        const struct retained_item *item = &finder->found.items[i];
        uint32_t run = retained_items_last_run(&finder->found, item);
        if (run == NO_RUN)
            continue;
        bool is_last = is_last_of_call(finder, i);
        finder->from[item->lifetime] = phases_run_end(finder->found.phases, run, items);
        finder->is_held[item->lifetime] = !is_last || item->forwards > 1;
        if (is_last && item->forwards > 1)
            last = i;
        bool ends = i + 1 == finder->found.count || finder->found.items[i + 1].pass != item->pass ||
                    (is_last && finder->found.items[i + 1].forwards == 0);
        if (ends && last != SIZE_MAX) {
            finder->is_held[finder->found.items[last].lifetime] = false;
            last = SIZE_MAX;
        }
    }
    return handed_graphs_mark(finder->is_held, finder->from, finder->found.timeline,
                              finder->found.sites, finder->found.categories, finder->found.phases,
                              finder->found.is_dropped, err);
}

/* Sums what is live at the peak of the graphs that a backward pass goes through at that moment. */
static int64_t sum_in_backward(const struct finder *finder)
{
    const struct timeline *timeline = finder->found.timeline;
    int64_t peak = timeline->active.peak_event, bytes = 0;
    uint32_t run = peak < 0 ? NO_RUN : phases_run_of(finder->found.phases, (uint32_t)peak);
    if (run == NO_RUN || finder->found.phases->runs[run].phase != PHASE_BACKWARD)
        return 0;
    for (size_t i = 0; i < finder->found.count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[finder->found.items[i].lifetime];
        if (finder->found.items[i].pass == finder->found.phases->runs[run].pass &&
            retained_items_last_run(&finder->found, &finder->found.items[i]) != NO_RUN &&
            (int64_t)lifetime->alloc <= peak)
            bytes += (int64_t)trace_size(timeline->trace, lifetime->alloc);
    }
    return bytes;
}

static bool is_at_peak(const struct finder *finder, uint32_t index)
{
    int64_t peak = finder->found.timeline->active.peak_event;
    return finder->is_held[index] && peak >= (int64_t)finder->from[index] &&
           peak < (int64_t)finder->found.timeline->lifetimes[index].free_completed;
}

static void sum_at_peak(const struct finder *finder, struct retained_graphs *retained)
{
    const struct timeline *timeline = finder->found.timeline;
    const struct phases *phases = finder->found.phases;
    uint32_t pass = NO_RUN;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        uint32_t index = phases->outliving[n];
        if (!is_at_peak(finder, index))
            continue;
        int64_t size = (int64_t)trace_size(timeline->trace, timeline->lifetimes[index].alloc);
        retained->at_peak_bytes += size;
        if (finder->is_held[index] != HANDED)
            continue;
        retained->handed_bytes += size;
        retained->handed_passes += phases->runs[phases->of_lifetime[index].birth].pass != pass;
        pass = phases->runs[phases->of_lifetime[index].birth].pass;
    }
}

/* Adds the graph that is made before the first backward pass, if the program retains others. */
static bool add_early(const struct finder *finder, struct retained_graphs *retained,
                      struct error *err)
{
    const struct retained_items *found = &finder->found;
    const struct timeline *timeline = found->timeline;
    stack_id later = STACK_NONE;
    for (size_t i = found->count; i-- > 0 && later == STACK_NONE;) {
        const struct retained_item *item = &found->items[i];
        if (item->forwards > 0 && retained_items_last_run(found, item) != NO_RUN)
            later = timeline->trace->stack[timeline->lifetimes[item->lifetime].alloc];
    }
    if (later != STACK_NONE &&
        !early_graph_mark(&retained->early, finder->is_held, later, timeline, found->sites,
                          found->categories, found->phases, found->is_dropped, err))
        return false;
    retained->at_peak_bytes += retained->early.at_peak_bytes;
    return true;
}

/* Measures what counts at the peak, and keeps the flags of that alone. */
static bool measure(struct finder *finder, struct retained_graphs *retained, struct error *err)
{
    const struct phases *phases = finder->found.phases;
    retained->in_backward_bytes = sum_in_backward(finder);
    sum_at_peak(finder, retained);
    struct early_saving saving = {0};
    if (!add_early(finder, retained, err))
        return false;
    if (retained->at_peak_bytes > 0 &&
        !early_ends_save(finder->found.timeline, finder->found.sites, finder->found.categories,
                         finder->is_held, finder->from, &saving, err))
        return false;
    retained->save_bytes = early_saving_bound(&saving, &retained->saves_at_most);
    for (size_t n = 0; n < phases->outliving_count; n++) {
        uint32_t index = phases->outliving[n];
        finder->is_held[index] = is_at_peak(finder, index);
    }
    return true;
}

bool retained_graphs_find(struct retained_graphs *retained, const struct timeline *timeline,
                          struct site_table *sites, const struct categories *categories,
                          const struct phases *phases, const uint8_t *is_dropped, struct error *err)
{
    struct retained_graphs made = {.budget = timeline->snapshot->budget};
    struct finder finder = {.found = {.timeline = timeline,
                                      .sites = sites,
                                      .categories = categories,
                                      .phases = phases,
                                      .is_dropped = is_dropped,
                                      .budget = made.budget}};
    bool ok = true;
    if (phases->has_stacks && phases_have(phases, PHASE_BACKWARD))
        ok = retained_items_find(&finder.found, err) && flag(&finder, err) &&
             measure(&finder, &made, err);
    retained_items_release(&finder.found);
    vec_free(finder.from, finder.from_capacity, sizeof(*finder.from), made.budget);
    made.is_retained = finder.is_held;
    made.capacity = finder.held_capacity;
    if (!ok || (made.at_peak_bytes == 0 && made.in_backward_bytes == 0))
        retained_graphs_release(&made);
    if (ok)
        *retained = made;
    return ok;
}

void retained_graphs_release(struct retained_graphs *retained)
{
    vec_free(retained->is_retained, retained->capacity, sizeof(*retained->is_retained),
             retained->budget);
    *retained = (struct retained_graphs){0};
}
