#include <stdlib.h>

#include "analysis/oom/oom.h"

/* A CUDA context, cuBLAS and NCCL take no more than this part of a device, or than so many bytes.
 */
#define NOTABLE_SHARE 20 /* one 20th */
#define NOTABLE_BYTES ((uint64_t)1 << 30)

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
        [OOM_ON_CHIP] = "on_chip_memory",
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
        [OOM_ON_CHIP] = "shared memory of a kernel",
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

bool oom_used_is_known(const struct oom_row *row)
{
    return row->device_bytes > 0 && !row->device_is_least && row->at.reserved_bytes >= 0;
}

uint64_t oom_allocated_bytes(const struct oom_row *row)
{
    uint64_t reserved = (uint64_t)row->at.reserved_bytes;
    uint64_t blocks = row->layout.is_known       ? row->layout.block_bytes
                      : row->at.active_bytes > 0 ? (uint64_t)row->at.active_bytes
                                                 : 0;
    return blocks < reserved ? blocks : reserved;
}

static bool others_hold_enough(const struct oom_facts *facts)
{
    uint64_t own = facts->device_bytes / NOTABLE_SHARE;
    if (!facts->device_is_least && own < NOTABLE_BYTES)
        own = NOTABLE_BYTES;
    return facts->other_bytes > 0 && facts->other_bytes > own &&
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

/* True if a hole fits the request for certain. A hole may be smaller than it looks, because the
 * block before it may extend into it. */
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

static bool is_same_pool(const struct pool_key *a, const struct pool_key *b)
{
    return a->pool[0] == b->pool[0] && a->pool[1] == b->pool[1];
}

/* The kind of a pool in relation to the request's own; ELSEWHERE_KINDS if it is the request's own.
 */
static enum oom_elsewhere_kind kind_of(const struct pool_key *key, const struct pool_key *own)
{
    if (!is_same_pool(key, own))
        return pool_key_is_private(key) ? ELSEWHERE_GRAPHS : ELSEWHERE_DEFAULT;
    if (key->stream != own->stream)
        return ELSEWHERE_STREAMS;
    return key->is_small != own->is_small ? ELSEWHERE_SIZES : ELSEWHERE_KINDS;
}

/* True if two pools, which must be of the same kind, are the same place. */
static bool is_same_place(enum oom_elsewhere_kind kind, const struct pool_key *a,
                          const struct pool_key *b)
{
    return is_same_pool(a, b) && (kind == ELSEWHERE_GRAPHS || a->stream == b->stream);
}

/* Orders the rows so that those of one place come together. */
static int by_place(const void *a, const void *b)
{
    const struct pool_key *x = &((const struct pool_row *)a)->key;
    const struct pool_key *y = &((const struct pool_row *)b)->key;
    for (int i = 0; i < 2; i++)
        if (x->pool[i] != y->pool[i])
            return x->pool[i] < y->pool[i] ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return x->is_small - y->is_small;
}

static void add_place(struct oom_elsewhere *sum, const struct oom_elsewhere *place)
{
    if (place->bytes == 0)
        return;
    if (sum->places == 0 || place->bytes < sum->least_bytes)
        sum->least_bytes = place->bytes;
    if (place->bytes > sum->most_bytes) {
        sum->most_bytes = place->bytes;
        sum->most = place->most;
    }
    sum->bytes += place->bytes;
    sum->places++;
}

void oom_find_elsewhere(struct pool_rows *pools, const struct pool_key *own,
                        struct oom_elsewhere *elsewhere)
{
    struct oom_elsewhere kinds[ELSEWHERE_KINDS + 1] = {0};
    if (pools->count > 0)
        qsort(pools->items, pools->count, sizeof(*pools->items), by_place);
    for (size_t i = 0; i < pools->count;) {
        const struct pool_key *first = &pools->items[i].key;
        enum oom_elsewhere_kind kind = kind_of(first, own);
        struct oom_elsewhere place = {.most = *first};
        for (; i < pools->count; i++) {
            const struct pool_row *row = &pools->items[i];
            if (kind_of(&row->key, own) != kind || !is_same_place(kind, &row->key, first))
                break;
            place.bytes += row->inactive_split_bytes + row->releasable_bytes;
        }
        add_place(&kinds[kind], &place);
    }
    *elsewhere = (struct oom_elsewhere){0};
    for (int kind = 0; kind < ELSEWHERE_KINDS; kind++) {
        if (kinds[kind].bytes <= elsewhere->bytes)
            continue;
        *elsewhere = kinds[kind];
        elsewhere->kind = (enum oom_elsewhere_kind)kind;
    }
}
