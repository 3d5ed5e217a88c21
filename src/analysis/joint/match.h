/* Joins the allocations of a snapshot with those of a profiler trace of the same run.
 *
 * Both recorded every allocation of the device in order, so the part of the run that both cover is
 * the same sequence of addresses. A training loop repeats such sequences; where both have times,
 * the right place is where the differences of times hardly vary, whatever their clocks. Between two
 * runs of a program, which often have the same addresses, they vary by milliseconds. */
#ifndef MEMSNAP_ANALYSIS_JOINT_MATCH_H
#define MEMSNAP_ANALYSIS_JOINT_MATCH_H

#include "model/profiled.h"
#include "model/timeline.h"

#define JOINT_NONE UINT32_MAX

/* The join of one device. */
struct joint {
    const struct profiled *profiled; /* not owned */
    uint32_t *allocation;            /* by lifetime: index in profiled->items, or JOINT_NONE */
    size_t capacity;
    uint64_t profiled_count; /* allocations of the device in the trace */
    uint64_t inside;         /* those of them that were made while the snapshot was recorded */
    uint64_t matched;
    bool by_time;      /* the times agree; otherwise the snapshot has none */
    int64_t offset_us; /* the median of the snapshot's times minus the trace's */
    int64_t spread_us; /* 90 % of these differences are at most this far from the median */
    struct budget *budget;
};

/* STATUS_BAD_INPUT if the trace is of another run. A device without allocations in one of the
 * inputs has an empty join. */
bool joint_make(struct joint *joint, const struct profiled *profiled,
                const struct timeline *timeline, struct error *err);
void joint_release(struct joint *joint);

#endif
