#include "model/layout_segments.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "model/layout.h"

/* A claim about some bytes. If several ranges name a byte, the one of the lowest rank decides: the
 * first event after the moment, or the dump if there is none. */
struct range {
    struct reserved_piece piece; /* piece.source is the rank */
    bool is_mapped;
};

struct ranges {
    struct range *items;
    size_t count, capacity;
};

static bool add_range(struct ranges *ranges, const struct range *range, struct budget *budget,
                      struct error *err)
{
    if (range->piece.end <= range->piece.start)
        return true;
    if (!vec_reserve(ranges->items, ranges->capacity, ranges->count + 1, budget, err))
        return false;
    ranges->items[ranges->count] = *range;
    ranges->items[ranges->count].piece.source = (uint32_t)ranges->count;
    ranges->count++;
    return true;
}

static uint64_t end_of(uint64_t start, uint64_t size)
{
    uint64_t end;
    return __builtin_add_overflow(start, size, &end) ? UINT64_MAX : end;
}

static bool is_segment_event(uint8_t action)
{
    return action == ACTION_SEGMENT_ALLOC || action == ACTION_SEGMENT_FREE ||
           action == ACTION_SEGMENT_MAP || action == ACTION_SEGMENT_UNMAP;
}

static bool add_events(const struct timeline *timeline, int64_t item, struct ranges *ranges,
                       struct error *err)
{
    const struct snapshot *snapshot = timeline->snapshot;
    const struct trace *trace = timeline->trace;
    for (size_t i = (size_t)(item + 1); i < trace->count; i++) {
        uint8_t action = trace->action[i];
        if (!is_segment_event(action))
            continue;
        const struct event_extra *extra = &snapshot->extras[trace_extra(trace, i)];
        bool is_expandable = action == ACTION_SEGMENT_MAP || action == ACTION_SEGMENT_UNMAP;
        struct range range = {
            .is_mapped = action == ACTION_SEGMENT_FREE || action == ACTION_SEGMENT_UNMAP,
            .piece = {.start = trace_addr(trace, i),
                      .end = end_of(trace_addr(trace, i), trace_size(trace, i)),
                      .is_expandable = is_expandable,
                      .stream = extra->stream,
                      .pool = {extra->pool[0], extra->pool[1]}},
        };
        /* The large pool has no segments this small. */
        if (!is_expandable)
            range.piece.class =
                trace_size(trace, i) <= ALLOCATOR_SMALL_SEGMENT ? CLASS_SMALL : CLASS_LARGE;
        if (!add_range(ranges, &range, snapshot->budget, err))
            return false;
    }
    return true;
}

struct dump_ranges {
    struct ranges *ranges;
    struct budget *budget;
};

static bool add_segment(void *self, const struct layout_segment *segment, struct error *err)
{
    const struct dump_ranges *dump = self;
    struct range range = {
        .is_mapped = true,
        .piece = {.start = segment->address,
                  .end = end_of(segment->address, segment->size),
                  .is_expandable = segment->is_expandable,
                  .class = segment->is_small ? CLASS_SMALL : CLASS_LARGE,
                  .stream = segment->stream,
                  .pool = {segment->pool[0], segment->pool[1]}},
    };
    return add_range(dump->ranges, &range, dump->budget, err);
}

static int by_start(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->piece.start != y->piece.start)
        return x->piece.start < y->piece.start ? -1 : 1;
    return (x->piece.source > y->piece.source) - (x->piece.source < y->piece.source);
}

/* The ranges that cover the current bytes; the one that decides is on top. */
struct heap {
    const struct range **items;
    size_t count;
};

static bool comes_first(const struct range *a, const struct range *b)
{
    return a->piece.source < b->piece.source;
}

static void heap_push(struct heap *heap, const struct range *range)
{
    size_t i = heap->count++;
    while (i > 0 && comes_first(range, heap->items[(i - 1) / 2])) {
        heap->items[i] = heap->items[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap->items[i] = range;
}

static void heap_pop(struct heap *heap)
{
    const struct range *last = heap->items[--heap->count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && comes_first(heap->items[child + 1], heap->items[child]))
            child++;
        if (!comes_first(heap->items[child], last))
            break;
        heap->items[i] = heap->items[child];
        i = child;
    }
    heap->items[i] = last;
}

/* Adjacent stretches are joined if they are of one segment, or if both are expandable. */
static bool joins(const struct reserved_piece *before, const struct reserved_piece *next)
{
    if (before->end != next->start)
        return false;
    if (before->source == next->source)
        return true;
    return before->is_expandable && next->is_expandable && before->stream == next->stream &&
           before->pool[0] == next->pool[0] && before->pool[1] == next->pool[1] &&
           (before->class == next->class || before->class == CLASS_UNKNOWN ||
            next->class == CLASS_UNKNOWN);
}

static bool add_piece(struct reserved_pieces *pieces, const struct reserved_piece *piece,
                      struct error *err)
{
    struct reserved_piece *last = pieces->count > 0 ? &pieces->items[pieces->count - 1] : NULL;
    if (last && joins(last, piece)) {
        last->end = piece->end;
        if (last->class == CLASS_UNKNOWN)
            last->class = piece->class;
        return true;
    }
    return vec_push(pieces->items, pieces->count, pieces->capacity, pieces->budget, err, *piece);
}

/* Goes from boundary to boundary, with all ranges sorted by start. */
static bool sweep(const struct ranges *ranges, struct heap *heap, struct reserved_pieces *pieces,
                  struct error *err)
{
    size_t next = 0;
    uint64_t at = 0;
    while (next < ranges->count || heap->count > 0) {
        if (heap->count > 0 && heap->items[0]->piece.end <= at) {
            heap_pop(heap);
            continue;
        }
        if (heap->count == 0 && next < ranges->count && ranges->items[next].piece.start > at)
            at = ranges->items[next].piece.start;
        while (next < ranges->count && ranges->items[next].piece.start <= at)
            heap_push(heap, &ranges->items[next++]);
        if (heap->count == 0 || heap->items[0]->piece.end <= at)
            continue;
        const struct range *top = heap->items[0];
        struct reserved_piece piece = top->piece;
        piece.start = at;
        if (next < ranges->count && ranges->items[next].piece.start < piece.end)
            piece.end = ranges->items[next].piece.start;
        at = piece.end;
        if (top->is_mapped && !add_piece(pieces, &piece, err))
            return false;
    }
    return true;
}

bool reserved_pieces_make(const struct timeline *timeline, int64_t item,
                          struct reserved_pieces *pieces, struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct ranges ranges = {0};
    struct heap heap = {0};
    size_t heap_capacity = 0;
    struct reserved_pieces made = {.budget = budget};
    struct dump_ranges dump = {&ranges, budget};
    const struct layout_visitor visitor = {&dump, add_segment};
    bool ok = add_events(timeline, item, &ranges, err) &&
              layout_of_dump(timeline->snapshot, timeline->device, &visitor, err) &&
              vec_reserve(heap.items, heap_capacity, ranges.count, budget, err);
    if (ok && ranges.count > 0)
        qsort(ranges.items, ranges.count, sizeof(*ranges.items), by_start);
    ok = ok && sweep(&ranges, &heap, &made, err);
    vec_free((void *)heap.items, heap_capacity, sizeof(heap.items[0]), budget);
    vec_free(ranges.items, ranges.capacity, sizeof(*ranges.items), budget);
    if (!ok) {
        reserved_pieces_release(&made);
        return false;
    }
    *pieces = made;
    return true;
}

const struct reserved_piece *reserved_piece_at(const struct reserved_pieces *pieces, uint64_t addr)
{
    const struct reserved_piece *items = pieces->items;
    if (pieces->count == 0)
        return NULL;
    size_t i = bisect_less_64(&items->start, sizeof(*items), pieces->count, addr);
    if (i == pieces->count || items[i].start != addr) {
        if (i == 0)
            return NULL;
        i--;
    }
    return addr < items[i].end ? &items[i] : NULL;
}

void reserved_pieces_release(struct reserved_pieces *pieces)
{
    vec_free(pieces->items, pieces->capacity, sizeof(*pieces->items), pieces->budget);
    *pieces = (struct reserved_pieces){.budget = pieces->budget};
}

static enum span_state state_of(const struct block_row *block)
{
    switch (block->state) {
    case BLOCK_ACTIVE_ALLOCATED:
        return SPAN_ALLOCATED;
    case BLOCK_ACTIVE_PENDING_FREE:
        return SPAN_PENDING;
    case BLOCK_INACTIVE:
        break;
    }
    return SPAN_HOLE;
}

static bool is_small_type(const struct snapshot *snapshot, const struct segment *segment)
{
    struct text type = symbols_text(snapshot->symbols, segment->segment_type);
    return type.size > 0 && type.bytes[0] == 's';
}

static struct layout_segment describe(const struct snapshot *snapshot,
                                      const struct segment *segment)
{
    return (struct layout_segment){
        .address = segment->address,
        .size = segment->total_size,
        .stream = segment->stream,
        .pool = {segment->pool[0], segment->pool[1]},
        .is_small = is_small_type(snapshot, segment),
        .is_expandable = segment->is_expandable,
    };
}

bool layout_of_dump(const struct snapshot *snapshot, uint32_t device,
                    const struct layout_visitor *visitor, struct error *err)
{
    struct layout_span *spans = NULL;
    size_t capacity = 0;
    bool ok = true;
    for (size_t s = 0; ok && s < snapshot->segment_count; s++) {
        const struct segment *segment = &snapshot->segments[s];
        if (segment->device != device)
            continue;
        ok = vec_reserve(spans, capacity, segment->block_count, snapshot->budget, err);
        for (size_t b = 0; ok && b < segment->block_count; b++) {
            const struct block_row *block = &snapshot->blocks[segment->first_block + b];
            enum span_state state = state_of(block);
            spans[b] = (struct layout_span){
                .addr = block->address,
                .size = block->size,
                .requested = state == SPAN_HOLE ? 0 : block->requested_size,
                .owner = segment->first_block + b,
                .state = state,
            };
        }
        struct layout_segment described = describe(snapshot, segment);
        described.spans = spans;
        described.span_count = segment->block_count;
        ok = ok && visitor->segment(visitor->self, &described, err);
    }
    vec_free(spans, capacity, sizeof(*spans), snapshot->budget);
    return ok;
}
