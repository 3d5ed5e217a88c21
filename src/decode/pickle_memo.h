/* The memo of a pickle: what PUT and MEMOIZE number, and GET reads.
 *
 * A large trace memoizes two values an event, the event and its list of frames, and
 * hardly ever asks for them again; written down they would take a third of the
 * memory of an analysis. But the sink knows both. So where one such event follows the
 * other their entries are left out, and only a run of them is noted. */
#ifndef MEMSNAP_DECODE_PICKLE_MEMO_H
#define MEMSNAP_DECODE_PICKLE_MEMO_H

#include "decode/rows.h"
#include "decode/value.h"

#define MEMO_STREAK 2 /* such events in a row before any is left out */

/* Entries left out: [first, end), two an event. */
struct memo_run {
    size_t first, end;
    size_t left_out;    /* before this run */
    uint64_t event;     /* events handed out before the first one here */
    bool is_list_first; /* an event's list of frames comes before the event */
};

struct memo {
    value *items; /* by index, but that nothing stands for what was left out before */
    size_t capacity;
    size_t extent; /* highest index + 1 */
    size_t unset;  /* how many below are VALUE_UNSET */
    size_t known;  /* below are neither runs nor the extent: for memo_at() */
    size_t left_out;

    struct memo_run *runs; /* ascending */
    size_t run_count, run_capacity;
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
bool memo_begin_run(struct memo *memo, size_t first, uint64_t event, bool is_list_first,
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
    if (memo->known > extent)
        memo->known = extent;
}

/* Whether the two entries of an event that comes now may be left out. */
static inline bool memo_may_leave_out(const struct memo *memo)
{
    return memo->sink && memo->streak >= MEMO_STREAK && memo->streak_end == memo->extent;
}

/* Tells that an event has taken the indices `first` and `first` + 1, the last ones, written down,
 * and could have left them out. */
static inline void memo_met_event(struct memo *memo, size_t first)
{
    memo->streak = memo->streak_end == first ? memo->streak + 1 : 1;
    memo->streak_end = first + 2;
}

/* The same where they were left out, as memo_may_leave_out() allowed. `event` is how many events
 * were handed out before. */
static inline bool memo_leave_out(struct memo *memo, size_t first, uint64_t event,
                                  bool is_list_first, struct error *err)
{
    if (memo->run_count > 0) {
        struct memo_run *last = &memo->runs[memo->run_count - 1];
        if (last->end == first && last->is_list_first == is_list_first &&
            last->event + (first - last->first) / 2 == event) {
            last->end = memo->streak_end = first + 2;
            memo->left_out += 2;
            return true;
        }
    }
    return memo_begin_run(memo, first, event, is_list_first, err);
}

#endif
