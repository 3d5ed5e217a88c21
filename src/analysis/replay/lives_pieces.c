#include "analysis/replay/lives.h"
#include "base/arena.h"

/* The pieces that exist at the current moment, without overlap. Each has a block in the set, whose
 * `inserted` is the index of the piece. */
struct piece_maker {
    struct lives *lives;
    const struct timeline *timeline;
    struct block_set now; /* by address */
    struct arena arena;
};

static bool add(struct piece_maker *maker, const struct piece_life *piece, struct error *err)
{
    struct lives *lives = maker->lives;
    if (piece->size == 0)
        return true;
    struct memory_block *block = arena_alloc(&maker->arena, sizeof(*block), err);
    if (!block)
        return false;
    *block = (struct memory_block){
        .addr = piece->addr, .size = piece->size, .inserted = lives->piece_count};
    return vec_push(lives->pieces, lives->piece_count, lives->piece_capacity, lives->budget, err,
                    *piece) &&
           block_set_add(&maker->now, &(const struct block_key){block->addr, 0, block},
                         lives->budget, err);
}

/* The first piece that ends after an address; NULL if there is none. */
static struct memory_block *first_ending_after(const struct piece_maker *maker, uint64_t addr)
{
    struct set_place place = block_set_find(&maker->now, addr, 0, 0), before = place;
    if (block_set_before(&maker->now, &before)) {
        struct memory_block *block = block_set_at(&maker->now, before)->block;
        if (addr - block->addr < block->size)
            return block;
    }
    const struct block_key *key = block_set_at(&maker->now, place);
    return key ? key->block : NULL;
}

/* Cuts the pieces so that nothing is reserved between two addresses from `moment` on. */
static bool cut(struct piece_maker *maker, uint64_t from, uint64_t to, uint32_t moment,
                struct error *err)
{
    struct memory_block *block;
    while ((block = first_ending_after(maker, from)) && block->addr < to) {
        struct piece_life *old = &maker->lives->pieces[block->inserted];
        struct piece_life left = *old, right = *old;
        uint64_t end = old->addr + old->size;
        old->to = moment;
        left.from = right.from = moment;
        left.size = old->addr < from ? from - old->addr : 0;
        right.addr = to;
        right.size = end > to ? end - to : 0;
        block_set_remove(&maker->now, &(const struct block_key){block->addr, 0, block},
                         maker->lives->budget);
        if (!add(maker, &left, err) || !add(maker, &right, err))
            return false;
    }
    return true;
}

static bool follow_event(struct piece_maker *maker, size_t item, struct error *err)
{
    const struct trace *trace = maker->timeline->trace;
    uint8_t action = trace->action[item];
    if (action < ACTION_SEGMENT_ALLOC || action > ACTION_SEGMENT_UNMAP)
        return true;
    const struct event_extra *extra = &maker->timeline->snapshot->extras[trace_extra(trace, item)];
    uint64_t addr = trace_addr(trace, item), size = trace_size(trace, item);
    uint32_t moment = (uint32_t)item + 1;
    size = size > UINT64_MAX - addr ? UINT64_MAX - addr : size;
    if (!cut(maker, addr, addr + size, moment, err))
        return false;
    if (action == ACTION_SEGMENT_FREE || action == ACTION_SEGMENT_UNMAP)
        return true;
    bool is_map = action == ACTION_SEGMENT_MAP;
    bool is_small = size <= ALLOCATOR_SMALL_SEGMENT;
    return add(maker,
               &(const struct piece_life){.addr = addr,
                                          .size = size,
                                          .stream = extra->stream,
                                          .pool = {extra->pool[0], extra->pool[1]},
                                          .from = moment,
                                          .to = MOMENT_NEVER,
                                          .class = is_map     ? CLASS_UNKNOWN
                                                   : is_small ? CLASS_SMALL
                                                              : CLASS_LARGE,
                                          .is_expandable = is_map},
               err);
}

static bool add_first(struct piece_maker *maker, struct error *err)
{
    struct reserved_pieces pieces;
    if (!reserved_pieces_make(maker->timeline, -1, &pieces, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < pieces.count; i++) {
        const struct reserved_piece *piece = &pieces.items[i];
        ok = add(maker,
                 &(const struct piece_life){.addr = piece->start,
                                            .size = piece->end - piece->start,
                                            .stream = piece->stream,
                                            .pool = {piece->pool[0], piece->pool[1]},
                                            .to = MOMENT_NEVER,
                                            .class = piece->class,
                                            .is_expandable = piece->is_expandable},
                 err);
    }
    reserved_pieces_release(&pieces);
    return ok;
}

bool lives_add_pieces(struct lives *lives, const struct timeline *timeline, struct error *err)
{
    struct piece_maker maker = {.lives = lives, .timeline = timeline};
    arena_init(&maker.arena, lives->budget);
    bool ok = add_first(&maker, err);
    for (size_t i = 0; ok && i < timeline->trace->count; i++)
        ok = follow_event(&maker, i, err);
    block_set_release(&maker.now, lives->budget);
    arena_release(&maker.arena);
    return ok;
}
