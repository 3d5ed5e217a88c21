/* The memo of a pickle: what PUT and MEMOIZE number, and GET reads.
 *
 * A large trace memoizes every event and its list of frames, and hardly ever asks for
 * one of them again; written down they would take a third of the memory of an analysis.
 * But the sink knows both. So where one such event follows the other these two entries
 * are left out, and only a run of them is noted; what else the events memoize is
 * written down. */
#ifndef MEMSNAP_DECODE_PICKLE_MEMO_H
#define MEMSNAP_DECODE_PICKLE_MEMO_H

#include "decode/core/rows.h"
#include "decode/core/value.h"

/* Such events in a row before any is left out; more before the first time, for what lies below the
 * first run is found fastest: by then a loop has come round, and most of what events refer to is
 * known. */
#define MEMO_STREAK       2
#define MEMO_FIRST_STREAK 256

#define MEMO_RECENT 64 /* entries looked up lately */

/* Which entries an event of a run has: `step`, of which number `event_at` is the event itself, and
 * `list_at` its list of frames. */
struct memo_shape {
    uint8_t step, event_at, list_at;
};

/* Events one after the other that were left out, but for entries that are neither. */
struct memo_run {
    uint64_t first, end; /* indices */
    size_t slot;         /* where the first one behind `first` stands that was not left out */
    uint64_t event,
        next_event; /* events handed out before the first one here, and after the last */
    struct memo_shape shape;
};

struct memo {
    value *items; /* by index, but that nothing stands for what was left out before */
    size_t capacity;
    size_t extent;                     /* highest index + 1 */
    size_t unset;                      /* how many below are VALUE_UNSET */
    size_t known;                      /* below are neither runs nor the extent: for memo_at() */
    size_t left_out, left_out_in_runs; /* with, and without an event that is being read */

    struct memo_run *runs; /* ascending */
    size_t run_count, run_capacity;
    struct memo_recent {
        size_t index;
        value v;           /* VALUE_UNSET: none */
    } recent[MEMO_RECENT]; /* of what the runs have behind them: it is not taken back */

    size_t streak;     /* of such events */
    size_t streak_end; /* the index behind the last of them */

    const struct row_sink *sink; /* that knows the stacks; NULL: all is written down */
    struct budget *budget;
};

/* `sink` may be NULL. */
static inline struct memo memo_empty(const struct row_sink *sink, struct budget *budget)
{
    return (struct memo){.sink = sink && sink->stack ? sink : NULL, .budget = budget};
}

void memo_release(struct memo *memo);

/* For the inline functions below. */
bool memo_grow(struct memo *memo, struct error *err);
bool memo_begin_run(struct memo *memo, size_t first, uint64_t event, struct memo_shape shape,
                    struct error *err);
value memo_look_up(struct memo *memo, size_t index);

/* VALUE_UNSET where there is none. */
static inline value memo_at(struct memo *memo, size_t index)
{
    return index < memo->known ? memo->items[index] : memo_look_up(memo, index);
}

/* The next index gets the value. */
static inline bool memo_append(struct memo *memo, value v, struct error *err)
{
    size_t at = memo->extent - memo->left_out;
    if (at >= memo->capacity && !memo_grow(memo, err))
        return false;
    memo->items[at] = v;
    memo->extent++;
    return true;
}

/* Where the next value appended will stand, to be given another one by memo_fill(). */
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

/* Takes back what was appended from `extent` on, which is no event already handed out. */
static inline void memo_take_back(struct memo *memo, size_t extent)
{
    memo->extent = extent;
    memo->left_out = memo->left_out_in_runs;
    if (memo->known > extent)
        memo->known = extent;
}

/* Whether entries of an event that comes now may be left out. */
static inline bool memo_may_leave_out(const struct memo *memo)
{
    size_t needed = memo->run_count > 0 ? MEMO_STREAK : MEMO_FIRST_STREAK;
    return memo->sink && memo->streak >= needed && memo->streak_end == memo->extent;
}

/* The next index has a value that is left out, as memo_may_leave_out() allowed: memo_leave_out() or
 * memo_take_back() follows. */
static inline void memo_skip(struct memo *memo)
{
    memo->extent++;
    memo->left_out++;
}

/* Tells that the entries from `first` on are those of an event, written down, two of which could
 * have been left out. */
static inline void memo_met_event(struct memo *memo, size_t first)
{
    memo->streak = memo->streak_end == first ? memo->streak + 1 : 1;
    memo->streak_end = memo->extent;
}

/* Tells that they are those of an event, two of which were. `event` is how many events were handed
 * out before. */
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
