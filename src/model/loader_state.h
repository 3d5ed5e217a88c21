/* State shared by the parts of the loader. Internal to model/. */
#ifndef MEMSNAP_MODEL_LOADER_STATE_H
#define MEMSNAP_MODEL_LOADER_STATE_H

#include "base/idtable.h"
#include "decode/core/rows.h"
#include "model/ahead.h"
#include "model/cutter.h"
#include "model/loader.h"

/* Stores each distinct event_extra once. A trace has few of them, in long runs. */
struct extras {
    struct event_extra *items; /* in order of first appearance; grown by vec_grow */
    size_t count, capacity;
    uint32_t last; /* id of the previous event's extra */
    struct idtable table;
    struct budget *budget; /* not owned */
};

static inline bool extra_equal(const struct event_extra *a, const struct event_extra *b)
{
    return a->stream == b->stream && a->pool[0] == b->pool[0] && a->pool[1] == b->pool[1] &&
           a->compile_context == b->compile_context && a->user_metadata == b->user_metadata &&
           a->category == b->category && a->forward_stack == b->forward_stack &&
           a->internal_metadata == b->internal_metadata && a->operation == b->operation;
}

/* loader_columns.c: sets `last`. STATUS_LIMIT when over budget. */
bool extras_intern(struct extras *extras, const struct event_extra *extra, struct error *err);
/* Frees the table, not the items. */
void extras_release_table(struct extras *extras);

#define NO_DEVICE UINT64_MAX /* differs from any device that a row may name */

/* Growth state of the columns of a struct trace. */
struct columns {
    size_t addr, size, time, stack, action; /* capacities */
    size_t addr_bases, wide_addrs, wide_sizes, time_bases, wide_times,
        extra_runs;                /* capacities, too */
    size_t room;                   /* events that still fit into the current block */
    uint64_t addr_base, time_base; /* of the current block */
    uint32_t last_extra;           /* of the last event; UINT32_MAX before the first */

    bool announced;
    uint64_t events;       /* seen before the current run, whether kept or not */
    struct cutter *cutter; /* NULL: everything is kept */
    struct ahead *ahead;   /* replays what was read so far; NULL for most traces */
    uint32_t seen;         /* with a cutter: ACTION_BIT() of the actions in the file */
};

/* Consecutive events of one device. */
struct run {
    uint64_t sequence; /* of its first event, over all devices */
    uint64_t event;    /* the same event's index in the device's trace */
    uint32_t device;
};

struct loader {
    struct snapshot *snapshot;
    struct budget *budget;
    const struct window *window;      /* NULL: everything is kept */
    bool file_order, launches, ahead; /* struct load_options; ahead: not started yet */
    const struct load_progress *progress;
    const struct source *source;

    struct columns *columns; /* as many as snapshot->traces */
    struct columns host;     /* of snapshot->host */
    size_t columns_capacity, traces_capacity;
    struct extras extras;
    struct run *runs;
    size_t run_count, runs_capacity;
    uint64_t run_device; /* of the latest run; NO_DEVICE before the first */
    uint64_t sequence;   /* number of events handed out, including repeated ones */

    size_t segments_capacity, blocks_capacity, annotations_capacity, settings_capacity,
        unknown_keys_capacity, launches_capacity;
};

static inline struct trace *loader_trace_of(struct loader *loader, uint32_t device)
{
    return device == DEVICE_HOST ? &loader->snapshot->host : &loader->snapshot->traces[device];
}

static inline struct columns *loader_columns_of(struct loader *loader, uint32_t device)
{
    return device == DEVICE_HOST ? &loader->host : &loader->columns[device];
}

/* loader_events.c */
void loader_report_progress(struct loader *loader);
bool loader_event(void *self, uint32_t device, const struct event_row *row, struct error *err);
bool loader_event_again(void *self, uint32_t device, uint64_t sequence, struct error *err);
stack_id loader_stack(void *self, uint64_t sequence);
bool loader_trace(void *self, uint32_t device, struct error *err);
bool loader_finish_traces(struct loader *loader, struct error *err);

/* loader_order.c: sorts a whole trace by time, stably, if its times go back a few times and no
 * address sees its events in another order then. */
bool loader_order(struct loader *loader, uint32_t device, struct error *err);

/* loader_columns.c: appends an event with any values, of the extra `last`. */
bool loader_append(struct loader *loader, uint32_t device, const struct event_row *row,
                   uint8_t action, struct error *err);

#endif
