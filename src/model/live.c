#include "model/live.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/buffer.h"

const struct edge_allocation *live_edge(const struct timeline *timeline, const struct live *live)
{
    const struct window_edge *edge = &timeline->trace->edge;
    uint64_t event = timeline->preexisting[live->index].edge_event;
    const struct edge_allocation *held = edge->held;
    return &held[bisect_less_64(&held->event, sizeof(*held), edge->held_count, event)];
}

const struct event_extra *live_extra(const struct timeline *timeline, const struct live *live)
{
    const struct snapshot *snapshot = timeline->snapshot;
    uint32_t extra = UINT32_MAX;
    if (live->in_trace)
        extra = trace_extra(timeline->trace, timeline->lifetimes[live->index].alloc);
    else if (timeline->preexisting[live->index].origin == ORIGIN_EDGE)
        extra = live_edge(timeline, live)->extra;
    return extra < snapshot->extra_count ? &snapshot->extras[extra] : NULL;
}

stack_id live_forward_stack(const struct timeline *timeline, const struct live *live)
{
    if (!live->in_trace && timeline->preexisting[live->index].origin == ORIGIN_BLOCK)
        return timeline->preexisting[live->index].forward_stack;
    const struct event_extra *extra = live_extra(timeline, live);
    return extra ? extra->forward_stack : STACK_NONE;
}

static int by_allocation(const void *a, const void *b)
{
    const struct note *x = a, *y = b;
    if (x->in_trace != y->in_trace)
        return x->in_trace ? 1 : -1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

void live_notes_sort(struct timeline *timeline)
{
    if (timeline->note_count > 0)
        qsort(timeline->notes, timeline->note_count, sizeof(*timeline->notes), by_allocation);
}

/* The annotations of an allocation, oldest first. `*count` may be 0. */
static const struct note *notes_of(const struct timeline *timeline, const struct live *live,
                                   size_t *count)
{
    const struct note from = {.in_trace = live->in_trace, .index = live->index, .event = 0};
    size_t low = 0, high = timeline->note_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_allocation(&timeline->notes[middle], &from) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < timeline->note_count && timeline->notes[end].in_trace == live->in_trace &&
           timeline->notes[end].index == live->index)
        end++;
    *count = end - low;
    return *count > 0 ? &timeline->notes[low] : NULL;
}

#define TEXTS_MOST 8

static bool is_among(const string_id *texts, size_t count, string_id text)
{
    for (size_t i = 0; i < count; i++)
        if (texts[i] == text)
            return true;
    return false;
}

bool live_note_text(const struct timeline *timeline, const struct live *live, string_id *text,
                    struct error *err)
{
    struct symbols *symbols = timeline->snapshot->symbols;
    string_id texts[TEXTS_MOST];
    size_t count, distinct = 0;
    const struct note *notes = notes_of(timeline, live, &count);
    struct buffer joined = BUFFER_INIT;
    *text = count > 0 ? notes[0].text : STRING_EMPTY;
    for (size_t i = 0; i < count; i++) {
        if (is_among(texts, distinct, notes[i].text))
            continue;
        if (distinct == TEXTS_MOST) {
            buffer_puts(&joined, "; ...");
            break;
        }
        struct text part = symbols_text(symbols, notes[i].text);
        if (distinct > 0)
            buffer_puts(&joined, "; ");
        buffer_add(&joined, part.bytes, part.size);
        texts[distinct++] = notes[i].text;
    }
    bool ok = !joined.failed || error_out_of_memory(err);
    if (ok && distinct > 1)
        ok = symbols_string(symbols, joined.bytes, joined.size, text, err);
    buffer_release(&joined);
    return ok;
}
