#include "analysis/replay/follow.h"

#include <string.h>

/* Memory that the recorded allocator requested from the device, and the model has not requested
 * yet. */
struct growth {
    uint64_t addr, size;
    bool is_map;
};

struct follower {
    const struct program *program;
    struct allocator *allocator;
    struct memory_block **slots;
    struct growth *growths; /* since the last allocation */
    size_t growth_count, growth_capacity, next_growth;
    uint64_t free_address;            /* for memory that the recording does not have */
    const struct follow_watch *watch; /* or NULL */
    struct as_is *as_is;
    size_t item;
};

static void note(struct follower *follower, enum difference_kind kind)
{
    struct as_is *as_is = follower->as_is;
    if (as_is->difference != DIFFERENCE_NONE)
        return;
    as_is->difference = kind;
    as_is->item = (int64_t)follower->item;
}

static uint64_t invent(struct follower *follower, uint64_t size)
{
    uint64_t addr = follower->free_address;
    follower->free_address += allocator_round_up(size, ALLOCATOR_ROUND_LARGE);
    return addr;
}

static const struct growth *next_growth(const struct follower *follower)
{
    return follower->next_growth < follower->growth_count
               ? &follower->growths[follower->next_growth]
               : NULL;
}

static uint64_t take_segment(void *self, uint64_t size)
{
    struct follower *follower = self;
    const struct growth *growth = next_growth(follower);
    if (!growth || growth->is_map || growth->size != size) {
        note(follower, DIFFERENCE_NOWHERE);
        return invent(follower, size);
    }
    follower->next_growth++;
    follower->as_is->exact_segment_events++;
    return growth->addr;
}

/* The recording does not tell where a range begins, but it does tell where its first page is
 * mapped. */
static uint64_t take_range(void *self, uint64_t size)
{
    struct follower *follower = self;
    const struct growth *growth = next_growth(follower);
    return growth && growth->is_map ? growth->addr : invent(follower, size);
}

static void take_mapping(void *self, uint64_t addr, uint64_t size)
{
    struct follower *follower = self;
    const struct growth *growth = next_growth(follower);
    if (!growth || !growth->is_map || growth->addr != addr || growth->size != size) {
        note(follower, DIFFERENCE_NOWHERE);
        return;
    }
    follower->next_growth++;
    follower->as_is->exact_segment_events++;
}

/* Maps the pages that are left over. Pages that were mapped for a request that then failed stay
 * mapped until the next release. */
static bool force_growths(struct follower *follower, uint32_t place, uint64_t large_page,
                          struct error *err)
{
    while (follower->next_growth < follower->growth_count) {
        const struct growth growth = follower->growths[follower->next_growth];
        size_t before = follower->next_growth;
        bool done = false;
        if (growth.is_map &&
            !allocator_force_map(follower->allocator, place, growth.size % large_page != 0,
                                 growth.addr, growth.size, &done, err))
            return false;
        if (follower->next_growth == before) {
            note(follower, DIFFERENCE_NOWHERE);
            follower->next_growth++;
        }
    }
    follower->growth_count = follower->next_growth = 0;
    return true;
}

static bool follow_malloc(struct follower *follower, const struct program_step *step,
                          struct error *err)
{
    struct as_is *as_is = follower->as_is;
    uint64_t addr = trace_addr(follower->program->timeline->trace, step->item);
    struct memory_block **slot = &follower->slots[step->slot];
    if (!allocator_malloc(follower->allocator, step->place, step->size, slot, err))
        return false;
    if (follower->next_growth < follower->growth_count)
        note(follower, DIFFERENCE_NOWHERE);
    follower->growth_count = follower->next_growth = 0;
    as_is->allocs++;
    if (*slot && (*slot)->addr == addr) {
        as_is->exact_allocs++;
        return true;
    }
    if (as_is->difference == DIFFERENCE_NONE) {
        as_is->recorded_addr = addr;
        as_is->replayed_addr = *slot ? (*slot)->addr : 0;
    }
    note(follower, DIFFERENCE_ADDRESS);
    return true;
}

static bool follow_step(struct follower *follower, const struct program_step *step,
                        struct error *err)
{
    const struct follow_watch *watch = follower->watch;
    switch (step->kind) {
    case STEP_MALLOC:
        if (!follow_malloc(follower, step, err))
            return false;
        return !watch || !follower->slots[step->slot] ||
               watch->block(watch->self, step, follower->slots[step->slot], err);
    case STEP_FREE_REQUESTED:
        return allocator_free_requested(follower->allocator, &follower->slots[step->slot], err);
    case STEP_FREE_COMPLETED:
        return allocator_free_completed(follower->allocator, &follower->slots[step->slot], err);
    default: /* releases are taken from the trace */
        return true;
    }
}

static bool follow_release(struct follower *follower, uint8_t action, struct error *err)
{
    const struct trace *trace = follower->program->timeline->trace;
    uint64_t addr = trace_addr(trace, follower->item), size = trace_size(trace, follower->item);
    bool done;
    if (!(action == ACTION_SEGMENT_FREE
              ? allocator_force_free(follower->allocator, addr, size, &done, err)
              : allocator_force_unmap(follower->allocator, addr, size, &done, err)))
        return false;
    follower->as_is->exact_segment_events += done;
    if (!done)
        note(follower, DIFFERENCE_RELEASE);
    return true;
}

/* An event that changes the segments. */
static bool follow_segments(struct follower *follower, uint8_t action, uint64_t large_page,
                            struct error *err)
{
    const struct program *program = follower->program;
    const struct trace *trace = program->timeline->trace;
    size_t item = follower->item;
    bool is_map = action == ACTION_SEGMENT_MAP;
    follower->as_is->segment_events++;
    if (!is_map && action != ACTION_SEGMENT_ALLOC)
        return follow_release(follower, action, err);
    const struct growth growth = {trace_addr(trace, item), trace_size(trace, item), is_map};
    if (!vec_push(follower->growths, follower->growth_count, follower->growth_capacity,
                  program->budget, err, growth))
        return false;
    uint8_t next = item + 1 < program->range.to ? trace->action[item + 1] : ACTION_NEVER;
    if (!is_map || next == trace->birth || next == ACTION_SEGMENT_MAP ||
        next == ACTION_SEGMENT_ALLOC)
        return true;
    const struct event_extra *extra =
        &program->timeline->snapshot->extras[trace_extra(trace, item)];
    uint32_t place = 0;
    while (place + 1 < program->place_count &&
           (program->places[place].stream != extra->stream ||
            memcmp(program->places[place].pool, extra->pool, sizeof(extra->pool)) != 0))
        place++;
    return force_growths(follower, place, large_page, err);
}

static bool is_segment_event(uint8_t action)
{
    return action >= ACTION_SEGMENT_ALLOC && action <= ACTION_SEGMENT_UNMAP;
}

static bool follow(struct follower *follower, uint64_t large_page, struct error *err)
{
    const struct program *program = follower->program;
    const struct trace *trace = program->timeline->trace;
    size_t next = program->start_count;
    for (size_t i = program->range.from; i < program->range.to; i++) {
        follower->item = i;
        if (is_segment_event(trace->action[i]) &&
            !follow_segments(follower, trace->action[i], large_page, err))
            return false;
        for (; next < program->step_count && program->steps[next].item == i; next++)
            if (!follow_step(follower, &program->steps[next], err))
                return false;
    }
    return true;
}

/* Brings the allocator into the state before the first item. */
static bool begin(struct follower *follower, struct error *err)
{
    const struct program *program = follower->program;
    for (size_t i = 0; i < program->segment_count; i++)
        if (!allocator_add_segment(follower->allocator, &program->segments[i], follower->slots,
                                   err))
            return false;
    return allocator_end_segments(follower->allocator, err) &&
           allocator_follow(follower->allocator, err);
}

bool follow_recording(const struct program *program, const struct allocator_settings *settings,
                      const struct follow_watch *watch, struct as_is *as_is, struct error *err)
{
    struct follower follower = {
        .program = program, .watch = watch, .as_is = as_is, .free_address = UINT64_C(1) << 50};
    const struct allocator_source source = {&follower, take_segment, take_range, take_mapping};
    const struct allocator_places places = program_places(program);
    /* No capacity is needed: the recorded segment events tell which requests the device served. */
    const struct allocator_device device = {
        CAPACITY_NONE, program_device_total(program->timeline, 0), CAPACITY_NONE};
    size_t slots = 0;
    if (!vec_reserve(follower.slots, slots, program->slot_count, program->budget, err))
        return false;
    for (size_t i = 0; i < program->slot_count; i++)
        follower.slots[i] = NULL;
    follower.allocator = allocator_create(settings, &device, as_is->tie_break, &places, &source,
                                          program->budget, err);
    bool ok = follower.allocator && begin(&follower, err) &&
              follow(&follower, settings->large_segment, err);
    allocator_destroy(follower.allocator);
    vec_free(follower.growths, follower.growth_capacity, sizeof(*follower.growths),
             program->budget);
    vec_free((void *)follower.slots, slots, sizeof(follower.slots[0]), program->budget);
    return ok;
}
