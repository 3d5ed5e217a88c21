/* The ranges of time of a profile, in the order of their starts. Internal to decode/profiler.
 *
 * There is one for most events of the file, so they are kept as differences to the range before, in
 * numbers of variable length: 8 bytes are usual. They are only read in order.
 *
 * A file lists the ranges of a thread as a few sorted runs, such as operators and then Python
 * functions. Each run is kept as it comes, and a cursor merges them. */
#ifndef MEMSNAP_DECODE_PROFILER_RANGES_H
#define MEMSNAP_DECODE_PROFILER_RANGES_H

#include "base/budget.h"
#include "base/idtable.h"
#include "base/symbols.h"

/* What a range of time was spent on. */
enum range_kind {
    RANGE_OPERATOR, /* cpu_op: an operator, an autograd node, or a range of record_function() */
    RANGE_ENGINE,   /* the autograd engine that evaluates a node */
    RANGE_PYTHON,   /* a Python function */
    RANGE_MODULE,   /* a call of an nn.Module */
    RANGE_BUILT_IN, /* a call of a function written in C: only its `from` is kept */
    RANGE_ANNOTATION,
};

#define RANGE_LONGEST                                                                              \
    ((INT64_C(1) << 44) - 1) /* nanoseconds, almost five hours; longer ones end                    \
                              */

/* What many ranges have in common. */
struct range_label {
    string_id name;
    string_id calls; /* the Python stack that old traces have in an operator's arguments */
    string_id from;  /* "model.py:58", the line that calls a function or a module */
    uint8_t kind;    /* enum range_kind */
};

struct profile_range {
    int64_t start_ns;
    int64_t duration_ns; /* from 0 to RANGE_LONGEST */
    struct range_label label;
    uint32_t sequence; /* of operators: 1 + the autograd node's number; 0: none */
};

static inline int64_t range_end(const struct profile_range *range)
{
    return range->start_ns + range->duration_ns;
}

/* Ranges of a thread by start; those that contain others come before them. */
struct range_run {
    uint8_t *bytes;
    size_t size, capacity;
    uint32_t count;
    uint32_t next;                 /* run of the same thread */
    int64_t start_ns, duration_ns; /* of the last range */
    uint32_t sequence;             /* the last one that is not 0 */
    bool is_jumbled;               /* not in order until ranges_finish() */
};

#define RUNS_MOST   16 /* of a thread */
#define RANGES_MOST (UINT32_MAX - 1)

struct range_thread {
    uint32_t first, last, chosen; /* runs, if there is one; chosen for the last range */
    uint32_t run_count;
    uint32_t ranges_before; /* of the threads before; set by ranges_finish() */
};

struct ranges {
    struct budget *budget;
    struct range_label *labels;
    size_t label_count, label_capacity;
    struct idtable label_index;
    struct range_run *runs;
    size_t run_count, run_capacity;
    struct range_thread *threads;
    size_t thread_count, thread_capacity;
    size_t count;
};

void ranges_init(struct ranges *ranges, struct budget *budget);
void ranges_release(struct ranges *ranges);

/* `range->duration_ns` may be larger than RANGE_LONGEST. */
bool ranges_add(struct ranges *ranges, size_t thread, const struct profile_range *range,
                struct error *err);

/* Sorts what is out of order. No range may be added afterwards, and no cursor begun before. */
bool ranges_finish(struct ranges *ranges, struct error *err);

struct range_stream {
    const uint8_t *at, *end;
    struct profile_range head; /* the next range */
    uint32_t sequence;         /* the last one that is not 0 */
};

/* The ranges of a thread, one by one. */
struct range_cursor {
    bool more; /* `range` is one */
    struct profile_range range;
    uint32_t number; /* of the range among those of all threads */
    const struct ranges *ranges;
    unsigned stream_count;
    struct range_stream streams[RUNS_MOST];
};

/* At the first range. */
struct range_cursor range_cursor_begin(const struct ranges *ranges, size_t thread);
void range_cursor_step(struct range_cursor *cursor);

#endif
