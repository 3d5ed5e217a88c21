#include "analysis/replay/program_internal.h"
#include "base/hash.h"

bool program_contradiction(struct error *err)
{
    return error_set(err, STATUS_BAD_INPUT,
                     "events of the trace and segments of the dump contradict each other");
}

static bool same_pool(const void *items, uint32_t id, const void *wanted)
{
    const struct allocator_place *a = (const struct allocator_place *)items + id, *b = wanted;
    return a->pool[0] == b->pool[0] && a->pool[1] == b->pool[1];
}

static bool same_place(const void *items, uint32_t id, const void *wanted)
{
    const struct allocator_place *a = (const struct allocator_place *)items + id, *b = wanted;
    return a->stream == b->stream && same_pool(items, id, wanted);
}

bool program_place_of(struct maker *maker, const uint64_t pool[2], int64_t stream, uint32_t *place,
                      struct error *err)
{
    struct program *program = maker->program;
    struct allocator_place wanted = {.pool = {pool[0], pool[1]}, .stream = stream};
    uint32_t pool_tag = (uint32_t)hash_bytes(wanted.pool, sizeof(wanted.pool), hash_seed());
    uint32_t tag = (uint32_t)hash_word((uint64_t)stream, pool_tag), id = 0;
    if (idtable_find(&maker->place_ids, tag, same_place, program->places, &wanted, place))
        return true;
    if (idtable_find(&maker->pool_ids, pool_tag, same_pool, program->places, &wanted, &id)) {
        wanted.pool_index = program->places[id].pool_index;
    } else {
        wanted.pool_index = (uint32_t)program->pool_count++;
        if (!idtable_add(&maker->pool_ids, pool_tag, (uint32_t)program->place_count,
                         program->budget, err))
            return false;
    }
    if (!idtable_add(&maker->place_ids, tag, (uint32_t)program->place_count, program->budget,
                     err) ||
        !vec_push(program->places, program->place_count, program->place_capacity, program->budget,
                  err, wanted))
        return false;
    *place = (uint32_t)program->place_count - 1;
    return true;
}

static bool is_private(const uint64_t pool[2])
{
    return pool[0] != 0 || pool[1] != 0;
}

/* Events name their pools since torch 2.11. Before, only the segments of the dump do. */
static bool must_look_up(const struct timeline *timeline)
{
    const struct snapshot *snapshot = timeline->snapshot;
    bool any = false;
    for (size_t i = 0; i < snapshot->extra_count; i++)
        if (is_private(snapshot->extras[i].pool))
            return false;
    for (size_t i = 0; i < snapshot->segment_count; i++)
        any = any || (snapshot->segments[i].device == timeline->device &&
                      is_private(snapshot->segments[i].pool));
    return any;
}

static bool put(struct addrmap *map, uint64_t key, uint32_t value, struct error *err)
{
    struct addrmap_slot *slot;
    if (!addrmap_put(map, key, &slot, err))
        return false;
    slot->tag = 1;
    slot->value = value;
    return true;
}

/* Goes back from the dump, and finds the events that made segments of private pools. */
static bool find_private(struct maker *maker, struct addrmap *now, struct error *err)
{
    const struct timeline *timeline = maker->program->timeline;
    const struct snapshot *snapshot = timeline->snapshot;
    const struct trace *trace = timeline->trace;
    for (size_t i = 0; i < snapshot->segment_count; i++) {
        const struct segment *segment = &snapshot->segments[i];
        uint32_t place;
        if (segment->device != timeline->device || !is_private(segment->pool))
            continue;
        if (!program_place_of(maker, segment->pool, segment->stream, &place, err) ||
            !put(now, segment->address, place, err))
            return false;
        const struct start_segment made = {
            .addr = segment->address, .size = segment->total_size, .place = place};
        if (segment->is_expandable && !program_segment(maker, &made, err))
            return false;
    }
    for (size_t i = trace->count; i-- > 0;) {
        if (trace->action[i] != ACTION_SEGMENT_ALLOC)
            continue;
        struct addrmap_slot *slot = addrmap_find(now, trace_addr(trace, i));
        if (!slot)
            continue;
        if (!put(&maker->made_private, i, slot->value, err))
            return false;
        addrmap_remove(now, slot);
    }
    return true;
}

bool program_places_begin(struct maker *maker, struct error *err)
{
    struct budget *budget = maker->program->budget;
    struct addrmap now;
    addrmap_init(&maker->made_private, budget);
    arena_init(&maker->arena, budget);
    maker->looks_up = must_look_up(maker->program->timeline);
    if (!maker->looks_up)
        return true;
    addrmap_init(&now, budget);
    bool ok = find_private(maker, &now, err);
    addrmap_release(&now);
    return ok;
}

void program_places_release(struct maker *maker)
{
    struct budget *budget = maker->program->budget;
    idtable_release(&maker->place_ids, budget);
    idtable_release(&maker->pool_ids, budget);
    addrmap_release(&maker->made_private);
    block_set_release(&maker->private_segments, budget);
    arena_release(&maker->arena);
}

/* The private segment that holds an address; NULL if there is none. */
static const struct memory_block *private_at(const struct maker *maker, uint64_t addr)
{
    const struct block_set *set = &maker->private_segments;
    struct set_place place = block_set_find(set, addr, 0, addr);
    const struct block_key *key = block_set_at(set, place);
    if (!key || key->size != addr) {
        if (!block_set_before(set, &place))
            return NULL;
        key = block_set_at(set, place);
    }
    return addr - key->block->addr < key->block->size ? key->block : NULL;
}

bool program_place(struct maker *maker, size_t item, uint32_t *place, struct error *err)
{
    const struct timeline *timeline = maker->program->timeline;
    uint32_t index = trace_extra(timeline->trace, item);
    if (maker->looks_up && timeline->trace->action[item] != ACTION_OOM) {
        const struct memory_block *segment = private_at(maker, trace_addr(timeline->trace, item));
        if (segment) {
            *place = segment->place;
            return true;
        }
    }
    if (!maker->has_last || maker->last_extra != index) {
        const struct event_extra *extra = &timeline->snapshot->extras[index];
        if (!program_place_of(maker, extra->pool, extra->stream, &maker->last_place, err))
            return false;
        maker->has_last = true;
        maker->last_extra = index;
    }
    *place = maker->last_place;
    return true;
}

bool program_segment(struct maker *maker, const struct start_segment *segment, struct error *err)
{
    if (!maker->looks_up || !is_private(maker->program->places[segment->place].pool))
        return true;
    struct memory_block *block = arena_alloc(&maker->arena, sizeof(*block), err);
    if (!block)
        return false;
    *block = (struct memory_block){
        .addr = segment->addr, .size = segment->size, .place = segment->place};
    return block_set_add(&maker->private_segments, &(const struct block_key){block->addr, 0, block},
                         maker->program->budget, err);
}

bool program_segment_event(struct maker *maker, size_t item, struct error *err)
{
    const struct trace *trace = maker->program->timeline->trace;
    uint64_t addr = trace_addr(trace, item);
    if (!maker->looks_up)
        return true;
    if (trace->action[item] == ACTION_SEGMENT_ALLOC) {
        const struct addrmap_slot *slot = addrmap_find(&maker->made_private, item);
        const struct start_segment segment = {
            .addr = addr, .size = trace_size(trace, item), .place = slot ? slot->value : 0};
        return !slot || program_segment(maker, &segment, err);
    }
    if (trace->action[item] != ACTION_SEGMENT_FREE)
        return true;
    struct set_place at = block_set_find(&maker->private_segments, addr, 0, addr);
    const struct block_key *key = block_set_at(&maker->private_segments, at);
    if (key && key->size == addr)
        block_set_remove(&maker->private_segments, &(const struct block_key){addr, 0, key->block},
                         maker->program->budget);
    return true;
}
