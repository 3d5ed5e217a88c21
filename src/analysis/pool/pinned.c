#include "analysis/pool/pinned.h"

#include <stdlib.h>
#include <string.h>

#include "model/addrmap.h"

#define LEAST_SHARE 4 /* a block pins a segment of so many times its size */

void pins_init(struct pins *pins, struct budget *budget)
{
    *pins = (struct pins){.budget = budget};
}

void pins_release(struct pins *pins)
{
    vec_free(pins->items, pins->capacity, sizeof(*pins->items), pins->budget);
    *pins = (struct pins){.budget = pins->budget};
}

bool pins_add(struct pins *pins, const struct layout_segment *segment, struct error *err)
{
    const struct layout_span *block = NULL;
    if (segment->is_expandable)
        return true;
    for (size_t i = 0; i < segment->span_count; i++) {
        if (segment->spans[i].state == SPAN_HOLE)
            continue;
        if (block)
            return true;
        block = &segment->spans[i];
    }
    if (!block || block->size > segment->size / LEAST_SHARE)
        return true;
    if (!vec_grow((void **)&pins->items, &pins->capacity, pins->count + 1, sizeof(*pins->items),
                  pins->budget, err))
        return false;
    pins->items[pins->count++] = (struct pin){
        .block_bytes = block->size,
        .pinned_bytes = segment->size - block->size,
        .addr = block->addr,
        .owner = block->owner,
    };
    return true;
}

void pins_resolve_live(struct pins *pins, const struct live *live)
{
    for (size_t i = 0; i < pins->count; i++) {
        pins->items[i].live = live[pins->items[i].owner];
        pins->items[i].has_live = true;
    }
}

static void resolve(struct pins *pins, const struct addrmap *map, const struct live *live)
{
    const struct addrmap_slot *slot = addrmap_find(map, live->addr);
    if (!slot)
        return;
    struct pin *pin = &pins->items[slot->value];
    stack_id stack = live->stack != STACK_NONE ? live->stack : pin->live.stack;
    pin->live = *live;
    pin->live.stack = stack;
    pin->has_live = true;
}

/* What was never freed, by its address. */
static void resolve_all(struct pins *pins, const struct addrmap *map,
                        const struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        struct live live = live_of_preexisting(timeline, i);
        if (preexisting->in_active && preexisting->free_completed == EVENT_NEVER)
            resolve(pins, map, &live);
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        if (timeline->lifetimes[i].free_completed != EVENT_NEVER)
            continue;
        struct live live = live_of_lifetime(timeline, i);
        resolve(pins, map, &live);
    }
}

bool pins_resolve_dump(struct pins *pins, const struct timeline *timeline, struct error *err)
{
    const struct snapshot *snapshot = timeline->snapshot;
    struct addrmap map;
    bool ok = true;
    if (pins->count == 0)
        return true;
    addrmap_init(&map, pins->budget);
    for (size_t i = 0; ok && i < pins->count; i++) {
        struct addrmap_slot *slot;
        const struct block_row *block = &snapshot->blocks[pins->items[i].owner];
        pins->items[i].live.stack = block->stack;
        ok = addrmap_put(&map, block->address, &slot, err);
        if (ok) {
            slot->value = (uint32_t)i;
            slot->tag = 1;
        }
    }
    /* The end of a range is not the dump. */
    if (ok && timeline->trace->edge.skipped_after == 0)
        resolve_all(pins, &map, timeline);
    addrmap_release(&map);
    return ok;
}
