#include "analysis/replay/lives.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/replay/conf.h"
#include "analysis/replay/follow.h"

static uint32_t moment_after(uint32_t item)
{
    return item == EVENT_NEVER ? MOMENT_NEVER : item + 1;
}

/* Adds the recorded lives: first those of preexisting, then those of lifetimes, in order. */
static bool add_recorded(struct lives *lives, const struct timeline *timeline, struct error *err)
{
    const struct allocator_rules *rules = &timeline->snapshot->rules;
    const struct trace *trace = timeline->trace;
    size_t count = timeline->preexisting_count + timeline->lifetime_count;
    if (!vec_reserve(lives->blocks, lives->block_capacity, count, lives->budget, err))
        return false;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *old = &timeline->preexisting[i];
        uint32_t pending = old->in_allocated ? moment_after(old->free_requested) : 0;
        lives->blocks[i] = (struct block_life){
            .addr = old->addr,
            .size = allocator_round(rules, old->size),
            .pending = pending,
            .to = old->in_active ? moment_after(old->free_completed) : 0,
        };
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        lives->blocks[timeline->preexisting_count + i] = (struct block_life){
            .addr = trace_addr(trace, lifetime->alloc),
            .size = allocator_round(rules, trace_size(trace, lifetime->alloc)),
            .from = moment_after(lifetime->alloc),
            .pending = moment_after(lifetime->free_requested),
            .to = moment_after(lifetime->free_completed),
        };
    }
    lives->block_count = count;
    return true;
}

/* The sizes of blocks by the model. The trace only has requested sizes. */
struct sizes {
    struct lives *lives;
    const struct timeline *timeline;
    size_t next; /* lifetime */
};

static bool take_size(void *self, const struct program_step *step, const struct memory_block *block,
                      struct error *err)
{
    struct sizes *sizes = self;
    const struct timeline *timeline = sizes->timeline;
    (void)err;
    while (sizes->next < timeline->lifetime_count &&
           timeline->lifetimes[sizes->next].alloc < step->item)
        sizes->next++;
    if (sizes->next < timeline->lifetime_count &&
        timeline->lifetimes[sizes->next].alloc == step->item)
        sizes->lives->blocks[timeline->preexisting_count + sizes->next].size = block->size;
    return true;
}

static void take_first_sizes(struct lives *lives, const struct program *program)
{
    for (size_t i = 0; i < program->timeline->preexisting_count; i++) {
        struct block_life *life = &lives->blocks[i];
        size_t low = 0, high = program->block_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (program->blocks[middle].addr < life->addr)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < program->block_count && program->blocks[low].addr == life->addr)
            life->size = program->blocks[low].size;
    }
}

static void tell_difference(struct lives *lives, const struct timeline *timeline,
                            const struct as_is *as_is)
{
    lives->source = LIVES_RECORDED;
    snprintf(lives->why, sizeof(lives->why),
             "a replay with the capture's own settings differs from the recording at event "
             "%" PRId64 ": %s",
             trace_file_event(timeline->trace, as_is->item), difference_text(as_is->difference));
}

static bool replay_program(struct lives *lives, const struct program *program, struct error *err)
{
    const struct timeline *timeline = program->timeline;
    struct allocator_settings settings;
    struct as_is as_is;
    struct sizes sizes = {.lives = lives, .timeline = timeline};
    const struct follow_watch watch = {&sizes, take_size};
    if (!conf_of_snapshot(timeline->snapshot, &settings, err) ||
        !as_is_replay(program, &settings, TIE_BREAKS, &as_is, err))
        return false;
    if (!as_is_exact(&as_is)) {
        tell_difference(lives, timeline, &as_is);
        return true;
    }
    struct as_is again = {.tie_break = as_is.tie_break, .item = -1};
    take_first_sizes(lives, program);
    lives->addresses = as_is.allocs;
    return follow_recording(program, &settings, &watch, &again, err);
}

/* Replays. If the replay is not possible, the blocks stay as recorded, which is no error. */
static bool replay(struct lives *lives, const struct timeline *timeline, struct site_table *sites,
                   struct error *err)
{
    struct program program = {.budget = lives->budget};
    struct error damage;
    bool ok = program_make(timeline, sites, (struct item_range){0, timeline->trace->count},
                           &program, &damage) &&
              replay_program(lives, &program, &damage);
    program_release(&program);
    if (ok)
        return true;
    if (damage.status != STATUS_BAD_INPUT && damage.status != STATUS_USAGE &&
        damage.status != STATUS_LIMIT) {
        *err = damage;
        return false;
    }
    lives->source = LIVES_RECORDED;
    snprintf(lives->why, sizeof(lives->why), "%s", damage.text);
    lives->block_count = 0;
    return add_recorded(lives, timeline, err);
}

static bool add_dump_segment(void *self, const struct layout_segment *segment, struct error *err)
{
    struct lives *lives = self;
    const struct piece_life piece = {.addr = segment->address,
                                     .size = segment->size,
                                     .stream = segment->stream,
                                     .pool = {segment->pool[0], segment->pool[1]},
                                     .to = MOMENT_NEVER,
                                     .class = segment->is_small ? CLASS_SMALL : CLASS_LARGE,
                                     .is_expandable = segment->is_expandable};
    for (size_t i = 0; i < segment->span_count; i++) {
        const struct layout_span *span = &segment->spans[i];
        bool is_pending = span->state == SPAN_PENDING;
        if (span->state != SPAN_HOLE &&
            !vec_push(lives->blocks, lives->block_count, lives->block_capacity, lives->budget, err,
                      (struct block_life){.addr = span->addr,
                                          .size = span->size,
                                          .pending = is_pending ? 0 : MOMENT_NEVER,
                                          .to = MOMENT_NEVER}))
            return false;
    }
    return vec_push(lives->pieces, lives->piece_count, lives->piece_capacity, lives->budget, err,
                    piece);
}

static void tell_none(struct lives *lives, const char *why)
{
    lives->source = LIVES_NONE;
    lives->block_count = lives->piece_count = 0;
    buffer_clear(&lives->packed);
    snprintf(lives->why, sizeof(lives->why), "%s", why);
}

bool lives_make(struct lives *lives, const struct timeline *timeline, struct site_table *sites,
                struct error *err)
{
    const struct trace *trace = timeline->trace;
    const struct snapshot *snapshot = timeline->snapshot;
    uint32_t last = (uint32_t)trace->count;
    bool has_peak = timeline_knows_peak(timeline), fits;
    *lives = (struct lives){.last = last,
                            .peak = has_peak ? (uint32_t)(timeline->active.peak_event + 1) : last,
                            .stride = 1,
                            .budget = snapshot->budget};
    const char *obstacle = program_obstacle(timeline);
    snprintf(lives->why, sizeof(lives->why), "%s", obstacle ? obstacle : "");
    if (snapshot->profile.is_profile || !trace_has_end(trace)) {
        tell_none(lives, snapshot->profile.is_profile ? obstacle
                                                      : "the events after the range, which lead "
                                                        "to the snapshot, were left out");
        return true;
    }
    if (!trace_has_lifetimes(trace) || trace->count == 0) {
        const struct layout_visitor visitor = {lives, add_dump_segment};
        lives->source = LIVES_DUMP;
        if (!layout_of_dump(snapshot, timeline->device, &visitor, err))
            return false;
    } else {
        lives->source = obstacle ? LIVES_RECORDED : LIVES_REPLAYED;
        if (!add_recorded(lives, timeline, err) ||
            (!obstacle && !replay(lives, timeline, sites, err)) ||
            !lives_add_pieces(lives, timeline, err))
            return false;
    }
    if (lives->piece_count == 0)
        tell_none(lives, "the capture has no segments");
    if (!lives_pack(lives, &fits, err))
        return false;
    if (!fits)
        tell_none(lives, "too many blocks exist at once");
    return true;
}

void lives_release(struct lives *lives)
{
    buffer_release(&lives->packed);
    vec_free(lives->blocks, lives->block_capacity, sizeof(*lives->blocks), lives->budget);
    vec_free(lives->pieces, lives->piece_capacity, sizeof(*lives->pieces), lives->budget);
    *lives = (struct lives){.budget = lives->budget};
}
