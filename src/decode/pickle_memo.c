#include "decode/pickle_memo.h"

#include <string.h>

void memo_release(struct memo *memo)
{
    vec_free(memo->items, memo->capacity, sizeof *memo->items, memo->budget);
    vec_free(memo->runs, memo->run_capacity, sizeof *memo->runs, memo->budget);
}

bool memo_grow(struct memo *memo, struct error *err)
{
    return vec_grow((void **)&memo->items, &memo->capacity, memo_slot(memo) + 1,
                    sizeof *memo->items, memo->budget, err);
}

/* How many runs begin at or before an index. */
static size_t runs_until(const struct memo *memo, size_t index)
{
    size_t low = 0, high = memo->run_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memo->runs[middle].first <= index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The run that an index lies in; or NULL, and its slot. */
static const struct memo_run *run_of(const struct memo *memo, size_t index, size_t *slot)
{
    size_t count = runs_until(memo, index);
    *slot = index;
    if (count == 0)
        return NULL;
    const struct memo_run *run = &memo->runs[count - 1];
    *slot = index - run->left_out - (run->end - run->first);
    return index < run->end ? run : NULL;
}

static value left_out(const struct memo *memo, const struct memo_run *run, size_t index)
{
    const struct row_sink *sink = memo->sink;
    uint64_t event = run->event + (index - run->first) / 2;
    bool is_list = ((index - run->first) % 2 == 0) == run->is_list_first;
    return value_make(is_list ? TAG_STACK : TAG_EVENT,
                      is_list ? sink->stack(sink->self, event) : (uint32_t)event);
}

value memo_look_up(struct memo *memo, size_t index)
{
    size_t slot;
    if (index >= memo->extent)
        return VALUE_UNSET;
    memo->known = memo->extent;
    if (memo->run_count > 0 && memo->runs[0].first < memo->extent)
        memo->known = memo->runs[0].first;
    const struct memo_run *run = run_of(memo, index, &slot);
    return run ? left_out(memo, run, index) : memo->items[slot];
}

/* Writes down what was left out, from the last run to the first, and leaves out no more. */
static bool write_out(struct memo *memo, struct error *err)
{
    value *items;
    size_t end = memo->extent;
    if (!vec_grow((void **)&memo->items, &memo->capacity, end, sizeof *items, memo->budget, err))
        return false;
    items = memo->items;
    for (size_t i = memo->run_count; i-- > 0;) {
        const struct memo_run *run = &memo->runs[i];
        size_t slot = run->first - run->left_out; /* of what stands behind the run */
        memmove(items + run->end, items + slot, (end - run->end) * sizeof *items);
        for (size_t index = run->first; index < run->end; index++)
            items[index] = left_out(memo, run, index);
        end = run->first;
    }
    memo->run_count = memo->left_out = 0;
    memo->sink = NULL;
    return true;
}

bool memo_set(struct memo *memo, size_t index, value v, struct error *err)
{
    size_t slot;
    if (run_of(memo, index, &slot)) {
        slot = index;
        if (!write_out(memo, err))
            return false;
    }
    memo->items[slot] = v;
    return true;
}

bool memo_begin_run(struct memo *memo, size_t first, uint64_t event, bool is_list_first,
                    struct error *err)
{
    if (!vec_grow((void **)&memo->runs, &memo->run_capacity, memo->run_count + 1,
                  sizeof *memo->runs, memo->budget, err))
        return false;
    memo->runs[memo->run_count++] = (struct memo_run){.first = first,
                                                      .end = first + 2,
                                                      .left_out = memo->left_out,
                                                      .event = event,
                                                      .is_list_first = is_list_first};
    memo->streak_end = first + 2;
    memo->left_out += 2;
    return true;
}
