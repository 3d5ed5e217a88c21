/* The typed rows that a snapshot decoder hands out while it reads.
 *
 * A decoder (pickle or JSON) calls the sink's functions in file order. A callback that returns
 * false has filled `err` and stops the decoding. String, frame and stack ids refer to the symbols
 * passed to the decoder. Rows are only valid during the call. All sizes are bytes. */
#ifndef MEMSNAP_DECODE_CORE_ROWS_H
#define MEMSNAP_DECODE_CORE_ROWS_H

#include "base/error.h"
#include "base/symbols.h"
#include "decode/core/sniff.h"

/* PyTorch's c10::CachingDeviceAllocator::TraceEntry::Action, by their names in the file. Any other
 * name is ACTION_OTHER, and `action_name` has it. */
enum action {
    ACTION_ALLOC,
    ACTION_FREE_REQUESTED,
    ACTION_FREE_COMPLETED,
    ACTION_SEGMENT_ALLOC,
    ACTION_SEGMENT_FREE,
    ACTION_SEGMENT_MAP,
    ACTION_SEGMENT_UNMAP,
    ACTION_OOM,
    ACTION_SNAPSHOT,
    ACTION_WORKSPACE_SNAPSHOT,
    ACTION_OTHER,
};

extern const struct text action_texts[ACTION_OTHER]; /* the names of the known actions */

/* Names of actions that change no memory. Their events are ACTION_OTHER. */
#define ACTION_TEXT_ANNOTATE    "annotate"    /* user_metadata describes the allocation at addr */
#define ACTION_TEXT_EMPTY_CACHE "empty_cache" /* of some vendors */

/* The number that stands for pinned host memory among the devices. torch writes -1. */
#define DEVICE_HOST UINT32_MAX

#define TIME_NONE INT64_MIN /* the event has no time_us */

/* Values that are the same for most events; kept out of the columns and interned by the model. */
struct event_extra {
    int64_t stream;
    uint64_t pool[2];          /* (0, 0) if absent */
    string_id compile_context; /* STRING_EMPTY if absent */
    string_id user_metadata;
    string_id category; /* torch.profiler's label, present in converted profiles */
    /* of a backward pass: where the forward pass made the autograd node that runs */
    stack_id forward_stack;
    string_id internal_metadata; /* the allocator's own label, such as "mallocWithAddress" */
    /* "aten::addmm": the operator that autograd recorded. Only in a profiler trace, and only if the
     * sink wants launches */
    string_id operation;
};

struct event_row {
    enum action action;
    string_id action_name;
    uint64_t addr; /* for ACTION_OOM: device_free, the bytes the device had free */
    uint64_t size;
    int64_t time_us;
    stack_id stack;
    struct event_extra extra;
};

enum block_state { BLOCK_ACTIVE_ALLOCATED, BLOCK_ACTIVE_PENDING_FREE, BLOCK_INACTIVE };

struct block_row {
    uint64_t address; /* computed by the decoder if the file has none (legacy) */
    uint64_t size;    /* rounded */
    uint64_t requested_size;
    enum block_state state;
    stack_id stack, forward_stack;
};

struct segment_row {
    uint32_t device;
    uint64_t address;
    uint64_t total_size;
    uint64_t allocated_size, active_size, requested_size; /* as the file claims; 0 if absent */
    int64_t stream;
    uint64_t pool[2];
    string_id segment_type; /* "large" or "small" */
    bool is_expandable;
    stack_id stack, forward_stack;
    const struct block_row *blocks;
    size_t block_count;
};

enum annotation_stage { ANNOTATION_START, ANNOTATION_END };

struct annotation_row {
    enum annotation_stage stage;
    string_id name;
    uint32_t device;
    int64_t time_us;
};

/* One leaf of allocator_settings; nested dicts arrive flattened: "roundup_power2_divisions.1". */
struct setting_row {
    string_id key;
    string_id value; /* as Python prints it: True, 0.0, -1, the bare text of a string */
};

/* A call of a profiler trace that launched kernels. */
struct launch_row {
    int64_t time_us; /* of the host */
    int64_t kernel_ns;
    string_id operation; /* as in struct event_extra; STRING_EMPTY in the backward pass */
};

struct row_sink {
    void *self;
    bool (*event)(void *self, uint32_t device, const struct event_row *row, struct error *err);
    /* Called if the same event object occurs again in a trace. `sequence` is the number of events
     * that were handed out before its first occurrence, including repeats, over all devices. Only
     * pickles share objects. */
    bool (*event_again)(void *self, uint32_t device, uint64_t sequence, struct error *err);
    /* Returns the stack of an event that was handed out; `sequence` is the number of events before
     * it. NULL if the sink does not keep stacks. */
    stack_id (*stack)(void *self, uint64_t sequence);
    /* Announces every list in device_traces, including empty ones, before its events. host_traces
     * is announced as the list of DEVICE_HOST. */
    bool (*trace)(void *self, uint32_t device, struct error *err);
    bool (*segment)(void *self, const struct segment_row *row, struct error *err);
    bool (*annotation)(void *self, const struct annotation_row *row, struct error *err);
    /* Called in order of time. NULL if the sink does not want launches. */
    bool (*launch)(void *self, const struct launch_row *row, struct error *err);
    bool (*setting)(void *self, const struct setting_row *row, struct error *err);
    /* Called once for each distinct pair of `where` and a key that memsnap does not know. `where`
     * is "snapshot", "segment", "block", "event" or "annotation". */
    bool (*unknown_key)(void *self, const char *where, string_id key, struct error *err);
};

/* Properties of a profiler trace that was decoded as a snapshot. Its rows have the sizes of blocks,
 * and one segment for all the memory of a device. */
struct profile_facts {
    bool is_profile;
    bool no_addresses; /* the file has only sizes: allocations and frees were matched by size */
    bool has_reserved; /* the file has the totals of reserved memory, except for DEVICE_HOST */
    bool has_python;   /* Python functions were recorded (with_stack) */
    bool lacks_lines;  /* of them only those of their definitions are known */
    bool is_cut;       /* the file ends early, at byte `cut_at` */
    uint64_t cut_at;
    uint64_t oom_count;       /* [OutOfMemory] events, for which there are no rows */
    int64_t rank, world_size; /* -1 if absent */
    /* of a memory timeline */
    bool is_heap; /* a pprof profile of live memory: there are no events */
    bool is_timeline;
    bool is_sums;                 /* the file has only the sums of categories */
    uint64_t older_count;         /* allocations from before the profile; 0 if is_sums */
    int64_t older_bytes;          /* their sum */
    uint64_t unmatched_count;     /* frees of memory that the file does not show as allocated */
    uint64_t recategorized_count; /* frees of memory that was allocated in another category */
};

/* Properties of a decoded allocator snapshot, apart from its rows. */
struct decoded {
    enum encoding encoding;
    int protocol;   /* pickle: the PROTO operand, or 0 or 1 as derived from the opcodes; JSON: -1 */
    bool list_only; /* very old file: a bare list of segments */
    struct profile_facts profile;
};

#endif
