/* The fields of the rows of an allocator snapshot, and how a row is completed from them. */
#ifndef MEMSNAP_DECODE_CORE_SNAPSHOT_FIELDS_H
#define MEMSNAP_DECODE_CORE_SNAPSHOT_FIELDS_H

#include "decode/core/fields.h"
#include "decode/core/rows.h"

/* The dicts that a snapshot consists of. */
enum row_kind {
    ROW_SNAPSHOT,   /* enum snapshot_part; all are FIELD_OTHER */
    ROW_EVENT,      /* struct event_draft */
    ROW_SEGMENT,    /* struct segment_row */
    ROW_BLOCK,      /* struct block_draft */
    ROW_HISTORY,    /* struct block_history */
    ROW_ANNOTATION, /* struct annotation_row */
    ROW_FRAME,      /* struct frame_draft */
    ROW_KINDS,
};

enum snapshot_part {
    PART_SEGMENTS,
    PART_TRACES, /* a list of events for each device */
    PART_SETTINGS,
    PART_ANNOTATIONS,
    PART_HOST_SEGMENTS, /* as PART_SEGMENTS, of pinned host memory */
    PART_HOST_TRACE,    /* one list of events */
    PART_COUNT
};

#define PARTS_NEEDED                                                                               \
    (1u << PART_SEGMENTS | 1u << PART_TRACES | 1u << PART_HOST_SEGMENTS |                          \
     1u << PART_HOST_TRACE) /* a snapshot has at least one of them */

/* In the order in which picklers write them. */
enum event_field {
    EVENT_ACTION,
    EVENT_ADDR,
    EVENT_SIZE,
    EVENT_STREAM,
    EVENT_TIME_US,
    EVENT_COMPILE_CONTEXT,
    EVENT_USER_METADATA,
    EVENT_INTERNAL_METADATA,
    EVENT_FRAMES,
    EVENT_POOL_ID,
    EVENT_FORWARD_FRAMES,
    EVENT_CATEGORY,
    EVENT_DEVICE_FREE,
    EVENT_FIELDS,
};

/* An event whose fields are being read. */
struct event_draft {
    struct event_row row;
    uint64_t device_free;
    uint32_t seen; /* 1 << enum event_field of the fields found */
};

enum segment_field {
    SEGMENT_DEVICE,
    SEGMENT_ADDRESS,
    SEGMENT_TOTAL_SIZE,
    SEGMENT_ALLOCATED_SIZE,
    SEGMENT_ACTIVE_SIZE,
    SEGMENT_REQUESTED_SIZE,
    SEGMENT_STREAM,
    SEGMENT_TYPE,
    SEGMENT_POOL_ID,
    SEGMENT_IS_EXPANDABLE,
    SEGMENT_FRAMES,
    SEGMENT_FORWARD_FRAMES,
    SEGMENT_BLOCKS,
    SEGMENT_FIELDS,
};

enum block_field {
    BLOCK_ADDRESS,
    BLOCK_SIZE,
    BLOCK_REQUESTED_SIZE,
    BLOCK_STATE,
    BLOCK_FRAMES,
    BLOCK_FORWARD_FRAMES,
    BLOCK_HISTORY,
    BLOCK_FIELDS,
};

enum history_field { HISTORY_REAL_SIZE, HISTORY_FRAMES, HISTORY_FIELDS };

/* The form in which torch 2.0 has requested_size and frames. If there are several items, the first
 * counts. */
struct block_history {
    uint64_t real_size;
    stack_id stack;
    uint32_t seen; /* 1 << enum history_field */
};

/* A block whose fields are being read. */
struct block_draft {
    struct block_row row;
    struct block_history history;
    uint32_t seen; /* 1 << enum block_field */
};

enum annotation_field {
    ANNOTATION_FIELD_STAGE,
    ANNOTATION_FIELD_NAME,
    ANNOTATION_FIELD_DEVICE,
    ANNOTATION_FIELD_TIME_US,
    ANNOTATION_FIELDS,
};

enum frame_field {
    FRAME_NAME,
    FRAME_FILENAME,
    FRAME_LINE,
    FRAME_FX_OP,
    FRAME_FX_NAME,
    FRAME_FX_TARGET,
    FRAME_FX_TRACE,
    FRAME_FIELDS,
};

/* A frame whose fields are being read. */
struct frame_draft {
    struct frame frame;
    struct frame_detail detail;
};

struct row_fields {
    const char *name;                            /* "event" */
    const char *name_with_a;                     /* "an event" */
    const char *expected_dict, *expected_object; /* "an event (a dict)", "an event (an object)" */
    const struct field *fields;
    unsigned count;          /* at most 32 */
    bool tells_unknown_keys; /* report unknown keys to the sink */
};

extern const struct row_fields snapshot_rows[ROW_KINDS];

static inline const struct field *row_field(enum row_kind kind, unsigned index)
{
    return &snapshot_rows[kind].fields[index];
}

static inline void event_begin(struct event_draft *event)
{
    /* one by one: compilers clear the whole struct with a slow string instruction */
    event->row.action = ACTION_OTHER;
    event->row.action_name = STRING_EMPTY;
    event->row.addr = 0;
    event->row.size = 0;
    event->row.time_us = TIME_NONE;
    event->row.stack = STACK_NONE;
    event->row.extra = (struct event_extra){0};
    event->device_free = 0;
    event->seen = 0;
}

#define EVENT_SEEN(field) (UINT32_C(1) << (field))

/* EVENT_SEEN() of the fields that an event must have. */
extern const uint32_t event_required[ACTION_OTHER + 1];

static inline uint32_t event_missing(const struct event_draft *event)
{
    return event_required[event->row.action] & ~event->seen;
}

/* Reports "an event without ...". Returns false. */
bool event_refuse(const struct event_draft *event, uint64_t offset, struct error *err);

/* Checks that no field is missing, and completes the row. `offset` is the event's. */
static inline bool event_finish(struct event_draft *event, uint64_t offset, struct error *err)
{
    if (event_missing(event) != 0)
        return event_refuse(event, offset, err);
    if (event->row.action == ACTION_OOM && (event->seen & EVENT_SEEN(EVENT_DEVICE_FREE)) != 0)
        event->row.addr = event->device_free;
    return true;
}

/* The enumerators by their names in the file; false if the name is unknown. */
bool block_state_of(struct text name, enum block_state *state);
bool annotation_stage_of(struct text name, enum annotation_stage *stage);

/* Interns the frame with its detail. */
bool frame_finish(struct frame_draft *frame, struct symbols *symbols, frame_id *id,
                  struct error *err);

/* Checks that no field is missing, and completes the row. A block without an address in the file
 * begins at `*address`, which is advanced to the end of the block. */
bool block_finish(struct block_draft *block, uint64_t offset, struct error *err);
bool block_place(struct block_row *block, bool has_address, uint64_t *address, uint64_t offset,
                 struct error *err);

#endif
