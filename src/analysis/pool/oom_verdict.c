#include "analysis/pool/oom.h"

/* A CUDA context, cuBLAS and NCCL take less than this part of a device. */
#define NOTABLE_SHARE 20 /* one 20th */

const char *oom_verdict_name(enum oom_verdict verdict)
{
    static const char *const names[] = {
        [OOM_SHORTAGE] = "shortage",           [OOM_FRAGMENTATION] = "fragmentation",
        [OOM_OTHER_POOL] = "other_pool",       [OOM_OTHER_PROCESS] = "other_process",
        [OOM_PROCESS_LIMIT] = "process_limit", [OOM_UNKNOWN] = "unknown",
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

static bool others_hold_enough(const struct oom_row *row)
{
    return row->other_bytes > 0 && row->other_bytes > row->device_bytes / NOTABLE_SHARE &&
           add(row->device_free_bytes, row->other_bytes) >= row->requested_bytes;
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
    uint64_t wanted = row->requested_bytes, found = row->device_free_bytes;
    if (found >= row->segment_bytes)
        return OOM_PROCESS_LIMIT;
    if (layout->is_known) {
        if (has_fitting_hole(row))
            return OOM_UNKNOWN;
        if (add(found, layout->pool_bytes) >= wanted)
            return OOM_FRAGMENTATION;
        if (add(found, layout->inactive_bytes) >= wanted)
            return OOM_OTHER_POOL;
    } else if (add(found, oom_most_unused(row)) >= wanted) {
        return OOM_UNKNOWN;
    }
    return others_hold_enough(row) ? OOM_OTHER_PROCESS : OOM_SHORTAGE;
}
