/* Cutting a range out of every trace while it streams by, before it is held.
 *
 * Events outside the range still count: what they allocated and freed decides
 * what is live inside. So the cutter replays every event through one table of
 * live addresses, keeps only the rows of the range, and leaves in the edge what
 * is needed for the numbers inside the range to be those of the whole trace. */
#ifndef MEMSNAP_MODEL_WINDOW_H
#define MEMSNAP_MODEL_WINDOW_H

#include "decode/core/rows.h"

enum point_kind {
    POINT_OPEN,   /* no bound on this side */
    POINT_EVENT,  /* index of an event in the device's trace */
    POINT_OFFSET, /* microseconds after the first event of the device's trace */
    POINT_TIME,   /* time_us as recorded */
};

struct point {
    enum point_kind kind;
    int64_t value;
};

/* The half-open range [from, to). Both POINT_OPEN: everything. With times, the range runs from the
 * first event at or after `from` up to the first event from there on at or after `to`, which is
 * left out; events without a time never begin or end it. It may be empty: then it is a moment. */
struct window {
    struct point from, to;
};

enum window_phase { WINDOW_BEFORE, WINDOW_INSIDE, WINDOW_AFTER };

/* Where one device's trace is in a range, as its events come in order. */
struct window_gate {
    struct window window;
    enum window_phase phase; /* of the last event; before the first: what holds without any */
    uint64_t events;         /* how many came */
    uint64_t first_inside;   /* index of the first that was not before the range, if any */
    int64_t first_time_us;   /* of the first that has a time, or TIME_NONE */
};

void window_gate_init(struct window_gate *gate, const struct window *window);
/* Takes in the next event; the same as gate->phase from then on. */
enum window_phase window_gate_pass(struct window_gate *gate, int64_t time_us);
/* Index of the first event inside; how many there were where none was so far. */
uint64_t window_gate_first(const struct window_gate *gate);
/* STATUS_USAGE: no event of any device lies in the range. The arguments are of the device with the
 * most events. Returns false. */
bool window_missed(const struct window *window, uint32_t device, uint64_t events,
                   int64_t first_time_us, struct error *err);

/* An allocation of the trace from before the range that still counts in a curve when the range
 * begins (see struct timeline for the curves). */
struct edge_allocation {
    uint64_t event; /* index in the file of its alloc */
    uint64_t addr, size;
    int64_t time_us;
    stack_id stack;
    uint32_t extra;
    bool free_requested; /* before the range: counts in active only */
    bool free_completed; /* before the range, though never requested: counts in allocated only */
    bool shadowed; /* its address was allocated again before the range: no free can reach it */
};

/* A free after the range of a block that no event of the trace allocated. */
struct edge_free {
    uint64_t addr, size;
    enum action action; /* ACTION_FREE_REQUESTED or ACTION_FREE_COMPLETED */
};

/* An address that an alloc of the trace holds at the end of the trace: the dump's block there
 * was not made before the trace. */
struct edge_address {
    uint64_t addr;
    bool in_active, in_allocated; /* not freed again by completed, by requested */
};

struct window_edge {
    bool present;                 /* false: the trace is whole, and everything else here is zero */
    struct edge_allocation *held; /* by event */
    size_t held_count;
    struct edge_free *later_frees; /* in file order */
    size_t later_free_count;
    struct edge_address *end_live; /* by address */
    size_t end_live_count;
    /* What the curves have at the beginning of the range beyond what `held` explains. */
    int64_t active_offset, allocated_offset;
    int64_t active_after, reserved_after;   /* what events after the range add (net) */
    uint64_t reallocated, size_changed;     /* flaws outside the range: see struct flaws */
    uint64_t skipped_before, skipped_after; /* events */
    int64_t first_time_us; /* of the first event in the file that has a time, or TIME_NONE */
};

/* "A:B", "A:", ":B": each side an event index, +OFFSET with a unit (+1.5s, +20ms, +300us), or
 * @MICROSECONDS as recorded. STATUS_USAGE with an example when malformed, or when two sides of one
 * kind leave nothing between them. */
bool window_parse(const char *text, struct window *window, struct error *err);
/* One such point, as in --at. */
bool point_parse(const char *text, struct point *point, struct error *err);

#endif
