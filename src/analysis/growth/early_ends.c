#include "analysis/growth/early_ends.h"

#include <string.h>

#include "analysis/growth/call_results.h"
#include "model/curve_cursor.h"

#define NO_HELD UINT32_MAX

/* A cached tensor that may still be used. */
struct held {
    uint32_t lifetime;
    uint32_t next; /* NO_HELD if there is none */
};

/* The cache of keys and values that a stack makes anew, longer by a token, for each layer. */
struct cache {
    uint64_t size;       /* of its longest tensors so far */
    uint32_t now, older; /* the first of those, and of those before them */
};

struct tracker {
    const struct timeline *timeline;
    struct site_table *sites;
    const uint8_t *is_held;
    const uint32_t *from; /* by lifetime: the first item at which it can be free; NULL: any */
    const struct categories *categories;
    struct call_results *results;
    struct cache *caches; /* by stack */
    uint32_t casts;       /* the first of the copies of weights that autocast keeps */
    struct held *held;
    size_t held_count, next_lifetime;
    size_t cache_capacity, held_capacity, least_capacity, most_capacity;
    int64_t *least, *most; /* by item: change of the bytes that would be free already */
};

/* Ends a tensor right before an item, in one of the two changes. */
static void end_in(const struct tracker *tracker, int64_t *change, uint32_t index, size_t item)
{
    const struct lifetime *lifetime = &tracker->timeline->lifetimes[index];
    size_t count = tracker->timeline->trace->count;
    if (tracker->from && tracker->from[index] > item)
        item = tracker->from[index];
    if (item >= lifetime->free_completed || item >= count)
        return;
    int64_t size = (int64_t)trace_size(tracker->timeline->trace, lifetime->alloc);
    change[item] += size;
    if (lifetime->free_completed < count)
        change[lifetime->free_completed] -= size;
}

static void end_result(void *context, uint32_t lifetime, size_t item)
{
    const struct tracker *tracker = context;
    end_in(tracker, tracker->least, lifetime, item);
}

static void end_cached(const struct tracker *tracker, uint32_t first, size_t item)
{
    for (uint32_t i = first; i != NO_HELD; i = tracker->held[i].next) {
        end_in(tracker, tracker->least, tracker->held[i].lifetime, item);
        end_in(tracker, tracker->most, tracker->held[i].lifetime, item);
    }
}

/* Holds a tensor of a cache. The loop that generates holds it, not the call that receives it, and
 * the layers take turns in making the next ones. So those of two tokens count as needed. */
static void hold_cache(struct tracker *tracker, uint32_t lifetime, stack_id stack, size_t item)
{
    uint32_t index = (uint32_t)tracker->held_count++;
    uint64_t size = trace_size(tracker->timeline->trace, (uint32_t)item);
    struct cache *cache = &tracker->caches[stack];
    if (size > cache->size) {
        end_cached(tracker, cache->older, item + 1);
        cache->older = cache->now;
    } else if (size < cache->size) {
        cache->older = NO_HELD;
    }
    tracker->held[index] =
        (struct held){.lifetime = lifetime, .next = size == cache->size ? cache->now : NO_HELD};
    cache->now = index;
    cache->size = size;
}

/* Holds a copy of a weight that autocast makes. Until its region ends, autocast keeps the copy for
 * other calls, with or without a graph. */
static void hold_cast(struct tracker *tracker, uint32_t lifetime)
{
    uint32_t index = (uint32_t)tracker->held_count++;
    tracker->held[index] = (struct held){.lifetime = lifetime, .next = tracker->casts};
    tracker->casts = index;
}

/* Ends the copies of weights if autocast drops its own at an item. It shows by those that no graph
 * holds, such as copies of biases. */
static void end_casts(struct tracker *tracker, stack_id stack, size_t item)
{
    struct error err; /* if memory runs out, the copies count as needed */
    if (tracker->casts == NO_HELD)
        return;
    const struct stack_facts *facts = site_stack_facts(tracker->sites, stack, &err);
    if (!facts || !facts->ends_autocast)
        return;
    end_cached(tracker, tracker->casts, item);
    tracker->casts = NO_HELD;
}

/* Holds what an item has allocated. */
static void hold(struct tracker *tracker, uint32_t lifetime, stack_id stack, size_t item)
{
    switch (tracker->categories->of_lifetime[lifetime]) {
    case CATEGORY_KV_CACHE:
        hold_cache(tracker, lifetime, stack, item);
        break;
    case CATEGORY_CAST_CACHE:
        hold_cast(tracker, lifetime);
        break;
    default:
        end_in(tracker, tracker->most, lifetime, item + 1);
        call_results_add(tracker->results, lifetime);
    }
}

static void track(struct tracker *tracker)
{
    const struct timeline *timeline = tracker->timeline;
    const struct trace *trace = timeline->trace;
    const struct symbols *symbols = site_table_symbols(tracker->sites);
    for (size_t item = 0; item < trace->count; item++) {
        stack_id id = trace->stack[item];
        if (id == STACK_NONE)
            continue;
        struct stack stack = symbols_stack_at(symbols, id);
        bool allocates = trace->action[item] == ACTION_ALLOC;
        call_results_follow(tracker->results, &stack, item, allocates);
        if (!allocates) {
            end_casts(tracker, id, item);
            continue;
        }
        while (tracker->next_lifetime < timeline->lifetime_count &&
               timeline->lifetimes[tracker->next_lifetime].alloc < item)
            tracker->next_lifetime++;
        size_t index = tracker->next_lifetime;
        if (index < timeline->lifetime_count && timeline->lifetimes[index].alloc == item &&
            tracker->is_held[index])
            hold(tracker, (uint32_t)index, id, item);
    }
}

/* How much lower the highest value of the active curve is without what would be free already. */
static int64_t saved(const struct tracker *tracker, const int64_t *change)
{
    struct curve_cursor cursor = curve_cursor_begin(tracker->timeline);
    int64_t early = 0, peak = cursor.active;
    for (size_t item = 0; item < cursor.trace->count; item++) {
        int64_t active = curve_cursor_step(&cursor);
        early += change[item];
        peak = active - early > peak ? active - early : peak;
    }
    return tracker->timeline->active.peak_bytes - peak;
}

static bool make_room(struct tracker *tracker, struct budget *budget, struct error *err)
{
    size_t stacks = symbols_stack_count(site_table_symbols(tracker->sites));
    size_t items = tracker->timeline->trace->count, held = 0;
    for (size_t i = 0; i < tracker->timeline->lifetime_count; i++)
        held += tracker->is_held[i];
    tracker->results = call_results_create(tracker->sites, held, end_result, tracker, budget, err);
    if (!tracker->results ||
        !vec_reserve(tracker->caches, tracker->cache_capacity, stacks, budget, err) ||
        !vec_reserve(tracker->held, tracker->held_capacity, held + 1, budget, err) ||
        !vec_reserve(tracker->least, tracker->least_capacity, items + 1, budget, err) ||
        !vec_reserve(tracker->most, tracker->most_capacity, items + 1, budget, err))
        return false;
    for (size_t i = 0; i < stacks; i++)
        tracker->caches[i] = (struct cache){.now = NO_HELD, .older = NO_HELD};
    memset(tracker->least, 0, (items + 1) * sizeof(*tracker->least));
    memset(tracker->most, 0, (items + 1) * sizeof(*tracker->most));
    return true;
}

bool early_ends_save(const struct timeline *timeline, struct site_table *sites,
                     const struct categories *categories, const uint8_t *is_held,
                     const uint32_t *from, struct early_saving *saving, struct error *err)
{
    struct tracker tracker = {.timeline = timeline,
                              .sites = sites,
                              .is_held = is_held,
                              .from = from,
                              .categories = categories,
                              .casts = NO_HELD};
    struct budget *budget = timeline->snapshot->budget;
    bool ok = make_room(&tracker, budget, err);
    if (ok) {
        track(&tracker);
        *saving = (struct early_saving){.least_bytes = saved(&tracker, tracker.least),
                                        .most_bytes = saved(&tracker, tracker.most)};
    }
    call_results_destroy(tracker.results);
    vec_free(tracker.caches, tracker.cache_capacity, sizeof(*tracker.caches), budget);
    vec_free(tracker.held, tracker.held_capacity, sizeof(*tracker.held), budget);
    vec_free(tracker.least, tracker.least_capacity, sizeof(*tracker.least), budget);
    vec_free(tracker.most, tracker.most_capacity, sizeof(*tracker.most), budget);
    return ok;
}

int64_t early_saving_bound(const struct early_saving *saving, bool *is_most)
{
    *is_most = saving->least_bytes < saving->most_bytes / 3;
    return *is_most ? saving->most_bytes : saving->least_bytes;
}
