#include "model/layout.h"

#include "model/layout_blocks.h"

/* Iterates over the segments, with the spans of the current one. */
struct walk {
    const struct layout_visitor *visitor;
    const struct placed_blocks *blocks;
    size_t next; /* index of the next block */
    struct layout_span *spans;
    size_t count, capacity;
    struct layout_doubts *doubts;
};

static bool add_span(struct walk *walk, struct layout_span span, struct error *err)
{
    return vec_push(walk->spans, walk->count, walk->capacity, walk->blocks->budget, err, span);
}

static bool add_hole(struct walk *walk, uint64_t from, uint64_t to, struct error *err)
{
    return from >= to ||
           add_span(walk, (struct layout_span){.addr = from, .size = to - from, .state = SPAN_HOLE},
                    err);
}

static void add_stray(struct layout_doubts *doubts, uint64_t requested)
{
    doubts->stray_blocks++;
    if (__builtin_add_overflow(doubts->stray_bytes, requested, &doubts->stray_bytes))
        doubts->stray_bytes = UINT64_MAX;
}

static bool fill(struct walk *walk, const struct reserved_piece *piece, size_t index,
                 struct error *err)
{
    uint64_t at = piece->start;
    walk->count = 0;
    for (; walk->next < walk->blocks->count; walk->next++) {
        const struct placed_block *block = &walk->blocks->items[walk->next];
        if (block->piece == NO_PIECE) {
            if (block->addr >= piece->end)
                break;
            add_stray(walk->doubts, block->requested);
            continue;
        }
        if (block->piece != index)
            break;
        const struct layout_span span = {
            .addr = block->addr,
            .size = block->size,
            .requested = block->requested,
            .owner = block->owner,
            .state = block->is_pending ? SPAN_PENDING : SPAN_ALLOCATED,
        };
        if (!add_hole(walk, at, block->addr, err) || !add_span(walk, span, err))
            return false;
        at = block->addr + block->size;
        walk->doubts->unsure_bytes += block->unsure;
    }
    return add_hole(walk, at, piece->end, err);
}

static bool visit(struct walk *walk, const struct reserved_piece *piece, size_t index,
                  struct error *err)
{
    if (!fill(walk, piece, index, err))
        return false;
    struct layout_segment segment = {
        .address = piece->start,
        .size = piece->end - piece->start,
        .stream = piece->stream,
        .pool = {piece->pool[0], piece->pool[1]},
        .is_small = piece->class == CLASS_SMALL,
        .is_expandable = piece->is_expandable,
        .spans = walk->spans,
        .span_count = walk->count,
    };
    walk->doubts->reserved_bytes += segment.size;
    return walk->visitor->segment(walk->visitor->self, &segment, err);
}

static bool visit_all(const struct reserved_pieces *pieces, struct walk *walk, struct error *err)
{
    for (size_t p = 0; p < pieces->count; p++)
        if (!visit(walk, &pieces->items[p], p, err))
            return false;
    for (; walk->next < walk->blocks->count; walk->next++)
        add_stray(walk->doubts, walk->blocks->items[walk->next].requested);
    return true;
}

bool layout_at(const struct timeline *timeline, int64_t item, const struct live *live,
               size_t live_count, bool exact, const struct layout_visitor *visitor,
               struct layout_doubts *doubts, struct error *err)
{
    *doubts = (struct layout_doubts){0};
    if (timeline->trace->edge.present && timeline->trace->edge.skipped_after > 0) {
        doubts->after_range = true;
        return true;
    }
    struct reserved_pieces pieces = {0};
    struct placed_blocks blocks = {0};
    struct walk walk = {.visitor = visitor, .blocks = &blocks, .doubts = doubts};
    bool ok = reserved_pieces_make(timeline, item, &pieces, err) &&
              placed_blocks_make(timeline, item, live, live_count, &pieces, &blocks, err) &&
              (!exact || placed_blocks_settle(timeline, live, &blocks, err)) &&
              visit_all(&pieces, &walk, err);
    vec_free(walk.spans, walk.capacity, sizeof(*walk.spans), timeline->snapshot->budget);
    placed_blocks_release(&blocks);
    reserved_pieces_release(&pieces);
    return ok;
}

const char *layout_doubts_text(const struct layout_doubts *doubts, int64_t reserved_bytes)
{
    if (doubts->after_range)
        return "the range leaves out what came after, from which it would follow";
    if (doubts->stray_blocks > 0)
        return "live allocations of the trace lie outside of the segments, or in one another";
    if ((int64_t)doubts->reserved_bytes != reserved_bytes)
        return "segments of the dump and segment events of the trace contradict each other";
    return NULL;
}
