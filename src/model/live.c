#include "model/live.h"

#include "base/bisect.h"

/* The index of the extra of an allocation from before the range, or UINT32_MAX. */
static uint32_t extra_of_edge(const struct window_edge *edge, uint64_t event)
{
    const struct edge_allocation *held = edge->held;
    size_t count = held ? edge->held_count : 0;
    size_t at = count ? bisect_less_64(&held->event, sizeof(*held), count, event) : 0;
    return at < count && held[at].event == event ? held[at].extra : UINT32_MAX;
}

const struct event_extra *live_extra(const struct timeline *timeline, const struct live *live)
{
    const struct snapshot *snapshot = timeline->snapshot;
    uint32_t extra = UINT32_MAX;
    if (live->in_trace)
        extra = trace_extra(timeline->trace, timeline->lifetimes[live->index].alloc);
    else if (timeline->preexisting[live->index].origin == ORIGIN_EDGE)
        extra =
            extra_of_edge(&timeline->trace->edge, timeline->preexisting[live->index].edge_event);
    return extra < snapshot->extra_count ? &snapshot->extras[extra] : NULL;
}

stack_id live_forward_stack(const struct timeline *timeline, const struct live *live)
{
    if (!live->in_trace && timeline->preexisting[live->index].origin == ORIGIN_BLOCK)
        return timeline->preexisting[live->index].forward_stack;
    const struct event_extra *extra = live_extra(timeline, live);
    return extra ? extra->forward_stack : STACK_NONE;
}
