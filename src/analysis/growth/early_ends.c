#include "analysis/growth/early_ends.h"

#include <string.h>

#include "analysis/code/paths.h"
#include "model/curve_cursor.h"

#define LEVELS  512 /* of Python calls; deeper calls count as the deepest */
#define NO_HELD UINT32_MAX

/* A tensor that the program holds and may still use. */
struct held {
    uint32_t lifetime;
    uint32_t next_in_call, next_of_stack; /* NO_HELD if there is none */
    bool is_over;
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
    frame_id path[LEVELS]; /* the Python calls in progress, the outermost first */
    size_t depth;
    uint32_t in_call[LEVELS]; /* by level: the first of the tensors that the call has received */
    uint32_t *of_stack;       /* by stack: the first of the tensors that its latest turn made */
    struct cache *caches;     /* by stack */
    uint32_t casts;           /* the first of the copies of weights that autocast keeps */
    stack_id latest;          /* the stack of the latest allocation */
    struct held *held;
    size_t held_count, next_lifetime;
    size_t of_stack_capacity, cache_capacity, held_capacity, change_capacity;
    int64_t *change; /* by item: change of the bytes that would be free already */
};

static bool same_function(const struct symbols *symbols, frame_id a, frame_id b)
{
    if (a == b)
        return true;
    struct frame x = symbols_frame_at(symbols, a), y = symbols_frame_at(symbols, b);
    return x.file == y.file && x.name == y.name;
}

/* Ends a tensor right before an item. */
static void end_at(struct tracker *tracker, uint32_t index, size_t item)
{
    struct held *held = &tracker->held[index];
    const struct lifetime *lifetime = &tracker->timeline->lifetimes[held->lifetime];
    size_t count = tracker->timeline->trace->count;
    if (held->is_over)
        return;
    held->is_over = true;
    if (tracker->from && tracker->from[held->lifetime] > item)
        item = tracker->from[held->lifetime];
    if (item >= lifetime->free_completed || item >= count)
        return;
    int64_t size = (int64_t)trace_size(tracker->timeline->trace, lifetime->alloc);
    tracker->change[item] += size;
    if (lifetime->free_completed < count)
        tracker->change[lifetime->free_completed] -= size;
}

static void end_calls(struct tracker *tracker, size_t from, size_t item)
{
    for (size_t level = from; level < tracker->depth; level++) {
        for (uint32_t i = tracker->in_call[level]; i != NO_HELD; i = tracker->held[i].next_in_call)
            end_at(tracker, i, item);
        tracker->in_call[level] = NO_HELD;
    }
}

/* Follows the calls and returns between the last event and this one. Stacks without Python are of
 * other threads and change nothing. */
static void follow(struct tracker *tracker, const struct stack *stack, size_t item)
{
    const struct symbols *symbols = site_table_symbols(tracker->sites);
    size_t level = 0;
    bool same = true;
    for (size_t i = stack->count; i-- > 0 && level < LEVELS;) {
        if (site_frame_kind(tracker->sites, stack->frames[i]) == FRAME_NATIVE)
            continue;
        if (same && level < tracker->depth &&
            !same_function(symbols, tracker->path[level], stack->frames[i])) {
            same = false;
            end_calls(tracker, level, item);
            tracker->depth = level;
        }
        if (level >= tracker->depth)
            tracker->in_call[level] = NO_HELD;
        tracker->path[level++] = stack->frames[i];
        if (level > tracker->depth)
            tracker->depth = level;
    }
    if (level == 0)
        return;
    end_calls(tracker, level, item);
    tracker->depth = level;
}

/* The level of the call that receives what the stack in tracker->path allocates. */
static size_t receiver(const struct tracker *tracker)
{
    const struct symbols *symbols = site_table_symbols(tracker->sites);
    size_t level = tracker->depth - 1;
    int forwards = 0;
    for (size_t i = tracker->depth; i-- > 0 && forwards < 2;) {
        struct frame frame = symbols_frame_at(symbols, tracker->path[i]);
        if (!text_equals(symbols_text(symbols, frame.name), "forward"))
            continue;
        level = i;
        forwards++;
    }
    return level;
}

/* Ends the tensors that the same stack made in its previous turn. */
static void end_turn(struct tracker *tracker, stack_id stack, size_t item)
{
    if (stack != tracker->latest) {
        for (uint32_t i = tracker->of_stack[stack]; i != NO_HELD;
             i = tracker->held[i].next_of_stack)
            end_at(tracker, i, item + 1);
        tracker->of_stack[stack] = NO_HELD;
    }
    tracker->latest = stack;
}

static void hold(struct tracker *tracker, uint32_t lifetime, stack_id stack)
{
    uint32_t index = (uint32_t)tracker->held_count++;
    size_t level = receiver(tracker);
    tracker->held[index] = (struct held){.lifetime = lifetime,
                                         .next_in_call = tracker->in_call[level],
                                         .next_of_stack = tracker->of_stack[stack]};
    tracker->in_call[level] = index;
    tracker->of_stack[stack] = index;
}

/* Holds a tensor of a cache. The loop that generates holds it, not the call that receives it, and
 * the layers take turns in making the next ones. So those of two tokens count as needed. */
static void hold_cache(struct tracker *tracker, uint32_t lifetime, stack_id stack, size_t item)
{
    uint32_t index = (uint32_t)tracker->held_count++;
    uint64_t size = trace_size(tracker->timeline->trace, (uint32_t)item);
    struct cache *cache = &tracker->caches[stack];
    if (size > cache->size) {
        for (uint32_t i = cache->older; i != NO_HELD; i = tracker->held[i].next_of_stack)
            end_at(tracker, i, item + 1);
        cache->older = cache->now;
    } else if (size < cache->size) {
        cache->older = NO_HELD;
    }
    tracker->held[index] = (struct held){
        .lifetime = lifetime, .next_of_stack = size == cache->size ? cache->now : NO_HELD};
    cache->now = index;
    cache->size = size;
}

/* Holds a copy of a weight that autocast makes. Until its region ends, autocast keeps the copy for
 * other calls, with or without a graph. */
static void hold_cast(struct tracker *tracker, uint32_t lifetime)
{
    uint32_t index = (uint32_t)tracker->held_count++;
    tracker->held[index] = (struct held){
        .lifetime = lifetime, .next_in_call = tracker->casts, .next_of_stack = NO_HELD};
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
    for (uint32_t i = tracker->casts; i != NO_HELD; i = tracker->held[i].next_in_call)
        end_at(tracker, i, item);
    tracker->casts = NO_HELD;
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
        follow(tracker, &stack, item);
        if (trace->action[item] != ACTION_ALLOC) {
            end_casts(tracker, id, item);
            continue;
        }
        end_turn(tracker, id, item);
        while (tracker->next_lifetime < timeline->lifetime_count &&
               timeline->lifetimes[tracker->next_lifetime].alloc < item)
            tracker->next_lifetime++;
        size_t index = tracker->next_lifetime;
        if (index == timeline->lifetime_count || timeline->lifetimes[index].alloc != item ||
            !tracker->is_held[index])
            continue;
        if (tracker->categories->of_lifetime[index] == CATEGORY_KV_CACHE)
            hold_cache(tracker, (uint32_t)index, id, item);
        else if (tracker->categories->of_lifetime[index] == CATEGORY_CAST_CACHE)
            hold_cast(tracker, (uint32_t)index);
        else if (tracker->depth > 0)
            hold(tracker, (uint32_t)index, id);
    }
}

/* The highest value of the active curve, without what would be free already. */
static int64_t lower_peak(const struct tracker *tracker)
{
    struct curve_cursor cursor = curve_cursor_begin(tracker->timeline);
    int64_t early = 0, peak = cursor.active;
    for (size_t item = 0; item < cursor.trace->count; item++) {
        int64_t active = curve_cursor_step(&cursor);
        early += tracker->change[item];
        peak = active - early > peak ? active - early : peak;
    }
    return peak;
}

static bool make_room(struct tracker *tracker, struct budget *budget, struct error *err)
{
    size_t stacks = symbols_stack_count(site_table_symbols(tracker->sites));
    size_t items = tracker->timeline->trace->count, held = 0;
    for (size_t i = 0; i < tracker->timeline->lifetime_count; i++)
        held += tracker->is_held[i];
    if (!vec_reserve(tracker->of_stack, tracker->of_stack_capacity, stacks, budget, err) ||
        !vec_reserve(tracker->caches, tracker->cache_capacity, stacks, budget, err) ||
        !vec_reserve(tracker->held, tracker->held_capacity, held + 1, budget, err) ||
        !vec_reserve(tracker->change, tracker->change_capacity, items + 1, budget, err))
        return false;
    memset(tracker->of_stack, 0xFF, stacks * sizeof(*tracker->of_stack));
    for (size_t i = 0; i < stacks; i++)
        tracker->caches[i] = (struct cache){.now = NO_HELD, .older = NO_HELD};
    memset(tracker->change, 0, (items + 1) * sizeof(*tracker->change));
    return true;
}

bool early_ends_save(const struct timeline *timeline, struct site_table *sites,
                     const struct categories *categories, const uint8_t *is_held,
                     const uint32_t *from, int64_t *save_bytes, struct error *err)
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
        *save_bytes = timeline->active.peak_bytes - lower_peak(&tracker);
    }
    vec_free(tracker.of_stack, tracker.of_stack_capacity, sizeof(*tracker.of_stack), budget);
    vec_free(tracker.caches, tracker.cache_capacity, sizeof(*tracker.caches), budget);
    vec_free(tracker.held, tracker.held_capacity, sizeof(*tracker.held), budget);
    vec_free(tracker.change, tracker.change_capacity, sizeof(*tracker.change), budget);
    return ok;
}
