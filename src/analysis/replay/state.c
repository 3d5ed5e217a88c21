/* The segments and blocks before the first item of a program, from the layout that the dump and the
 * events after the item show (model/layout.h). */
#include <stdlib.h>

#include "analysis/replay/conf.h"
#include "analysis/replay/program_internal.h"
#include "model/layout.h"

uint64_t program_device_total(const struct timeline *timeline, uint64_t said_bytes)
{
    uint64_t least = (uint64_t)timeline->reserved.peak_bytes;
    uint64_t total = said_bytes ? said_bytes : USUAL_DEVICE;
    return total > least ? total : least;
}

/* A stretch to which pages of expandable segments are mapped later. */
struct mapping {
    uint64_t addr;
    uint32_t place;
    bool is_small;
};

struct state_maker {
    struct maker *maker;
    size_t *first_block; /* by segment */
    size_t first_capacity;
    struct mapping *mappings;
    size_t mapping_count, mapping_capacity;
};

static bool add_block(struct maker *maker, const struct layout_span *span, uint32_t place,
                      struct error *err)
{
    struct program *program = maker->program;
    size_t index = program->block_count;
    if (!vec_reserve(maker->requested, maker->requested_capacity, index + 1, program->budget,
                     err) ||
        !vec_reserve(maker->block_places, maker->block_place_capacity, index + 1, program->budget,
                     err))
        return false;
    maker->requested[index] = span->requested;
    maker->block_places[index] = place;
    return vec_push(
        program->blocks, program->block_count, program->block_capacity, program->budget, err,
        (struct start_block){
            .addr = span->addr, .size = span->size, .is_pending = span->state == SPAN_PENDING});
}

static bool add_segment(void *self, const struct layout_segment *layout, struct error *err)
{
    struct state_maker *state = self;
    struct program *program = state->maker->program;
    size_t first = program->block_count;
    struct start_segment segment = {.addr = layout->address,
                                    .size = layout->size,
                                    .is_small = layout->is_small,
                                    .is_expandable = layout->is_expandable};
    if (!program_place_of(state->maker, layout->pool, layout->stream, &segment.place, err))
        return false;
    for (size_t i = 0; i < layout->span_count; i++) {
        const struct layout_span *span = &layout->spans[i];
        if (span->state == SPAN_HOLE)
            continue;
        if (!add_block(state->maker, span, segment.place, err))
            return false;
        segment.block_count++;
    }
    if (!vec_reserve(state->first_block, state->first_capacity, program->segment_count + 1,
                     program->budget, err))
        return false;
    state->first_block[program->segment_count] = first;
    return (layout->is_expandable || program_segment(state->maker, &segment, err)) &&
           vec_push(program->segments, program->segment_count, program->segment_capacity,
                    program->budget, err, segment);
}

static bool add_mappings(struct state_maker *state, const struct allocator_settings *settings,
                         struct error *err)
{
    struct program *program = state->maker->program;
    const struct trace *trace = program->timeline->trace;
    for (size_t i = program->range.from; i < program->range.to; i++) {
        if (trace->action[i] != ACTION_SEGMENT_MAP)
            continue;
        struct mapping mapping = {
            .addr = trace_addr(trace, i),
            .is_small = trace_size(trace, i) % settings->large_segment != 0,
        };
        if (!program_place(state->maker, i, &mapping.place, err) ||
            !vec_push(state->mappings, state->mapping_count, state->mapping_capacity,
                      program->budget, err, mapping))
            return false;
    }
    return true;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Orders expandable segments last, each with all its stretches together. */
static int by_range(const void *a, const void *b)
{
    const struct start_segment *x = a, *y = b;
    if (x->is_expandable != y->is_expandable)
        return x->is_expandable - y->is_expandable;
    if (x->is_expandable && x->place != y->place)
        return compare(x->place, y->place);
    if (x->is_expandable && x->is_small != y->is_small)
        return x->is_small - y->is_small;
    return compare(x->addr, y->addr);
}

static int by_place(const void *a, const void *b)
{
    const struct mapping *x = a, *y = b;
    if (x->place != y->place)
        return compare(x->place, y->place);
    return x->is_small != y->is_small ? x->is_small - y->is_small : compare(x->addr, y->addr);
}

/* The lowest known address of the range of a stretch. */
static uint64_t lowest(const struct state_maker *state, const struct start_segment *stretch,
                       uint64_t size)
{
    uint64_t least = stretch->addr > size ? stretch->addr - size + 1 : 0;
    const struct mapping wanted = {least, stretch->place, stretch->is_small};
    size_t low = 0, high = state->mapping_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_place(&state->mappings[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct mapping *found = &state->mappings[low];
    bool is_there = low < state->mapping_count && found->place == stretch->place &&
                    found->is_small == stretch->is_small;
    return is_there && found->addr < stretch->addr ? found->addr : stretch->addr;
}

/* Finds the address ranges of stretches. Where ranges begin is not recorded. Two stretches that are
 * too far apart for one range are in two ranges. */
static void find_ranges(const struct state_maker *state, uint64_t total)
{
    struct program *program = state->maker->program;
    const struct start_segment *last = NULL;
    for (size_t i = 0; i < program->segment_count; i++) {
        struct start_segment *segment = &program->segments[i];
        uint64_t size = total + total / 8;
        if (!segment->is_expandable)
            continue;
        bool continues = last && last->place == segment->place &&
                         last->is_small == segment->is_small &&
                         segment->addr + segment->size - last->range_start <= size;
        segment->range_start =
            continues ? last->range_start : lowest(state, segment, size - segment->size);
        last = segment;
    }
}

static bool lay_out(struct state_maker *state, const struct live_list *live,
                    const struct moment *moment, struct error *err)
{
    struct program *program = state->maker->program;
    const struct layout_visitor visitor = {state, add_segment};
    struct layout_doubts doubts;
    struct allocator_settings settings;
    if (!layout_at(program->timeline, moment->item, live->items, live->count, true, &visitor,
                   &doubts, err))
        return false;
    if (live->unexplained_bytes != 0 || layout_doubts_text(&doubts, moment->reserved_bytes))
        return program_contradiction(err);
    if (!conf_of_snapshot(program->timeline->snapshot, &settings, err) ||
        !add_mappings(state, &settings, err))
        return false;
    for (size_t i = 0; i < program->segment_count; i++)
        program->segments[i].blocks =
            program->blocks ? program->blocks + state->first_block[i] : NULL;
    if (program->segment_count > 0)
        qsort(program->segments, program->segment_count, sizeof(*program->segments), by_range);
    if (state->mapping_count > 0)
        qsort(state->mappings, state->mapping_count, sizeof(*state->mappings), by_place);
    find_ranges(state, program_device_total(program->timeline, 0));
    return true;
}

bool program_state(struct maker *maker, const struct moment *moment, struct error *err)
{
    struct program *program = maker->program;
    struct state_maker state = {.maker = maker};
    struct live_list live;
    if (!timeline_live(program->timeline, moment->item, &live, err))
        return false;
    bool ok = lay_out(&state, &live, moment, err);
    live_list_release(&live);
    vec_free(state.first_block, state.first_capacity, sizeof(*state.first_block), program->budget);
    vec_free(state.mappings, state.mapping_capacity, sizeof(*state.mappings), program->budget);
    return ok;
}
