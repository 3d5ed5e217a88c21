/* An allocator snapshot in memory: events in columns, segments, blocks,
 * annotations, settings. Immutable once loaded.
 *
 * The snapshot owns everything it points to, its symbols included. */
#ifndef MEMSNAP_MODEL_SNAPSHOT_H
#define MEMSNAP_MODEL_SNAPSHOT_H

#include "base/bisect.h"
#include "base/symbols.h"
#include "decode/core/input.h"
#include "decode/core/rows.h"
#include "decode/core/sniff.h"
#include "decode/core/source.h"
#include "model/allocator_rules.h"
#include "model/annotation_index.h"
#include "model/columns.h"
#include "model/window.h"

/* ACTION_OTHER is never stored: unknown actions get codes of their own. */
#define ACTION_CODES 255

/* The events of one device, oldest first. Arrays have `count` items. */
struct trace {
    uint32_t device;
    size_t count;         /* below UINT32_MAX */
    uint64_t first_event; /* index in the file of item 0: nonzero only if a range cut the trace */
    uint64_t file_events; /* number of events the file has for this device */
    struct based_column addr;  /* trace_addr() */
    struct size_column size;   /* trace_size() */
    struct based_column time;  /* trace_time() */
    struct extra_column extra; /* trace_extra() */
    stack_id *stack;
    uint8_t *action; /* enum action below ACTION_OTHER, or a code named by snapshot.action_names */
    /* By item, the index in the file, if the loader sorted the events by time; else NULL. */
    uint32_t *order;
    struct ahead *ahead;     /* its events, replayed while they were read (ahead.h), or NULL */
    bool goes_back;          /* times in the file go back; sorted unless `order` is NULL */
    uint64_t back_event;     /* then the first such event: its index in the file */
    struct window_edge edge; /* the events left out by a range; empty without one */
    uint32_t unrecorded;     /* ACTION_BIT() of kinds that were not recorded (recording.h) */
    /* The actions that begin an allocation, and that end it in the allocated and in the active
     * curve. If one kind of free was not recorded, the other ends it in both curves. If too little
     * was recorded to know lifetimes, all are ACTION_NEVER. */
    uint8_t birth, request, completion;
};

#define ACTION_NEVER UINT8_MAX

#define TRACE_OF_DEVICE(device_)                                                                   \
    (struct trace)                                                                                 \
    {                                                                                              \
        .device = (device_), .birth = ACTION_ALLOC, .request = ACTION_FREE_REQUESTED,              \
        .completion = ACTION_FREE_COMPLETED                                                        \
    }

/* False if the trace tells nothing about lifetimes. */
static inline bool trace_has_lifetimes(const struct trace *trace)
{
    return trace->birth != ACTION_NEVER;
}

/* The effect of an event on a curve, by action: 1 adds its size, -1 subtracts it. */
struct trace_signs {
    int8_t of[ACTION_CODES + 1];
};

static inline struct trace_signs trace_active_signs(const struct trace *trace)
{
    struct trace_signs signs = {{0}};
    signs.of[trace->birth] = 1;
    signs.of[trace->completion] = (int8_t) - (trace->completion != ACTION_NEVER);
    signs.of[ACTION_NEVER] = 0;
    return signs;
}

/* True if the trace reaches the dump: false if a range left out its last events. */
static inline bool trace_has_end(const struct trace *trace)
{
    return trace->first_event + trace->count == trace->file_events;
}

/* The index in the file of an item; -1 is returned unchanged. */
static inline int64_t trace_file_event(const struct trace *trace, int64_t item)
{
    if (item < 0)
        return -1;
    return trace->order ? trace->order[item] : (int64_t)trace->first_event + item;
}

/* The item of an event of the file that the trace has. */
size_t trace_item(const struct trace *trace, uint64_t event);

static inline uint64_t trace_addr(const struct trace *trace, size_t item)
{
    return column_address(&trace->addr, item);
}

static inline uint64_t trace_size(const struct trace *trace, size_t item)
{
    return column_size(&trace->size, item);
}

/* Microseconds, or TIME_NONE. */
static inline int64_t trace_time(const struct trace *trace, size_t item)
{
    return column_time(&trace->time, item);
}

/* False for a trace whose events have no times, as some back ends write: annotations, which have
 * nothing else, cannot be placed in it. */
static inline bool trace_has_times(const struct trace *trace)
{
    for (size_t i = 0; i < trace->count; i++)
        if (trace_time(trace, i) != TIME_NONE)
            return true;
    return false;
}

/* Index into snapshot.extras. */
static inline uint32_t trace_extra(const struct trace *trace, size_t item)
{
    return column_extra(&trace->extra, item);
}

struct segment {
    uint32_t device;
    bool is_expandable;
    uint64_t address, total_size;
    uint64_t allocated_size, active_size, requested_size; /* as the file claims */
    int64_t stream;
    uint64_t pool[2];
    string_id segment_type;
    stack_id stack, forward_stack;
    size_t first_block, block_count; /* in snapshot.blocks */
};

struct snapshot {
    struct symbols *symbols;
    struct trace *traces; /* by device index; devices without a list are empty */
    size_t trace_count;
    struct trace host; /* of pinned host memory, DEVICE_HOST; often empty */
    struct segment *segments;
    size_t segment_count;
    struct block_row *blocks;
    size_t block_count;
    struct annotation_row *annotations; /* in file order */
    size_t annotation_count;
    struct annotation_index annotation_index; /* index of the annotations */
    struct setting_row *settings;
    size_t setting_count;
    struct allocator_rules rules; /* derived from the settings */
    bool events_lost; /* the recorder's ring buffer was full, according to the settings */
    struct event_extra *extras;
    size_t extra_count;
    /* By time, if options asked for them: kernel_ns is that of all launches so far. */
    struct launch_row *launches;
    size_t launch_count;
    string_id action_names[ACTION_CODES]; /* by code; the ten known ones are always set */
    size_t action_code_count;
    struct unknown_key {
        const char *where;
        string_id key;
    } * unknown_keys;
    size_t unknown_key_count;

    /* the input itself */
    enum encoding encoding;
    enum compression compression;
    int protocol; /* -1 for JSON */
    bool list_only;
    struct profile_facts profile; /* of a profiler trace */
    uint64_t input_bytes;         /* size of the file as stored (compressed, if it is) */
    struct budget *budget;        /* owned */
};

/* Called from time to time by the loading thread. `total` is 0 if unknown. */
struct load_progress {
    void (*update)(void *self, uint64_t bytes_read, uint64_t total);
    void *self;
};

struct load_options {
    size_t max_memory;    /* bytes; 0: budget_default_limit() */
    struct window window; /* which part of each trace to keep */
    bool file_order;      /* keep the order of the file, as with a window, even if times go back */
    bool launches;        /* keep the launches of kernels of a profiler trace */
    bool ahead;           /* timelines will be built: begin while reading (ahead.h) */
    const struct load_progress *progress; /* NULL: none */
};

/* Reads a snapshot from `fd` and closes it. NULL on failure. */
struct snapshot *snapshot_load(int fd, const struct load_options *options, struct error *err);
/* Like snapshot_load(), from memory that the caller keeps. */
struct snapshot *snapshot_load_memory(const void *bytes, size_t size,
                                      const struct load_options *options, struct error *err);
/* Like snapshot_load(), from an input that has not been read yet. Closes the input and takes over
 * its budget, also on failure; ignores options->max_memory. */
struct snapshot *snapshot_load_input(struct input *input, const struct load_options *options,
                                     struct error *err);
void snapshot_destroy(struct snapshot *snapshot); /* NULL is allowed */

/* The value of a setting by its flattened key; false if the file does not have it. */
bool snapshot_setting(const struct snapshot *snapshot, const char *key, struct text *value);

/* The code of an action by its name, or ACTION_NEVER if the snapshot has no such event. */
uint8_t snapshot_action(const struct snapshot *snapshot, const char *name);

/* The number of launches of kernels before a time. */
static inline size_t snapshot_launches_before(const struct snapshot *snapshot, int64_t time_us)
{
    const struct launch_row *launches = snapshot->launches;
    return launches ? bisect_less_signed(&launches->time_us, sizeof(*launches),
                                         snapshot->launch_count, time_us)
                    : 0;
}

/* The trace of a device; NULL if the snapshot has none. */
static inline const struct trace *snapshot_trace(const struct snapshot *snapshot, uint32_t device)
{
    return device == DEVICE_HOST            ? &snapshot->host
           : device < snapshot->trace_count ? &snapshot->traces[device]
                                            : NULL;
}

/* The devices that have segments or events, in ascending order, DEVICE_HOST last. The caller frees
 * `*devices` with free(). */
bool snapshot_devices(const struct snapshot *snapshot, uint32_t **devices, size_t *count,
                      struct error *err);

#endif
