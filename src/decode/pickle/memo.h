/* The memo of a pickle: PUT and MEMOIZE store a value under an index, and GET reads it.
 *
 * A large trace memoizes every event and its list of frames, and rarely refers to them again.
 * Storing these two entries for every event would take a third of the memory of an analysis, and
 * the sink knows both. So they are left out for consecutive events of the same shape: a run
 * records which events they are. All other entries are stored. */
#ifndef MEMSNAP_DECODE_PICKLE_MEMO_H
#define MEMSNAP_DECODE_PICKLE_MEMO_H

#include "decode/core/rows.h"
#include "decode/core/value.h"

/* The number of consecutive events of one shape that are stored in full before a run begins. The
 * first run begins later, because an index below it is looked up the fastest: by then a training
 * loop has repeated, and the memo has most of the values that later events refer to. */
#define MEMO_STREAK       2
#define MEMO_FIRST_STREAK 256

#define MEMO_RECENT 64 /* recently looked up entries */

/* The entries of each event in a run: `step` entries, where number `event_at` is the event itself,
 * and `list_at` its list of frames. */
struct memo_shape {
    uint8_t step, event_at, list_at;
};

/* Consecutive events whose entries for the event and its list were left out. */
struct memo_run {
    uint64_t first, end;        /* indices */
    size_t slot;                /* slot of the first stored entry after `first` */
    uint64_t event, next_event; /* number of events handed out before the first event here, and
                                   after the last */
    struct memo_shape shape;
};

struct memo {
    value *items; /* in order of index, without the entries that were left out */
    size_t capacity;
    size_t extent;   /* highest index + 1 */
    size_t unset;    /* number of items that are VALUE_UNSET */
    size_t known;    /* below this index, and so below the first run, items[index] is the value */
    size_t left_out; /* number of entries left out */
    size_t left_out_in_runs; /* the same, without those of the event that is being read */

    struct memo_run *runs; /* ascending */
    size_t run_count, run_capacity;
    struct memo_recent {
        size_t index;
        value v;           /* VALUE_UNSET: none */
    } recent[MEMO_RECENT]; /* values in runs; a run is never undone */

    size_t streak;     /* number of consecutive events whose entries could be left out */
    size_t streak_end; /* the index after the last of them */

    const struct row_sink *sink; /* sink that knows the stacks; NULL: all entries are stored */
    struct budget *budget;
};

/* `sink` may be NULL. */
static inline struct memo memo_empty(const struct row_sink *sink, struct budget *budget)
{
    return (struct memo){.sink = sink && sink->stack ? sink : NULL, .budget = budget};
}

void memo_release(struct memo *memo);

/* Used by the inline functions below. */
bool memo_grow(struct memo *memo, struct error *err);
bool memo_begin_run(struct memo *memo, size_t first, uint64_t event, struct memo_shape shape,
                    struct error *err);
value memo_look_up(struct memo *memo, size_t index);

/* VALUE_UNSET if there is none. */
static inline value memo_at(struct memo *memo, size_t index)
{
    return index < memo->known ? memo->items[index] : memo_look_up(memo, index);
}

/* Stores a value under the next index. */
static inline bool memo_append(struct memo *memo, value v, struct error *err)
{
    size_t at = memo->extent - memo->left_out;
    if (at >= memo->capacity && !memo_grow(memo, err))
        return false;
    memo->items[at] = v;
    memo->extent++;
    return true;
}

/* The slot of the next value appended, for a later memo_fill(). */
static inline size_t memo_slot(const struct memo *memo)
{
    return memo->extent - memo->left_out;
}

static inline void memo_fill(struct memo *memo, size_t slot, value v)
{
    memo->items[slot] = v;
}

/* Replaces the value of an index below the extent. */
bool memo_set(struct memo *memo, size_t index, value v, struct error *err);

/* Undoes everything appended from `extent` on, which must not include an event already handed out.
 */
static inline void memo_take_back(struct memo *memo, size_t extent)
{
    memo->extent = extent;
    memo->left_out = memo->left_out_in_runs;
    if (memo->known > extent)
        memo->known = extent;
}

/* True if entries of the next event may be left out. */
static inline bool memo_may_leave_out(const struct memo *memo)
{
    size_t needed = memo->run_count > 0 ? MEMO_STREAK : MEMO_FIRST_STREAK;
    return memo->sink && memo->streak >= needed && memo->streak_end == memo->extent;
}

/* Counts a value under the next index without storing it, if memo_may_leave_out(). memo_leave_out()
 * or memo_take_back() must follow. */
static inline void memo_skip(struct memo *memo)
{
    memo->extent++;
    memo->left_out++;
}

/* To be called after an event whose entries, from index `first` on, were all stored, although two
 * of them could have been left out. */
static inline void memo_met_event(struct memo *memo, size_t first)
{
    memo->streak = memo->streak_end == first ? memo->streak + 1 : 1;
    memo->streak_end = memo->extent;
}

/* To be called after an event whose entries begin at index `first`, and of which two were left out.
 * `event` is the number of events handed out before it. */
static inline bool memo_leave_out(struct memo *memo, size_t first, uint64_t event,
                                  struct memo_shape shape, struct error *err)
{
    struct memo_run *last;
    if (memo->run_count == 0 || (last = &memo->runs[memo->run_count - 1])->end != first ||
        last->next_event != event || last->shape.step != shape.step ||
        last->shape.event_at != shape.event_at || last->shape.list_at != shape.list_at) {
        if (!memo_begin_run(memo, first, event, shape, err))
            return false;
        last = &memo->runs[memo->run_count - 1];
    }
    last->end = memo->streak_end = memo->extent;
    last->next_event++;
    memo->left_out_in_runs = memo->left_out;
    return true;
}

#endif
