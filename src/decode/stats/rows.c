#include "decode/stats/rows.h"

#include <string.h>

const char *const stats_metric_names[STATS_METRICS] = {
    [STATS_ALLOCATED_BYTES] = "allocated_bytes",
    [STATS_ACTIVE_BYTES] = "active_bytes",
    [STATS_REQUESTED_BYTES] = "requested_bytes",
    [STATS_RESERVED_BYTES] = "reserved_bytes",
    [STATS_INACTIVE_SPLIT_BYTES] = "inactive_split_bytes",
    [STATS_ALLOCATIONS] = "allocation",
    [STATS_ACTIVE] = "active",
    [STATS_SEGMENTS] = "segment",
    [STATS_INACTIVE_SPLITS] = "inactive_split",
    [STATS_OVERSIZE_ALLOCATIONS] = "oversize_allocations",
    [STATS_OVERSIZE_SEGMENTS] = "oversize_segments",
};
const char *const stats_pool_names[STATS_POOLS] = {"all", "large_pool", "small_pool"};
const char *const stats_moment_names[STATS_MOMENTS] = {"current", "peak", "allocated", "freed"};
const char *const stats_counter_names[STATS_COUNTERS] = {
    [STATS_OOMS] = "num_ooms",
    [STATS_OOM_REJECTIONS] = "num_oom_rejections",
    [STATS_RETRIES] = "num_alloc_retries",
    [STATS_DEVICE_ALLOCS] = "num_device_alloc",
    [STATS_DEVICE_FREES] = "num_device_free",
    [STATS_SYNCHRONIZATIONS] = "num_sync_all_streams",
};

bool stats_has_pools(enum stats_metric metric)
{
    return metric != STATS_OVERSIZE_ALLOCATIONS && metric != STATS_OVERSIZE_SEGMENTS;
}

bool stats_is_bytes(enum stats_metric metric)
{
    return metric <= STATS_INACTIVE_SPLIT_BYTES;
}

void stats_set(struct stats_row *row, enum stats_metric metric, enum stats_pool pool,
               enum stats_moment moment, int64_t value)
{
    row->present[metric] = (uint16_t)(row->present[metric] |
                                      1u << ((unsigned)pool * STATS_MOMENTS + (unsigned)moment));
    row->values[metric][pool][moment] = value;
}

/* Takes the part before the next dot. */
static struct text take_part(struct text *key)
{
    const char *dot = key->size > 0 ? memchr(key->bytes, '.', key->size) : NULL;
    struct text part = {key->bytes, dot ? (size_t)(dot - key->bytes) : key->size};
    size_t taken = part.size + (dot != NULL);
    *key = (struct text){key->bytes + taken, key->size - taken};
    return part;
}

/* The index of the name; `count` if it is not among the names. */
static unsigned find(struct text part, const char *const *names, unsigned count)
{
    unsigned i = 0;
    while (i < count && !text_equals(part, names[i]))
        i++;
    return i;
}

bool stats_take(struct stats_row *row, struct text key, int64_t value)
{
    unsigned counter = find(key, stats_counter_names, STATS_COUNTERS);
    if (counter < STATS_COUNTERS) {
        row->counters_present |= 1u << counter;
        row->counters[counter] = value;
        return true;
    }
    unsigned metric = find(take_part(&key), stats_metric_names, STATS_METRICS), pool = STATS_ALL;
    if (metric == STATS_METRICS)
        return false;
    if (stats_has_pools((enum stats_metric)metric))
        pool = find(take_part(&key), stats_pool_names, STATS_POOLS);
    unsigned moment = find(key, stats_moment_names, STATS_MOMENTS);
    if (pool == STATS_POOLS || moment == STATS_MOMENTS)
        return false;
    stats_set(row, (enum stats_metric)metric, (enum stats_pool)pool, (enum stats_moment)moment,
              value);
    return true;
}
