#include <inttypes.h>

#include "base/bisect.h"
#include "model/device.h"
#include "model/sums.h"
#include "model/timeline.h"

/* timeline_build checked that no intermediate value exceeds 64 bits. */
void timeline_moment(const struct timeline *timeline, int64_t item, struct moment *moment)
{
    const struct trace *trace = timeline->trace;
    int64_t active = timeline->active.baseline_bytes;
    int64_t allocated = timeline->allocated.baseline_bytes;
    int64_t reserved = timeline->reserved.start_bytes;
    const struct trace_signs signs = trace_active_signs(trace);
    uint8_t birth = trace->birth, request = trace->request;
    size_t count = item < 0 ? 0 : (uint64_t)item < trace->count ? (size_t)item + 1 : trace->count;
    for (size_t i = 0; i < count; i++) {
        int64_t size = (int64_t)trace_size(trace, i);
        uint8_t action = trace->action[i];
        active += signs.of[action] * size;
        allocated += action == request ? -size : action == birth ? size : 0;
        switch (action) {
        case ACTION_SEGMENT_ALLOC:
        case ACTION_SEGMENT_MAP:
            reserved += size;
            break;
        case ACTION_SEGMENT_FREE:
        case ACTION_SEGMENT_UNMAP:
            reserved -= size;
            break;
        default:
            break;
        }
    }
    *moment = (struct moment){.item = (int64_t)count - 1,
                              .active_bytes = active,
                              .allocated_bytes = allocated,
                              .reserved_bytes = reserved};
}

static bool item_of_event(const struct timeline *timeline, int64_t event, int64_t *item,
                          struct error *err)
{
    const struct trace *trace = timeline->trace;
    if (trace->count == 0)
        return error_set(err, STATUS_USAGE, "%s has no events", DEVICE_WORDS(timeline->device));
    uint64_t last = trace->first_event + trace->count - 1;
    if (event < 0 || (uint64_t)event < trace->first_event || (uint64_t)event > last)
        return error_set(err, STATUS_USAGE,
                         "event %" PRId64 " is not among the events %" PRIu64 " to %" PRIu64
                         " of %s",
                         event, trace->first_event, last, DEVICE_WORDS(timeline->device));
    *item = (int64_t)trace_item(trace, (uint64_t)event);
    return true;
}

/* The range of the times in the trace, and the time that offsets count from. */
struct span {
    bool any;
    int64_t origin, earliest, latest;
};

static struct span time_span(const struct trace *trace)
{
    struct span span = {0};
    for (size_t i = 0; i < trace->count; i++) {
        int64_t time = trace_time(trace, i);
        if (time == TIME_NONE)
            continue;
        if (!span.any)
            span = (struct span){true, time, time, time};
        span.earliest = time < span.earliest ? time : span.earliest;
        span.latest = time > span.latest ? time : span.latest;
    }
    if (trace->edge.present)
        span.origin = trace->edge.first_time_us;
    return span;
}

static int64_t clamped_difference(int64_t a, int64_t b)
{
    int64_t result;
    if (__builtin_sub_overflow(a, b, &result))
        return a < b ? INT64_MIN : INT64_MAX;
    return result;
}

static bool outside(const struct timeline *timeline, struct point point, const struct span *span,
                    struct error *err)
{
    int64_t from = span->earliest, to = span->latest;
    char wanted[UNITS_TEXT_SIZE], begins[UNITS_TEXT_SIZE], ends[UNITS_TEXT_SIZE];
    if (point.kind == POINT_OFFSET) {
        from = clamped_difference(from, span->origin);
        to = clamped_difference(to, span->origin);
    }
    return error_set(err, STATUS_USAGE, "%s lies outside the events of %s, which run from %s to %s",
                     point_text(wanted, point.kind, point.value), DEVICE_WORDS(timeline->device),
                     point_text(begins, point.kind, from), point_text(ends, point.kind, to));
}

static bool item_at_time(const struct timeline *timeline, struct point point, int64_t *item,
                         struct error *err)
{
    const struct trace *trace = timeline->trace;
    if (trace->count == 0)
        return error_set(err, STATUS_USAGE, "%s has no events", DEVICE_WORDS(timeline->device));
    struct span span = time_span(trace);
    if (!span.any)
        return error_set(err, STATUS_USAGE,
                         "the events of %s carry no time: give an event number from "
                         "%" PRIu64 " to %" PRIu64,
                         DEVICE_WORDS(timeline->device), trace->first_event,
                         trace->first_event + trace->count - 1);
    int64_t wanted = point.value;
    if ((point.kind == POINT_OFFSET && __builtin_add_overflow(span.origin, point.value, &wanted)) ||
        wanted < span.earliest || wanted > span.latest)
        return outside(timeline, point, &span, err);
    size_t i = trace->count;
    do
        i--;
    while (trace_time(trace, i) == TIME_NONE || trace_time(trace, i) > wanted);
    *item = (int64_t)i;
    return true;
}

bool timeline_item_at(const struct timeline *timeline, struct point point, int64_t *item,
                      struct error *err)
{
    switch (point.kind) {
    case POINT_EVENT:
        return item_of_event(timeline, point.value, item, err);
    case POINT_OFFSET:
    case POINT_TIME:
        return item_at_time(timeline, point, item, err);
    case POINT_OPEN:
        break;
    }
    *item = (int64_t)timeline->trace->count - 1;
    return true;
}

/* Writes the live allocations to `list`, or only counts them if it is NULL. */
static size_t list_live(const struct timeline *timeline, int64_t item, struct live *list)
{
    size_t count = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        if (!preexisting->in_active || (int64_t)preexisting->free_completed <= item)
            continue;
        if (list)
            list[count] = live_of_preexisting(timeline, i);
        count++;
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if ((int64_t)lifetime->alloc > item)
            break;
        if ((int64_t)lifetime->free_completed <= item)
            continue;
        if (list)
            list[count] = live_of_lifetime(timeline, i);
        count++;
    }
    return count;
}

/* The sum of the list is the curve plus the size differences of frees that do not match their
 * alloc. It may exceed 64 bits even if the curve does not. */
static bool sum_up(const struct timeline *timeline, int64_t curve, struct live_list *list,
                   struct error *err)
{
    int64_t sum = 0;
    bool fits = true;
    for (size_t i = 0; fits && i < list->count; i++)
        fits = sum_add(&sum, list->items[i].size);
    if (!fits || __builtin_sub_overflow(curve, sum, &list->unexplained_bytes))
        return error_set(err, STATUS_BAD_INPUT,
                         "the sizes of live allocations on %s add up to 2^62 bytes and more",
                         DEVICE_WORDS(timeline->device));
    return true;
}

bool timeline_live(const struct timeline *timeline, int64_t item, struct live_list *list,
                   struct error *err)
{
    struct live_list made = {.budget = timeline->snapshot->budget};
    struct moment moment;
    timeline_moment(timeline, item, &moment);
    made.count = list_live(timeline, moment.item, NULL);
    if (!vec_reserve(made.items, made.capacity, made.count + 1, made.budget, err))
        return false;
    list_live(timeline, moment.item, made.items);
    if (!sum_up(timeline, moment.active_bytes, &made, err)) {
        live_list_release(&made);
        return false;
    }
    *list = made;
    return true;
}

stack_id timeline_stack(const struct timeline *timeline, size_t index)
{
    stack_id stack = timeline->trace->stack[timeline->lifetimes[index].alloc];
    const struct block_stack *stacks = timeline->block_stacks;
    size_t count = timeline->block_stack_count;
    if (stack != STACK_NONE || count == 0)
        return stack;
    size_t at = bisect_less(&stacks->lifetime, sizeof(*stacks), count, (uint32_t)index);
    return at < count && stacks[at].lifetime == index ? stacks[at].stack : STACK_NONE;
}

void live_list_release(struct live_list *list)
{
    vec_free(list->items, list->capacity, sizeof(*list->items), list->budget);
    *list = (struct live_list){0};
}
