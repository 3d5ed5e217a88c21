#include "unit/model/toy_allocator.h"
#include "unit/unit.h"

#include <inttypes.h>
#include <string.h>

#define KIB   UINT64_C(1024)
#define MIB   (KIB * KIB)
#define SPACE (UINT64_C(1) << 32) /* of a region */

void toy_init(struct toy *toy, uint64_t seed)
{
    buffer_release(&toy->events);
    memset(toy, 0, sizeof(*toy));
    toy->dice = dice_init(seed);
    toy->expandable = dice_roll(&toy->dice, 3) == 0;
    toy->limit = (40 + 20 * dice_roll(&toy->dice, 8)) * MIB;
    toy->max_split = dice_roll(&toy->dice, 4) == 0 ? 24 * MIB : UINT64_MAX;
}

static void note(struct toy *toy, const char *action, uint64_t addr, uint64_t size, int64_t stream)
{
    if (!toy->recording)
        return;
    unit_assert(toy->event_count < TOY_EVENTS);
    buffer_printf(&toy->events,
                  "%s{\"action\":\"%s\",\"%s\":%" PRIu64 ",\"size\":%" PRIu64 ",\"stream\":%" PRId64
                  "}",
                  toy->event_count ? "," : "", action,
                  strcmp(action, "oom") == 0 ? "device_free" : "addr", addr, size, stream);
    memcpy(toy->truth[toy->event_count++], toy->regions, sizeof(toy->regions));
}

static void insert(struct toy_region *region, size_t at, struct toy_cell cell)
{
    unit_assert(region->count < TOY_CELLS);
    memmove(&region->cells[at + 1], &region->cells[at],
            (region->count++ - at) * sizeof(region->cells[0]));
    region->cells[at] = cell;
}

static void erase(struct toy_region *region, size_t at)
{
    memmove(&region->cells[at], &region->cells[at + 1],
            (--region->count - at) * sizeof(region->cells[0]));
}

/* Joins neighbouring cells that are both unmapped or both free. */
static void merge(struct toy_region *region)
{
    for (size_t i = 1; i < region->count; i++) {
        struct toy_cell *before = &region->cells[i - 1];
        if (before->state > TOY_FREE || before->state != region->cells[i].state)
            continue;
        before->size += region->cells[i].size;
        erase(region, i--);
    }
}

/* Cuts cells at `from` and `to`, and sets the state of those between. */
static void paint(struct toy_region *region, uint64_t from, uint64_t to, enum toy_state state)
{
    const uint64_t edges[] = {from, to};
    for (int e = 0; e < 2; e++)
        for (size_t i = 0; i < region->count; i++) {
            struct toy_cell cell = region->cells[i];
            if (cell.addr >= edges[e] || cell.addr + cell.size <= edges[e])
                continue;
            region->cells[i].size = edges[e] - cell.addr;
            cell.size -= region->cells[i].size;
            cell.addr = edges[e];
            insert(region, i + 1, cell);
        }
    for (size_t i = 0; i < region->count; i++)
        if (region->cells[i].addr >= from && region->cells[i].addr < to)
            region->cells[i].state = state;
    merge(region);
}

/* Finds an unused region. Every second region touches the one before it, if that one is in use. */
static struct toy_region *unused(struct toy *toy)
{
    for (size_t r = 0; r < TOY_REGIONS; r++) {
        struct toy_region *region = &toy->regions[r], *before = region - r % 2;
        if (region->count > 0 || (r % 2 == 0 && toy->regions[r + 1].count > 0))
            continue;
        region->base = (UINT64_C(0xfff0) << 48) + r * SPACE;
        if (before != region && before->count > 0)
            region->base =
                before->cells[before->count - 1].addr + before->cells[before->count - 1].size;
        return region;
    }
    return NULL;
}

static bool grow_segment(struct toy *toy, uint64_t size, bool small, int64_t stream)
{
    uint64_t segment = small             ? 2 * MIB
                       : size < 10 * MIB ? 20 * MIB
                                         : (size + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    struct toy_region *region = unused(toy);
    if (toy->reserved + segment > toy->limit || !region)
        return false;
    uint64_t base = region->base;
    *region = (struct toy_region){.base = base, .stream = stream, .small = small, .count = 1};
    region->cells[0] = (struct toy_cell){base, segment, 0, TOY_FREE};
    toy->reserved += segment;
    note(toy, "segment_alloc", base, segment, stream);
    return true;
}

static bool map(struct toy *toy, struct toy_region *region, size_t at, uint64_t size)
{
    uint64_t page = region->small ? 2 * MIB : 20 * MIB, start = region->cells[at].addr;
    uint64_t have =
        at > 0 && region->cells[at - 1].state == TOY_FREE ? region->cells[at - 1].size : 0;
    uint64_t wanted = (size - have + page - 1) / page * page;
    if (wanted > region->cells[at].size || toy->reserved + wanted > toy->limit)
        return false;
    paint(region, start, start + wanted, TOY_FREE);
    toy->reserved += wanted;
    note(toy, "segment_map", start, wanted, region->stream);
    return true;
}

static bool grow_expandable(struct toy *toy, uint64_t size, bool small, int64_t stream)
{
    for (size_t r = 0; r < TOY_REGIONS; r++) {
        struct toy_region *region = &toy->regions[r];
        if (region->count == 0 || region->small != small || region->stream != stream)
            continue;
        for (size_t i = 0; i < region->count; i++)
            if (region->cells[i].state == TOY_UNMAPPED && map(toy, region, i, size))
                return true;
        return false;
    }
    struct toy_region *region = unused(toy);
    *region = (struct toy_region){
        .base = region->base, .stream = stream, .small = small, .expandable = true, .count = 1};
    region->cells[0] = (struct toy_cell){region->base, 480 * MIB, 0, TOY_UNMAPPED};
    return map(toy, region, 0, size);
}

static bool fits(const struct toy *toy, const struct toy_cell *cell, uint64_t size, bool expandable)
{
    if (cell->state != TOY_FREE || cell->size < size)
        return false;
    if (expandable)
        return true;
    return size < toy->max_split ? cell->size < toy->max_split : cell->size < size + 20 * MIB;
}

/* Takes the best free cell; false when there is none. */
static bool take(struct toy *toy, uint64_t requested, uint64_t size, bool small, int64_t stream)
{
    struct toy_region *best = NULL;
    size_t at = 0;
    for (size_t r = 0; r < TOY_REGIONS; r++) {
        struct toy_region *region = &toy->regions[r];
        for (size_t i = 0; i < region->count && region->small == small && region->stream == stream;
             i++)
            if (fits(toy, &region->cells[i], size, region->expandable) &&
                (!best || region->cells[i].size < best->cells[at].size)) {
                best = region;
                at = i;
            }
    }
    if (!best)
        return false;
    struct toy_cell *cell = &best->cells[at], rest = *cell;
    uint64_t left = cell->size - size;
    bool split = small || toy->expandable ? left >= 512 : size < toy->max_split && left > MIB;
    cell->requested = requested;
    cell->state = TOY_ALLOCATED;
    if (split) {
        cell->size = size;
        rest.addr += size;
        rest.size -= size;
        insert(best, at + 1, rest);
    }
    note(toy, "alloc", rest.addr - (split ? size : 0), requested, stream);
    return true;
}

static void release(struct toy *toy)
{
    for (size_t r = 0; r < TOY_REGIONS; r++) {
        struct toy_region *region = &toy->regions[r];
        uint64_t page = region->small ? 2 * MIB : 20 * MIB;
        for (size_t i = 0; i < region->count; i++) {
            struct toy_cell cell = region->cells[i];
            uint64_t base = region->base, from = cell.addr, to = cell.addr + cell.size;
            if (cell.state != TOY_FREE)
                continue;
            if (!region->expandable && region->count == 1) {
                toy->reserved -= cell.size;
                region->count = 0;
                note(toy, "segment_free", cell.addr, cell.size, region->stream);
            } else if (region->expandable) {
                from = base + (from - base + page - 1) / page * page;
                to = base + (to - base) / page * page;
                if (from >= to)
                    continue;
                paint(region, from, to, TOY_UNMAPPED);
                toy->reserved -= to - from;
                note(toy, "segment_unmap", from, to - from, region->stream);
                i = 0;
            }
        }
    }
}

static bool grow(struct toy *toy, uint64_t size, bool small, int64_t stream)
{
    return toy->expandable ? grow_expandable(toy, size, small, stream)
                           : grow_segment(toy, size, small, stream);
}

static void allocate(struct toy *toy)
{
    static const uint64_t most[] = {4 * KIB, MIB, 4 * MIB, 12 * MIB, 40 * MIB};
    uint64_t requested = 1 + dice_roll(&toy->dice, most[dice_roll(&toy->dice, 5)]);
    uint64_t size = (requested + 511) / 512 * 512;
    bool small = size <= MIB;
    int64_t stream = dice_roll(&toy->dice, 4) == 0 ? 7 : 0;
    if (take(toy, requested, size, small, stream))
        return;
    if (!grow(toy, size, small, stream)) {
        release(toy);
        if (!grow(toy, size, small, stream)) {
            note(toy, "oom", toy->limit - toy->reserved, size, stream);
            return;
        }
    }
    take(toy, requested, size, small, stream);
}

static bool is_crowded(const struct toy *toy)
{
    size_t used = 0;
    for (size_t r = 0; r < TOY_REGIONS; r++) {
        if (toy->regions[r].count + 4 > TOY_CELLS)
            return true;
        used += toy->regions[r].count > 0;
    }
    return used + 1 >= TOY_REGIONS;
}

/* Requests or completes a free. */
static void give_up(struct toy *toy)
{
    struct toy_region *region = &toy->regions[dice_roll(&toy->dice, TOY_REGIONS)];
    if (region->count == 0)
        return;
    struct toy_cell *cell = &region->cells[dice_roll(&toy->dice, region->count)];
    if (cell->state == TOY_ALLOCATED) {
        cell->state = TOY_PENDING;
        note(toy, "free_requested", cell->addr, cell->requested, region->stream);
    }
    if (cell->state == TOY_PENDING && dice_roll(&toy->dice, 4)) {
        uint64_t addr = cell->addr, requested = cell->requested;
        cell->state = TOY_FREE;
        merge(region);
        note(toy, "free_completed", addr, requested, region->stream);
    }
}

void toy_step(struct toy *toy)
{
    uint64_t roll = dice_roll(&toy->dice, 100);
    if (roll == 0)
        release(toy);
    else if (roll < 45 && !is_crowded(toy))
        allocate(toy);
    else
        for (int i = 0; i < 4; i++)
            give_up(toy);
}

static void dump_segment(const struct toy_region *region, size_t from, size_t to,
                         struct buffer *json)
{
    static const char *const states[] = {"", "inactive", "active_allocated", "active_pending_free"};
    const struct toy_cell *first = &region->cells[from], *last = &region->cells[to - 1];
    if (json->bytes[json->size - 1] != '[')
        buffer_putc(json, ',');
    buffer_printf(json,
                  "{\"device\":0,\"address\":%" PRIu64 ",\"total_size\":%" PRIu64
                  ",\"stream\":%" PRId64 ",\"segment_type\":\"%s\",\"is_expandable\":%s,"
                  "\"segment_pool_id\":[0,0],\"blocks\":[",
                  first->addr, last->addr + last->size - first->addr, region->stream,
                  region->small ? "small" : "large", region->expandable ? "true" : "false");
    for (size_t i = from; i < to; i++) {
        const struct toy_cell *cell = &region->cells[i];
        buffer_printf(json,
                      "%s{\"address\":%" PRIu64 ",\"size\":%" PRIu64 ",\"requested_size\":%" PRIu64
                      ",\"state\":\"%s\"}",
                      i > from ? "," : "", cell->addr, cell->size, cell->requested,
                      states[cell->state]);
    }
    buffer_puts(json, "]}");
}

void toy_dump(const struct toy *toy, struct buffer *json)
{
    buffer_puts(json, "{\"segments\":[");
    for (size_t r = 0; r < TOY_REGIONS; r++) {
        const struct toy_region *region = &toy->regions[r];
        for (size_t i = 0, from = 0; i <= region->count; i++) {
            if (i < region->count && region->cells[i].state != TOY_UNMAPPED)
                continue;
            if (i > from)
                dump_segment(region, from, i, json);
            from = i + 1;
        }
    }
    buffer_printf(json,
                  "],\"device_traces\":[[%s]],\"allocator_settings\":"
                  "{\"expandable_segments\":%s,\"max_split_size\":%" PRId64 "}}",
                  toy->events.size ? toy->events.bytes : "", toy->expandable ? "true" : "false",
                  (int64_t)toy->max_split);
    ck_assert(!json->failed && !toy->events.failed);
}
