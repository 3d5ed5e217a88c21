#include "decode/pickle/memo.h"

#include "base/bisect.h"

void memo_release(struct memo *memo)
{
    vec_free(memo->items, memo->capacity, sizeof *memo->items, memo->budget);
    vec_free(memo->runs, memo->run_capacity, sizeof *memo->runs, memo->budget);
}

bool memo_grow(struct memo *memo, struct error *err)
{
    return vec_reserve(memo->items, memo->capacity, memo_slot(memo) + 1, memo->budget, err);
}

/* Finds an entry in a run: its value if it was left out, or else its slot. */
static bool left_out(const struct memo *memo, const struct memo_run *run, size_t index, value *v,
                     size_t *slot)
{
    const struct memo_shape *shape = &run->shape;
    size_t at = (index - run->first) % shape->step, before = (index - run->first) / shape->step;
    uint64_t event = run->event + before;
    *slot = run->slot + before * (shape->step - 2u) + at - (at > shape->event_at) -
            (at > shape->list_at);
    if (at == shape->event_at)
        *v = value_make(TAG_EVENT, (uint32_t)event);
    else if (at == shape->list_at)
        *v = value_make(TAG_STACK, memo->sink->stack(memo->sink->self, event));
    else
        return false;
    return true;
}

/* The same for any entry below the extent. */
static bool find(const struct memo *memo, size_t index, value *v, size_t *slot)
{
    const struct memo_run *runs = memo->runs;
    *slot = index;
    if (memo->run_count == 0 || index < runs[0].first)
        return false;
    const struct memo_run *run =
        runs + bisect_less_64(&runs->first, sizeof *runs, memo->run_count, index + 1) - 1;
    if (index < run->end)
        return left_out(memo, run, index, v, slot);
    size_t events = (run->end - run->first) / run->shape.step;
    *slot = run->slot + events * (run->shape.step - 2u) + (index - run->end);
    return false;
}

value memo_look_up(struct memo *memo, size_t index)
{
    struct memo_recent *recent = &memo->recent[index % MEMO_RECENT];
    if (recent->index == index && recent->v != VALUE_UNSET)
        return recent->v;
    if (index >= memo->extent)
        return VALUE_UNSET;
    memo->known = memo->extent;
    if (memo->run_count > 0 && memo->runs[0].first < memo->extent)
        memo->known = memo->runs[0].first;
    size_t slot;
    value v;
    if (!find(memo, index, &v, &slot))
        v = memo->items[slot];
    if (memo->run_count > 0 && index < memo->runs[memo->run_count - 1].end)
        *recent = (struct memo_recent){index, v};
    return v;
}

/* Stores all entries that were left out, and stops leaving out. Goes from the last entry to the
 * first, because no entry is stored at a slot above its index. */
static bool write_out(struct memo *memo, struct error *err)
{
    size_t slot, index = memo->extent;
    value v;
    if (!vec_reserve(memo->items, memo->capacity, index, memo->budget, err))
        return false;
    while (memo->run_count > 0) {
        const struct memo_run *last = &memo->runs[memo->run_count - 1];
        while (index-- > last->first)
            memo->items[index] = find(memo, index, &v, &slot) ? v : memo->items[slot];
        index = last->first;
        memo->run_count--;
    }
    memo->left_out = memo->left_out_in_runs = 0;
    memo->sink = NULL;
    return true;
}

bool memo_set(struct memo *memo, size_t index, value v, struct error *err)
{
    size_t slot;
    value old;
    if (find(memo, index, &old, &slot)) {
        slot = index;
        if (!write_out(memo, err))
            return false;
    }
    memo->items[slot] = v;
    struct memo_recent *recent = &memo->recent[index % MEMO_RECENT];
    if (recent->index == index)
        recent->v = VALUE_UNSET;
    return true;
}

bool memo_begin_run(struct memo *memo, size_t first, uint64_t event, struct memo_shape shape,
                    struct error *err)
{
    return vec_push(memo->runs, memo->run_count, memo->run_capacity, memo->budget, err,
                    (struct memo_run){.first = first,
                                      .end = first,
                                      .slot = first - memo->left_out_in_runs,
                                      .event = event,
                                      .next_event = event,
                                      .shape = shape});
}
