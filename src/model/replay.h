/* The implementation of timeline_build: one pass over the events, then the dump. */
#ifndef MEMSNAP_MODEL_REPLAY_H
#define MEMSNAP_MODEL_REPLAY_H

#include "model/addrmap.h"
#include "model/timeline.h"

/* Tags of the slots of replay.live. */
#define IN_ACTIVE      1u /* not completed: counts in active */
#define IN_ALLOCATED   2u /* not requested: counts in allocated */
#define IS_PREEXISTING 4u /* `value` indexes preexisting, not lifetimes */
#define IS_PENDING                                                                                 \
    8u /* for preexisting ones: the free was requested, and counts in active if completed too */

/* A curve relative to its value before the first event. */
struct running {
    int64_t now, high, low;
    int64_t high_item; /* first item that reaches `high`, -1 while that is 0 */
};

struct replay {
    struct timeline *timeline;
    const struct trace *trace;
    struct budget *budget; /* of all that the replay allocates, also in the timeline */
    size_t next;           /* items before this one have been replayed */
    struct addrmap live;   /* by address: the lifetime or preexisting item of its latest alloc */
    struct running active, allocated, reserved;
    int64_t reserved_at_active_peak, active_at_reserved_peak; /* relative */
    uint8_t annotate; /* the code of annotate events, or ACTION_NEVER */
    /* Annotations of addresses without an allocation so far: of blocks from before the trace. */
    struct early_note {
        uint64_t addr;
        uint64_t event; /* index in the file */
        string_id text;
    } * early;
    size_t early_count, early_capacity;
};

bool replay_overflow(const struct replay *replay,
                     struct error *err); /* returns false with STATUS_BAD_INPUT */
bool replay_add_preexisting(struct replay *replay, const struct preexisting *preexisting,
                            struct error *err);

/* Prepares the replay of a trace into an empty timeline. Annotations are not read unless `annotate`
 * is set. */
void replay_init(struct replay *replay, struct timeline *timeline, const struct trace *trace,
                 struct budget *budget);
/* Releases what a replay holds, also in the timeline. */
void replay_release(struct replay *replay);
/* Makes `replay`, which has replayed nothing yet, go on where `done` stopped, whose memory it takes
 * over. The budget of `replay` must count it already. */
void replay_adopt(struct replay *replay, const struct replay *done);

/* Counts the items from `next` to `end` by action. */
void replay_count(struct replay *replay, size_t end);
/* Replays the events from `next` to `end`. */
bool replay_until(struct replay *replay, size_t end, struct error *err);
/* Replays the range's edge, the rest of the events, and the frees after the range. */
bool replay_events(struct replay *replay, struct error *err);
/* Reads the dump: fills timeline->state, and adds what existed before the first event. */
bool replay_dump(struct replay *replay, struct error *err);

/* Gives the early notes to the allocations that replay_events() and replay_dump() found, and sorts
 * all notes. */
bool replay_notes(struct replay *replay, struct error *err);
/* Adds the notes of annotate events before the range. */
bool replay_edge_notes(struct replay *replay, struct error *err);
/* Adds the note of an annotate event. */
bool replay_note(struct replay *replay, size_t item, struct error *err);

#endif
