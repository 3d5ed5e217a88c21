#include "analysis/pool/oom.h"

/* A CUDA context, cuBLAS and NCCL take less than this part of a device. */
#define NOTABLE_SHARE 20 /* one 20th */

const char *oom_verdict_name(enum oom_verdict verdict)
{
    static const char *const names[] = {
        [OOM_SHORTAGE] = "shortage",
        [OOM_FRAGMENTATION] = "fragmentation",
        [OOM_OTHER_POOL] = "other_pool",
        [OOM_OTHER_PROCESS] = "other_process",
        [OOM_PROCESS_LIMIT] = "process_limit",
        [OOM_TOO_LARGE] = "too_large",
        [OOM_HOST] = "host_memory",
        [OOM_UNKNOWN] = "unknown",
    };
    return names[verdict];
}

const char *oom_verdict_text(enum oom_verdict verdict)
{
    static const char *const texts[] = {
        [OOM_SHORTAGE] = "a true shortage",
        [OOM_FRAGMENTATION] = "fragmentation",
        [OOM_OTHER_POOL] = "memory free only for another stream or pool",
        [OOM_OTHER_PROCESS] = "memory held outside of PyTorch",
        [OOM_PROCESS_LIMIT] = "a limit on this process",
        [OOM_TOO_LARGE] = "a request larger than the device",
        [OOM_HOST] = "memory of the CPU",
        [OOM_UNKNOWN] = "cause not known",
    };
    return texts[verdict];
}

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t oom_most_unused(const struct oom_row *row)
{
    int64_t unused;
    if (__builtin_sub_overflow(row->at.reserved_bytes, row->at.active_bytes, &unused))
        return 0;
    return unused > 0 ? (uint64_t)unused : 0;
}

static bool others_hold_enough(const struct oom_facts *facts)
{
    return facts->other_bytes > 0 && facts->other_bytes > facts->device_bytes / NOTABLE_SHARE &&
           add(facts->free_bytes, facts->other_bytes) >= facts->wanted_bytes;
}

enum oom_verdict oom_decide(const struct oom_facts *facts)
{
    uint64_t wanted = facts->wanted_bytes, found = facts->free_bytes;
    if (facts->device_bytes > 0 && !facts->device_is_least && wanted > facts->device_bytes)
        return OOM_TOO_LARGE;
    if (found >= facts->segment_bytes)
        return OOM_PROCESS_LIMIT;
    if (facts->has_fitting_hole)
        return OOM_UNKNOWN;
    if (add(found, facts->pool_bytes) >= wanted)
        return OOM_FRAGMENTATION;
    if (add(found, facts->unused_bytes) >= wanted)
        return facts->unused_is_known ? OOM_OTHER_POOL : OOM_UNKNOWN;
    return others_hold_enough(facts) ? OOM_OTHER_PROCESS : OOM_SHORTAGE;
}

/* A hole may be smaller than it looks, since the block before it may extend into it. */
static bool has_fitting_hole(const struct oom_row *row)
{
    uint64_t unsure = row->layout.unsure_bytes;
    unsure = unsure < ALLOCATOR_SMALL_REQUEST ? unsure : ALLOCATOR_SMALL_REQUEST;
    return row->layout.largest_bytes >= add(row->requested_bytes, unsure);
}

enum oom_verdict oom_choose_verdict(const struct oom_row *row)
{
    const struct oom_layout *layout = &row->layout;
    return oom_decide(&(struct oom_facts){
        .wanted_bytes = row->requested_bytes,
        .segment_bytes = row->segment_bytes,
        .free_bytes = row->device_free_bytes,
        .has_fitting_hole = layout->is_known && has_fitting_hole(row),
        .pool_bytes = layout->is_known ? layout->pool_bytes : 0,
        .unused_is_known = layout->is_known,
        .unused_bytes = layout->is_known ? layout->inactive_bytes : oom_most_unused(row),
        .device_bytes = row->device_bytes,
        .device_is_least = row->device_is_least,
        .other_bytes = row->other_bytes,
    });
}
