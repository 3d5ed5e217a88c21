/* Selects a range of every trace while the file is read.
 *
 * Events outside the range still matter: their allocations and frees decide what is live inside. So
 * the cutter replays every event with one table of live addresses, keeps only the rows of the
 * range, and records in the edge what is needed to make the numbers inside the range equal to those
 * of the whole trace. */
#ifndef MEMSNAP_MODEL_WINDOW_H
#define MEMSNAP_MODEL_WINDOW_H

#include "base/units.h"
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

/* The half-open range [from, to). Both POINT_OPEN: everything. With times, the range begins at the
 * first event at or after `from` and ends before the first later event at or after `to`; events
 * without a time neither begin nor end it. An empty range stands for a moment. */
struct window {
    struct point from, to;
};

enum window_phase { WINDOW_BEFORE, WINDOW_INSIDE, WINDOW_AFTER };

/* The position of one device's trace relative to the range, updated event by event. */
struct window_gate {
    struct window window;
    enum window_phase phase; /* of the last event; initially the phase if there are no events */
    uint64_t events;         /* number of events so far */
    uint64_t first_inside;   /* index of the first event that was not before the range, if any */
    int64_t first_time_us;   /* of the first that has a time, or TIME_NONE */
    int64_t last_time_us;    /* of the last one */
};

void window_gate_init(struct window_gate *gate, const struct window *window);
/* Takes in the next event and returns gate->phase. */
enum window_phase window_gate_pass(struct window_gate *gate, int64_t time_us);
/* Index of the first event inside, or the number of events so far if none was. */
uint64_t window_gate_first(const struct window_gate *gate);

/* All events of a device, for an error. */
struct event_span {
    uint32_t device;
    uint64_t count;
    int64_t first_time_us, last_time_us; /* or TIME_NONE */
};

/* STATUS_USAGE: no event of any device lies in the range; `span` is of the device with the most
 * events. Returns false. */
bool window_missed(const struct window *window, const struct event_span *span, struct error *err);

/* An allocation of the trace from before the range that still counts in a curve when the range
 * begins (see struct timeline for the curves). */
struct edge_allocation {
    uint64_t event; /* index in the file of its alloc */
    uint64_t addr, size;
    int64_t time_us;
    stack_id stack;
    uint32_t extra;
    bool free_requested; /* freed before the range: counts in active only */
    bool free_completed; /* completed before the range, without a request: counts in allocated only
                          */
    bool shadowed; /* its address was allocated again before the range, so no free can match it */
};

/* A free after the range of a block that no event of the trace allocated. */
struct edge_free {
    uint64_t addr, size;
    enum action action; /* ACTION_FREE_REQUESTED or ACTION_FREE_COMPLETED */
};

/* An address that an alloc of the trace holds at the end of the trace, so the dump's block there
 * was made during the trace. */
struct edge_address {
    uint64_t addr;
    bool in_active, in_allocated; /* not yet removed by free_completed, by free_requested */
};

#define NO_EDGE_EVENT UINT64_MAX

/* Text of an annotate event before the range, for an allocation that still counts then. */
struct edge_note {
    uint64_t event; /* index in the file of the annotate event */
    uint64_t alloc; /* the same of the alloc; NO_EDGE_EVENT: older than the trace */
    uint64_t addr;
    string_id text;
};

struct window_edge {
    bool present;                 /* false: the trace is whole, and everything else here is zero */
    struct edge_allocation *held; /* by event */
    size_t held_count;
    struct edge_note *notes; /* by event */
    size_t note_count;
    struct edge_free *later_frees; /* in file order */
    size_t later_free_count;
    struct edge_address *end_live; /* by address */
    size_t end_live_count;
    /* The values of the curves at the beginning of the range that `held` does not explain. */
    int64_t active_offset, allocated_offset;
    int64_t active_after, reserved_after;   /* net sum of the events after the range */
    uint64_t reallocated, size_changed;     /* flaws outside the range: see struct flaws */
    uint64_t skipped_before, skipped_after; /* number of events */
    int64_t first_time_us; /* of the first event in the file that has a time, or TIME_NONE */
    int64_t last_time_us;  /* of the last one */
};

/* "A:B", "A:", ":B": each side is an event index, +OFFSET with a unit (+1.5s, +20ms, +300us), or
 * @MICROSECONDS as recorded. STATUS_USAGE with an example if malformed, or if two sides of one kind
 * leave nothing between them. */
bool window_parse(const char *text, struct window *window, struct error *err);
/* Parses a single point, as in --at. */
bool point_parse(const char *text, struct point *point, struct error *err);
/* A point of time as these accept it, exactly: "+1.5s", "+25.317ms", "@1700000000000000". */
const char *point_text(char out[UNITS_TEXT_SIZE], enum point_kind kind, int64_t value);

#endif
