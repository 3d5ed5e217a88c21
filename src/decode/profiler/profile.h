/* A profiler trace in memory: ranges of time on threads, and changes of memory. Internal to
 * decode/profiler.
 *
 * Times are nanoseconds. They are relative to profile.base_ns until profile_prepare(). */
#ifndef MEMSNAP_DECODE_PROFILER_PROFILE_H
#define MEMSNAP_DECODE_PROFILER_PROFILE_H

#include "base/budget.h"
#include "base/idtable.h"
#include "base/symbols.h"
#include "decode/core/rows.h"
#include "decode/profiler/ranges.h"

struct profile_memory {
    int64_t time_ns;
    int64_t bytes;           /* negative: freed */
    uint64_t addr;           /* computed if the file has none */
    int64_t total, reserved; /* after the event; -1 if absent */
    uint32_t device;
    uint16_t thread;
    uint32_t sequence;   /* of the autograd node that ran, as in struct profile_range */
    string_id operation; /* operation_walk_to(); only if kernels are wanted */
    stack_id stack, forward_stack;
};

/* A kernel or copy on a device. */
struct profile_kernel {
    uint64_t correlation; /* of the call that launched it */
    int64_t duration_ns;
};

/* A call of the device's runtime. */
struct profile_launch {
    uint64_t correlation;
    int64_t time_ns;
    int64_t kernel_ns;   /* set by profile_join_kernels(): of the kernels that it launched */
    uint32_t kernels;    /* their number */
    string_id operation; /* set by profile_emit_launches(): operation_walk_to() */
    uint16_t thread;
};

struct profile {
    bool wants_kernels; /* set before reading: keep kernels and launches */
    struct symbols *symbols;
    struct budget *budget;
    struct ranges ranges;
    struct profile_memory *memory; /* in file order; after profile_prepare() by time */
    size_t memory_count, memory_capacity;
    struct profile_kernel *kernels; /* in file order */
    size_t kernel_count, kernel_capacity;
    struct profile_launch
        *launches; /* in file order; after profile_join_kernels() by thread, time */
    size_t launch_count, launch_capacity;
    string_id *threads; /* "PROCESS:THREAD" */
    size_t thread_count, thread_capacity;
    struct idtable thread_index;
    struct profile_range *annotations; /* by thread, then time; set by profile_prepare() */
    size_t annotation_count, annotation_capacity;
    int64_t base_ns; /* baseTimeNanoseconds */
    struct profile_facts facts;
};

void profile_init(struct profile *profile, struct symbols *symbols, struct budget *budget);
void profile_release(struct profile *profile);

/* The index of a thread; STATUS_LIMIT if there are too many. */
bool profile_thread(struct profile *profile, struct text key, uint16_t *thread, struct error *err);

/* Sorts everything, and finds the stacks of memory events. No range and no memory event may be
 * added afterwards. */
bool profile_prepare(struct profile *profile, struct error *err);

/* The outermost operator or autograd node that is open on a thread at a moment. Moments of one walk
 * ascend. */
struct profile_walk {
    struct range_cursor cursor;
    struct profile_range outermost; /* the last one that began */
    uint32_t number;                /* its number, or PROFILE_NO_RANGE */
};
#define PROFILE_NO_RANGE UINT32_MAX

/* kernels.c; all after profile_prepare(). Keeps only launches of kernels, with their times. */
void profile_join_kernels(struct profile *profile);
/* Hands the launches to the sink by time, instead of joining them by thread. */
bool profile_emit_launches(struct profile *profile, const struct row_sink *sink, struct error *err);
struct profile_walk profile_walk_begin(const struct profile *profile, size_t thread);
/* The number of walk->outermost if it is open, else PROFILE_NO_RANGE. */
uint32_t profile_walk_to(struct profile_walk *walk, int64_t time_ns);

/* Adds without overflow. Hostile values may make a sum too large: it becomes INT64_MAX / 4, which
 * the model refuses. */
static inline void profile_add(int64_t *sum, int64_t value)
{
    if (__builtin_add_overflow(*sum, value, sum))
        *sum = INT64_MAX / 4;
}

/* match.c: gives addresses to the events of a file that has none. */
bool profile_match(struct profile *profile, struct error *err);

/* stacks.c: sets the stacks of all memory events. */
bool profile_stacks(struct profile *profile, struct error *err);

/* order.c: sorts `count` indices into ascending order by `is_less`, with a stable merge sort that
 * is fast if there are few sorted runs. `is_less` is called with `self`. */
bool profile_sort(uint32_t *items, size_t count,
                  bool (*is_less)(const void *self, uint32_t a, uint32_t b), const void *self,
                  struct budget *budget, struct error *err);

#endif
