#include "analysis/pool/pinned.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/pool/pools.h"
#include "model/addrmap.h"

#define LEAST_SHARE 4 /* a block pins a segment that is at least 4 times as large */

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
    const struct pool_key key = pool_key_of(segment);
    if (segment->is_expandable || pool_key_is_private(&key))
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
    return vec_push(pins->items, pins->count, pins->capacity, pins->budget, err,
                    (struct pin){
                        .block_bytes = block->size,
                        .pinned_bytes = segment->size - block->size,
                        .addr = block->addr,
                        .owner = block->owner,
                    });
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

/* Finds, by address, the allocations of pins that were never freed. */
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
    /* The end of a --range is not the moment of the dump. */
    if (ok && timeline->trace->edge.skipped_after == 0)
        resolve_all(pins, &map, timeline);
    addrmap_release(&map);
    return ok;
}

/* A pin and the key of its row. */
struct keyed {
    const struct pin *pin;
    struct live_source source;
    uint32_t category_and_source;
    frame_id frame;
    string_id op, node;
    bool has_frame;
};

static bool key_of(const struct live_set *set, const struct pin *pin, struct keyed *keyed,
                   struct error *err)
{
    enum category category = CATEGORY_UNKNOWN;
    *keyed = (struct keyed){.pin = pin};
    if (pin->has_live) {
        category = live_category(set, &pin->live);
        if (!live_source_of(set, &pin->live, &keyed->source, err))
            return false;
    } else {
        keyed->source = (struct live_source){.own = pin->live.stack, .shown = pin->live.stack};
        if (!site_of(set->sites, pin->live.stack, &keyed->source.site, err))
            return false;
    }
    keyed->has_frame =
        site_frame(set->sites, keyed->source.shown, &keyed->source.site, &keyed->frame);
    keyed->op = keyed->source.site.op;
    keyed->node = keyed->source.site.node;
    keyed->category_and_source = (uint32_t)category << 2 | (uint32_t)keyed->source.source;
    return true;
}

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->category_and_source != y->category_and_source)
        return x->category_and_source < y->category_and_source ? -1 : 1;
    if (x->has_frame != y->has_frame)
        return x->has_frame ? -1 : 1;
    if (x->has_frame && x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int by_place(const void *a, const void *b)
{
    int order = by_key(a, b);
    const struct pin *x = ((const struct keyed *)a)->pin, *y = ((const struct keyed *)b)->pin;
    return order ? order : (x->addr > y->addr) - (x->addr < y->addr);
}

/* A row that is being made. */
struct draft {
    struct pin_row row;
    size_t first;  /* index in `keyed` of the pin whose label the row has */
    uint64_t addr; /* address of that pin, by which ties are broken: ids may differ between runs */
};

static int larger_first(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    if (x->row.pinned_bytes != y->row.pinned_bytes)
        return x->row.pinned_bytes > y->row.pinned_bytes ? -1 : 1;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

static void count_pin(struct pin_row *row, const struct pin *pin)
{
    row->segments++;
    row->block_bytes += pin->block_bytes;
    row->pinned_bytes += pin->pinned_bytes;
    if (pin->block_bytes > row->largest_bytes)
        row->largest_bytes = pin->block_bytes;
}

/* `drafts` has room for one row per pin; returns the number of rows. */
static size_t sum_up(const struct keyed *keyed, size_t count, struct draft *drafts)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_key(&keyed[i - 1], &keyed[i]) != 0) {
            drafts[made].first = i;
            drafts[made].addr = keyed[i].pin->addr;
            drafts[made++].row = (struct pin_row){
                .category = (enum category)(keyed[i].category_and_source >> 2),
                .stack = keyed[i].source.shown,
            };
        }
        count_pin(&drafts[made - 1].row, keyed[i].pin);
    }
    qsort(drafts, made, sizeof(*drafts), larger_first);
    return made;
}

static bool label_row(const struct live_set *set, const struct live_source *source,
                      struct pin_row *row, struct error *err)
{
    struct buffer text = BUFFER_INIT;
    live_source_label(set, source, NULL, false, &text);
    row->label = text.failed ? NULL : strdup(text.size > 0 ? text.bytes : "");
    buffer_release(&text);
    return row->label || error_out_of_memory(err);
}

static bool fill(const struct pins *pins, const struct live_set *set, size_t most,
                 struct keyed *keyed, struct draft *drafts, struct pin_rows *rows,
                 struct error *err)
{
    for (size_t i = 0; i < pins->count; i++)
        if (!key_of(set, &pins->items[i], &keyed[i], err))
            return false;
    qsort(keyed, pins->count, sizeof(*keyed), by_place);
    rows->sites = sum_up(keyed, pins->count, drafts);
    for (size_t i = 0; i < pins->count; i++) {
        rows->segments++;
        rows->block_bytes += pins->items[i].block_bytes;
        rows->pinned_bytes += pins->items[i].pinned_bytes;
    }
    size_t shown = rows->sites < most ? rows->sites : most;
    rows->items = calloc(shown + 1, sizeof(*rows->items));
    if (!rows->items)
        return error_out_of_memory(err);
    for (; rows->count < shown; rows->count++) {
        rows->items[rows->count] = drafts[rows->count].row;
        if (!label_row(set, &keyed[drafts[rows->count].first].source, &rows->items[rows->count],
                       err))
            return false;
    }
    return true;
}

bool pin_rows_make(const struct pins *pins, const struct live_set *set, size_t most,
                   struct pin_rows *rows, struct error *err)
{
    struct keyed *keyed = NULL;
    struct draft *drafts = NULL;
    size_t keyed_capacity = 0, drafts_capacity = 0;
    struct pin_rows made = {0};
    bool ok = true;
    if (pins->count > 0)
        ok = vec_reserve(keyed, keyed_capacity, pins->count, pins->budget, err) &&
             vec_reserve(drafts, drafts_capacity, pins->count, pins->budget, err) &&
             fill(pins, set, most, keyed, drafts, &made, err);
    vec_free(keyed, keyed_capacity, sizeof(*keyed), pins->budget);
    vec_free(drafts, drafts_capacity, sizeof(*drafts), pins->budget);
    if (!ok) {
        pin_rows_release(&made);
        return false;
    }
    *rows = made;
    return true;
}

void pin_rows_release(struct pin_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->items[i].label);
    free(rows->items);
    *rows = (struct pin_rows){0};
}
