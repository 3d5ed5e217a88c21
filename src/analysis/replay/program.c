#include "analysis/replay/program.h"

#include <stdlib.h>

#include "analysis/replay/program_internal.h"
#include "model/addrmap.h"

const char *program_obstacle(const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    if (timeline->snapshot->profile.is_timeline || timeline->snapshot->profile.is_heap)
        return "the file has no addresses";
    if (timeline->snapshot->profile.is_profile)
        return "a profiler trace does not tell where segments begin and end";
    if (timeline->device == DEVICE_HOST)
        return "pinned host memory has an allocator of its own";
    if (trace->edge.present)
        return "a part of the trace was left out";
    if (timeline->by_action[ACTION_ALLOC] == 0)
        return "the trace has no allocations";
    if (!trace_has_lifetimes(trace) || trace->birth != ACTION_ALLOC)
        return "allocations or frees were not recorded";
    if (timeline->flaws.reallocated > 0 || timeline->flaws.size_changed > 0)
        return "the trace contradicts itself: it allocates an address that is in use, or frees "
               "another size than it allocated";
    return NULL;
}

static bool add_step(struct maker *maker, const struct program_step *step, struct error *err)
{
    struct program *program = maker->program;
    return vec_push(program->steps, program->step_count, program->step_capacity, program->budget,
                    err, *step);
}

/* Adds the allocation at an address, with a new slot. */
static bool add_malloc(struct maker *maker, uint64_t addr, struct program_step step,
                       struct error *err)
{
    struct addrmap_slot *entry;
    if (maker->spare_count > 0)
        step.slot = maker->spare[--maker->spare_count];
    else
        step.slot = (uint32_t)maker->program->slot_count++;
    if (!addrmap_put(&maker->live, addr, &entry, err))
        return false;
    entry->tag = 1;
    entry->value = step.slot;
    step.kind = STEP_MALLOC;
    step.size += step.size == 0; /* torch makes no block for an empty tensor */
    return add_step(maker, &step, err);
}

static bool is_free(const struct trace *trace, size_t item)
{
    return trace->action[item] == trace->completion;
}

/* True if the next item completes a free, as is usual. */
static bool completes_next(const struct trace *trace, size_t item)
{
    return item + 1 < trace->count && is_free(trace, item + 1) &&
           trace_addr(trace, item + 1) == trace_addr(trace, item);
}

static bool add_free(struct maker *maker, size_t item, struct error *err)
{
    const struct trace *trace = maker->program->timeline->trace;
    struct addrmap_slot *entry = addrmap_find(&maker->live, trace_addr(trace, item));
    if (!entry)
        return program_contradiction(err);
    struct program_step step = {.item = (uint32_t)item, .slot = entry->value};
    if (!is_free(trace, item)) {
        step.kind = STEP_FREE_REQUESTED;
        return completes_next(trace, item) || add_step(maker, &step, err);
    }
    step.kind = STEP_FREE_COMPLETED;
    addrmap_remove(&maker->live, entry);
    return vec_push(maker->spare, maker->spare_count, maker->spare_capacity, maker->program->budget,
                    err, step.slot) &&
           add_step(maker, &step, err);
}

static bool add_oom(struct maker *maker, size_t item, struct error *err)
{
    struct program *program = maker->program;
    const struct trace *trace = program->timeline->trace;
    uint64_t size = trace_size(trace, item), free_bytes = trace_addr(trace, item);
    uint64_t segment = allocator_segment_size(allocator_round(maker->rules, size));
    struct program_step step = {.size = size, .item = (uint32_t)item, .kind = STEP_TRY};
    /* The driver or the limit of the process had less than the segment. */
    uint64_t capacity = maker->reserved + (free_bytes < segment ? free_bytes : segment - 1);
    if (capacity > program->oom_capacity)
        program->oom_capacity = capacity;
    program->ooms++;
    return program_place(maker, item, &step.place, err) && add_step(maker, &step, err);
}

static bool is_release(uint8_t action)
{
    return action == ACTION_SEGMENT_FREE || action == ACTION_SEGMENT_UNMAP;
}

static bool is_growth(uint8_t action)
{
    return action == ACTION_SEGMENT_ALLOC || action == ACTION_SEGMENT_MAP;
}

/* The allocator releases memory by itself only before it asks for more. */
static bool is_empty_cache(struct maker *maker, size_t item, size_t next, bool *result,
                           struct error *err)
{
    const struct trace *trace = maker->program->timeline->trace;
    bool asks = next < trace->count &&
                (is_growth(trace->action[next]) || trace->action[next] == ACTION_OOM);
    stack_id stack = trace->stack[item];
    *result = !asks || (stack != STACK_NONE && stack != trace->stack[next]);
    if (!*result && maker->sites && stack != STACK_NONE) {
        const struct stack_facts *facts = site_stack_facts(maker->sites, stack, err);
        if (!facts)
            return false;
        *result = facts->empties_cache;
    }
    return true;
}

/* Adds the burst of releases that begins at `item`. */
static bool add_releases(struct maker *maker, size_t item, struct error *err)
{
    struct program *program = maker->program;
    const struct trace *trace = program->timeline->trace;
    size_t next = item;
    bool is_call;
    for (; next < program->range.to && is_release(trace->action[next]); next++) {
        struct program_step step = {.item = (uint32_t)next, .kind = STEP_END_POOL};
        if (!program_place(maker, next, &step.place, err))
            return false;
        const struct allocator_place *place = &program->places[step.place];
        if ((place->pool[0] != 0 || place->pool[1] != 0) && !add_step(maker, &step, err))
            return false;
    }
    maker->burst_end = next;
    if (!is_empty_cache(maker, item, next, &is_call, err))
        return false;
    program->empty_caches += is_call;
    program->retries += !is_call;
    return !is_call ||
           add_step(maker, &(struct program_step){.item = (uint32_t)item, .kind = STEP_EMPTY_CACHE},
                    err);
}

static bool add_item(struct maker *maker, size_t item, struct error *err)
{
    const struct trace *trace = maker->program->timeline->trace;
    uint8_t action = trace->action[item];
    uint64_t size = trace_size(trace, item);
    if (action == trace->birth) {
        struct program_step step = {.size = size, .item = (uint32_t)item};
        return program_place(maker, item, &step.place, err) &&
               add_malloc(maker, trace_addr(trace, item), step, err);
    }
    if (action == trace->request || action == trace->completion)
        return add_free(maker, item, err);
    if (action == ACTION_OOM)
        return add_oom(maker, item, err);
    if (is_growth(action)) {
        maker->reserved += size;
        return program_segment_event(maker, item, err);
    }
    if (!is_release(action))
        return true;
    if (item >= maker->burst_end && !add_releases(maker, item, err))
        return false;
    maker->reserved -= size;
    return program_segment_event(maker, item, err);
}

/* Adds a request for each block that was live before the range, in order of address. */
static bool add_start(struct maker *maker, struct error *err)
{
    struct program *program = maker->program;
    program->is_whole = program->segment_count == 0;
    for (size_t i = 0; i < program->block_count; i++) {
        struct start_block *block = &program->blocks[i];
        struct program_step step = {
            .size = maker->requested[i], .place = maker->block_places[i], .item = UINT32_MAX};
        block->slot = (uint32_t)program->slot_count;
        if (!add_malloc(maker, block->addr, step, err))
            return false;
    }
    program->start_count = program->step_count;
    return true;
}

static void release_maker(struct maker *maker)
{
    struct budget *budget = maker->program->budget;
    addrmap_release(&maker->live);
    vec_free(maker->spare, maker->spare_capacity, sizeof(*maker->spare), budget);
    vec_free(maker->requested, maker->requested_capacity, sizeof(*maker->requested), budget);
    vec_free(maker->block_places, maker->block_place_capacity, sizeof(*maker->block_places),
             budget);
    program_places_release(maker);
}

bool program_make(const struct timeline *timeline, struct site_table *sites,
                  struct item_range range, struct program *program, struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct program made = {.timeline = timeline, .range = range, .budget = budget};
    struct maker maker = {.program = &made, .sites = sites, .rules = &timeline->snapshot->rules};
    struct moment moment;
    timeline_moment(timeline, (int64_t)range.from - 1, &moment);
    maker.reserved = (uint64_t)moment.reserved_bytes;
    addrmap_init(&maker.live, budget);
    bool ok = program_places_begin(&maker, err) && program_state(&maker, &moment, err) &&
              add_start(&maker, err);
    for (size_t i = range.from; ok && i < range.to; i++)
        ok = add_item(&maker, i, err);
    release_maker(&maker);
    if (!ok) {
        program_release(&made);
        return false;
    }
    *program = made;
    return true;
}

void program_release(struct program *program)
{
    struct budget *budget = program->budget;
    vec_free(program->segments, program->segment_capacity, sizeof(*program->segments), budget);
    vec_free(program->blocks, program->block_capacity, sizeof(*program->blocks), budget);
    vec_free(program->steps, program->step_capacity, sizeof(*program->steps), budget);
    vec_free(program->places, program->place_capacity, sizeof(*program->places), budget);
    *program = (struct program){.budget = budget};
}
