/* The allocations of one device over time, and its memory curves.
 *
 * Definitions are as in memsnap-numbers(7). There are two curves: `active` counts an allocation
 * from alloc to free_completed (requested sizes), `allocated` to free_requested. The baseline is
 * the memory in use before the first event: blocks at the dump whose address no surviving alloc of
 * the trace covers, plus every free in the trace without an alloc before it. Traces that contradict
 * themselves (an address allocated twice, a free of another size) are replayed unchanged and
 * counted in `flaws`; the live allocations may then differ from the curve by timeline_live's
 * `unexplained_bytes`.
 *
 * If a kind of event was not recorded (trace->unrecorded), the other kind of free ends an
 * allocation in both curves; or, if that is not enough, only the state at the dump is known, and
 * both curves are flat. */
#ifndef MEMSNAP_MODEL_TIMELINE_H
#define MEMSNAP_MODEL_TIMELINE_H

#include "model/snapshot.h"

#define EVENT_NEVER UINT32_MAX /* not freed in the trace */

/* An allocation made in the trace. The columns of its alloc event have its address, size and stack.
 */
struct lifetime {
    uint32_t alloc;          /* item in the trace */
    uint32_t free_requested; /* item, or EVENT_NEVER */
    uint32_t free_completed;
};

enum origin {
    ORIGIN_BLOCK, /* still there at the dump; the stack is known if recording was on when it was
                     made */
    ORIGIN_FREED, /* known only from its free in the trace; stack unknown */
    ORIGIN_EDGE,  /* allocated in the trace, before the range */
};

/* Something allocated before the first event of the trace (or of the range). */
struct preexisting {
    enum origin origin;
    uint64_t addr;
    uint64_t size;                           /* requested bytes */
    stack_id stack;                          /* where it was allocated; STACK_NONE if unknown */
    stack_id forward_stack;                  /* ORIGIN_BLOCK: forward_frames of the block */
    bool in_active, in_allocated;            /* baselines in which it counts */
    uint32_t free_requested, free_completed; /* items, or EVENT_NEVER */
    uint64_t edge_event;                     /* ORIGIN_EDGE: index in the file of its alloc */
};

/* True if it is older than the recording, not only older than the range. */
static inline bool preexisting_is_older(const struct preexisting *preexisting)
{
    return preexisting->origin != ORIGIN_EDGE;
}

struct curve {
    int64_t baseline_bytes, peak_bytes, end_bytes;
    int64_t peak_event; /* item of the first event that reaches the peak; -1: the baseline is the
                           peak */
};

struct reserved_curve {
    int64_t start_bytes, peak_bytes, end_bytes, at_active_peak_bytes;
    int64_t lowest_bytes;         /* below 0 if events and dump contradict each other */
    int64_t peak_event;           /* item, or -1 */
    int64_t active_at_peak_bytes; /* of the active curve, at the peak of reserved */
};

/* The state at the dump, exact. */
struct memory_state {
    uint64_t segments, blocks;
    uint64_t reserved_bytes, allocated_bytes, active_bytes, requested_bytes;
    int64_t rounding_bytes; /* below 0 if a file claims a request larger than its block */
    uint64_t inactive_bytes, largest_inactive_block_bytes;
    /* 0 unless the file contradicts itself: bytes of segments that no block covers, and bytes of
     * blocks beyond their segment; reserved = active + inactive + untold - excess. */
    uint64_t untold_bytes, excess_bytes;
};

/* These cover the whole trace, even if only a range of it is held. */
struct flaws {
    uint64_t reallocated;            /* allocs of an address that was still active */
    uint64_t size_changed;           /* frees whose size differs from their alloc's */
    int64_t active_minus_dump_bytes; /* end of the active curve minus requested_bytes at the dump */
};

/* The curves by the definitions above, whatever was recorded: without any free_completed, for
 * example, active memory never falls. Equal to the timeline's unless trace->unrecorded. */
struct literal_curves {
    struct curve active, allocated;
    int64_t reserved_at_active_peak_bytes;
};

/* Text that torch.cuda.memory._annotate_tensor() attached to an allocation. */
struct note {
    bool in_trace; /* as in struct live */
    uint32_t index;
    string_id text;
    uint64_t event; /* first_event of the trace plus the item of the annotate event */
};

/* The stack of an allocation whose event has none, but whose block at the dump has: PyTorch records
 * with context="state" that way. */
struct block_stack {
    uint32_t lifetime;
    stack_id stack;
};

struct timeline {
    const struct snapshot *snapshot; /* not owned */
    const struct trace *trace;       /* an empty trace if the device has none */
    uint32_t device;
    struct lifetime *lifetimes; /* in order of allocation */
    size_t lifetime_count, lifetime_capacity;
    struct preexisting *preexisting;
    size_t preexisting_count, preexisting_capacity;
    struct note *notes; /* by allocation: live_note_text() */
    size_t note_count, note_capacity;
    struct block_stack *block_stacks; /* by lifetime */
    size_t block_stack_count, block_stack_capacity;
    struct curve active, allocated;
    struct reserved_curve reserved;
    struct literal_curves literal;
    struct memory_state state;
    uint64_t pending_bytes; /* part of state.requested_bytes: freed, but in use by a stream */
    struct flaws flaws;
    uint64_t by_action[ACTION_CODES];
};

/* NULL on failure: STATUS_LIMIT, or STATUS_BAD_INPUT if sizes add up to 2^62 bytes and more. This
 * and all functions below use the snapshot's budget. */
struct timeline *timeline_build(const struct snapshot *snapshot, uint32_t device,
                                struct error *err);
void timeline_destroy(struct timeline *timeline); /* NULL is allowed */

/* False if no allocation was recorded, or no lifetime: memory may have been higher. */
static inline bool timeline_knows_peak(const struct timeline *timeline)
{
    return trace_has_lifetimes(timeline->trace) &&
           (timeline->by_action[ACTION_ALLOC] > 0 || timeline->trace->edge.present);
}

/* True if PyTorch had no memory on the device, neither at the dump nor in any event: dumping adds
 * an event for each device, also for those that the program does not use. False for a range. */
bool timeline_is_unused(const struct timeline *timeline);

/* False if the file has no totals of reserved memory. */
static inline bool timeline_knows_reserved(const struct timeline *timeline)
{
    const struct profile_facts *profile = &timeline->snapshot->profile;
    return !profile->is_profile || (profile->has_reserved && timeline->device != DEVICE_HOST);
}

enum curve_kind { CURVE_ACTIVE, CURVE_ALLOCATED };

/* The curves after trace item `item`; -1: before the first item. */
struct moment {
    int64_t item;
    int64_t active_bytes, allocated_bytes, reserved_bytes;
};

void timeline_moment(const struct timeline *timeline, int64_t item, struct moment *moment);

/* The item that --at refers to: the last one at or before the point. STATUS_USAGE, with the range
 * of the trace, if the point lies outside or the events have no time. */
bool timeline_item_at(const struct timeline *timeline, struct point point, int64_t *item,
                      struct error *err);

/* An allocation live at a moment. If in_trace, `index` refers to lifetimes, else to preexisting. */
struct live {
    bool in_trace;
    uint32_t index;
    uint64_t addr, size;
    stack_id stack;
};

/* The stack that made a lifetime: of its event, else of its block; STACK_NONE if neither has one.
 */
stack_id timeline_stack(const struct timeline *timeline, size_t index);

static inline struct live live_of_lifetime(const struct timeline *timeline, size_t index)
{
    const struct trace *trace = timeline->trace;
    uint32_t item = timeline->lifetimes[index].alloc;
    return (struct live){.in_trace = true,
                         .index = (uint32_t)index,
                         .addr = trace_addr(trace, item),
                         .size = trace_size(trace, item),
                         .stack = timeline_stack(timeline, index)};
}

static inline struct live live_of_preexisting(const struct timeline *timeline, size_t index)
{
    const struct preexisting *preexisting = &timeline->preexisting[index];
    return (struct live){.in_trace = false,
                         .index = (uint32_t)index,
                         .addr = preexisting->addr,
                         .size = preexisting->size,
                         .stack = preexisting->stack};
}

struct live_list {
    struct live *items;
    size_t count, capacity;
    int64_t unexplained_bytes; /* the curve's value minus the sum of the list: 0 unless the trace
                                  contradicts itself */
    struct budget *budget;     /* not owned */
};

/* Lists everything live (active curve) after `item`. STATUS_BAD_INPUT if the sizes add up to 2^62
 * bytes and more, so the sizes of a list never do. */
bool timeline_live(const struct timeline *timeline, int64_t item, struct live_list *list,
                   struct error *err);
void live_list_release(struct live_list *list);

#endif
