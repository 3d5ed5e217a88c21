#include "analysis/pool/segment_map.h"

#include <stdlib.h>

#include "model/addrmap.h"
#include "model/live.h"

struct gather {
    struct segment_map *map;
    const struct snapshot *snapshot; /* NULL unless at the dump */
    const struct live *live;         /* of another moment */
    struct addrmap notes;            /* by address: the annotations of what is live */
};

/* `item` is that of segment_map_make(). */
static bool is_live(const struct timeline *timeline, const struct note *note, int64_t item)
{
    int64_t at = item == MAP_DUMP ? (int64_t)timeline->trace->count - 1 : item;
    if (note->in_trace)
        return timeline->lifetimes[note->index].alloc <= at &&
               timeline->lifetimes[note->index].free_completed > at;
    return timeline->preexisting[note->index].in_active &&
           timeline->preexisting[note->index].free_completed > at;
}

static bool find_notes(struct gather *gather, const struct timeline *timeline, int64_t item,
                       struct error *err)
{
    if (item == MAP_DUMP && !trace_has_end(timeline->trace))
        return true; /* what the dump holds is not known */
    for (size_t i = 0; i < timeline->note_count; i++) {
        const struct note *note = &timeline->notes[i];
        struct live live = note->in_trace ? live_of_lifetime(timeline, note->index)
                                          : live_of_preexisting(timeline, note->index);
        struct addrmap_slot *slot;
        bool is_next =
            i > 0 && note[-1].in_trace == note->in_trace && note[-1].index == note->index;
        if (is_next || !is_live(timeline, note, item))
            continue;
        if (!addrmap_put(&gather->notes, live.addr, &slot, err) ||
            !live_note_text(timeline, &live, &slot->value, err))
            return false;
        slot->tag = 1;
    }
    return true;
}

static bool add_span(struct segment_map *map, struct map_span span, struct error *err)
{
    map->segments[map->segment_count - 1].size += span.size;
    map->spans[map->span_count++] = span;
    return (!__builtin_add_overflow(map->bytes, span.size, &map->bytes) &&
            map->bytes <= INT64_MAX) ||
           error_set(err, STATUS_BAD_INPUT,
                     "the sizes of its blocks add up to more than 2^63-1 bytes");
}

static struct map_span span_of(const struct gather *gather, const struct layout_segment *segment,
                               const struct layout_span *span, bool is_whole)
{
    struct map_span kept = {.size = span->size,
                            .stack = STACK_NONE,
                            .note = STRING_EMPTY,
                            .state = (uint8_t)span->state};
    const struct pool_key key = pool_key_of(segment);
    if (span->state == SPAN_HOLE) {
        kept.is_releasable = pool_releasable(segment, span, is_whole) > span->size / 2;
        kept.after_graph = kept.is_releasable && pool_key_is_private(&key);
    } else {
        const struct addrmap_slot *note = addrmap_find(&gather->notes, span->addr);
        kept.note = note ? note->value : STRING_EMPTY;
        kept.stack = gather->snapshot ? gather->snapshot->blocks[span->owner].stack
                                      : gather->live[span->owner].stack;
    }
    return kept;
}

static bool take(void *self, const struct layout_segment *segment, struct error *err)
{
    struct gather *gather = self;
    struct segment_map *map = gather->map;
    bool is_whole = pool_segment_is_whole(segment);
    size_t pool;
    if (!pool_rows_add(&map->pools, segment, &pool, err) ||
        !vec_reserve(map->segments, map->segment_capacity, map->segment_count + 1, map->budget,
                     err) ||
        !vec_reserve(map->spans, map->span_capacity, map->span_count + segment->span_count + 1,
                     map->budget, err))
        return false;
    map->segments[map->segment_count++] = (struct map_segment){.address = segment->address,
                                                               .first_span = map->span_count,
                                                               .span_count = segment->span_count,
                                                               .pool = (uint32_t)pool,
                                                               .is_empty = is_whole};
    for (size_t i = 0; i < segment->span_count; i++)
        if (!add_span(map, span_of(gather, segment, &segment->spans[i], is_whole), err))
            return false;
    struct map_segment *made = &map->segments[map->segment_count - 1];
    if (made->size >= segment->size)
        return true;
    made->span_count++;
    map->untold_bytes += segment->size - made->size;
    return add_span(map,
                    (struct map_span){.size = segment->size - made->size,
                                      .stack = STACK_NONE,
                                      .note = STRING_EMPTY,
                                      .state = SPAN_UNTOLD},
                    err);
}

static bool take_moment(struct gather *gather, const struct timeline *timeline, int64_t item,
                        const struct layout_visitor *visitor, struct error *err)
{
    struct live_list live;
    struct moment moment;
    struct layout_doubts *doubts = &gather->map->doubts;
    if (!timeline_live(timeline, item, &live, err))
        return false;
    gather->live = live.items;
    bool ok = layout_at(timeline, item, live.items, live.count, true, visitor, doubts, err);
    live_list_release(&live);
    timeline_moment(timeline, item, &moment);
    const char *doubt = ok ? layout_doubts_text(doubts, moment.reserved_bytes) : NULL;
    return ok &&
           (!doubt || error_set(err, STATUS_USAGE,
                                "the layout of memory at that moment is not known: %s", doubt));
}

static int by_pool(const void *a, const void *b)
{
    const struct map_segment *x = a, *y = b;
    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->first_span > y->first_span) - (x->first_span < y->first_span);
}

/* Sorts the pools once all are known; until then `pool` of a segment is an index before sorting. */
static bool settle_pools(struct segment_map *map, struct error *err)
{
    size_t count = map->pools.count, capacity = 0;
    struct pool_key *keys = NULL;
    uint32_t *places = NULL;
    size_t place_capacity = 0;
    bool ok = vec_reserve(keys, capacity, count, map->budget, err) &&
              vec_reserve(places, place_capacity, count, map->budget, err);
    for (size_t i = 0; ok && i < count; i++)
        keys[i] = map->pools.items[i].key;
    if (ok) {
        pool_rows_finish(&map->pools);
        for (size_t i = 0; i < count; i++) {
            size_t place =
                0; /* pools without a row of their own are in the last one, the remainder */
            while (place + 1 < map->pools.count &&
                   !pool_key_equal(&map->pools.items[place].key, &keys[i]))
                place++;
            places[i] = (uint32_t)place;
        }
        for (size_t i = 0; i < map->segment_count; i++)
            map->segments[i].pool = places[map->segments[i].pool];
    }
    vec_free(keys, capacity, sizeof(*keys), map->budget);
    vec_free(places, place_capacity, sizeof(*places), map->budget);
    return ok;
}

static void sum_up(struct segment_map *map)
{
    uint64_t most = 0;
    map->largest_segment = map->largest_span = NO_HOLE;
    for (size_t s = 0; s < map->segment_count; s++) {
        const struct map_segment *segment = &map->segments[s];
        map->empty_bytes += segment->is_empty ? segment->size : 0;
        map->empty_segments += segment->is_empty;
        for (size_t i = 0; i < segment->span_count; i++) {
            const struct map_span *span = &map->spans[segment->first_span + i];
            if (span->state != SPAN_HOLE || span->size <= most)
                continue;
            most = span->size;
            map->largest_segment = s;
            map->largest_span = segment->first_span + i;
        }
    }
}

bool segment_map_make(struct segment_map *map, const struct timeline *timeline, int64_t item,
                      struct error *err)
{
    const struct snapshot *snapshot = timeline->snapshot;
    struct segment_map made = {.budget = snapshot->budget};
    struct gather gather = {.map = &made};
    const struct layout_visitor visitor = {&gather, take};
    pool_rows_init(&made.pools, snapshot->budget);
    addrmap_init(&gather.notes, snapshot->budget);
    bool ok = find_notes(&gather, timeline, item, err);
    if (ok && item == MAP_DUMP) {
        gather.snapshot = snapshot;
        ok = layout_of_dump(snapshot, timeline->device, &visitor, err);
    } else if (ok) {
        ok = take_moment(&gather, timeline, item, &visitor, err);
    }
    addrmap_release(&gather.notes);
    if (!ok || !settle_pools(&made, err)) {
        segment_map_release(&made);
        return false;
    }
    if (made.segment_count > 0)
        qsort(made.segments, made.segment_count, sizeof(*made.segments), by_pool);
    sum_up(&made);
    *map = made;
    return true;
}

void segment_map_release(struct segment_map *map)
{
    pool_rows_release(&map->pools);
    vec_free(map->segments, map->segment_capacity, sizeof(*map->segments), map->budget);
    vec_free(map->spans, map->span_capacity, sizeof(*map->spans), map->budget);
    *map = (struct segment_map){0};
}
