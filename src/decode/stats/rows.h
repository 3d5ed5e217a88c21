/* The counters of PyTorch's caching allocator, as torch.cuda.memory_stats() returns them and
 * memory_summary() prints them. */
#ifndef MEMSNAP_DECODE_STATS_ROWS_H
#define MEMSNAP_DECODE_STATS_ROWS_H

#include "base/error.h"
#include "base/text.h"

enum stats_metric {
    STATS_ALLOCATED_BYTES,
    STATS_ACTIVE_BYTES,
    STATS_REQUESTED_BYTES,
    STATS_RESERVED_BYTES,
    STATS_INACTIVE_SPLIT_BYTES,
    STATS_ALLOCATIONS,
    STATS_ACTIVE,
    STATS_SEGMENTS,
    STATS_INACTIVE_SPLITS,
    STATS_OVERSIZE_ALLOCATIONS,
    STATS_OVERSIZE_SEGMENTS,
    STATS_METRICS,
};

enum stats_pool { STATS_ALL, STATS_LARGE, STATS_SMALL, STATS_POOLS };
enum stats_moment { STATS_CURRENT, STATS_PEAK, STATS_TOTAL, STATS_FREED, STATS_MOMENTS };

enum stats_counter {
    STATS_OOMS,
    STATS_OOM_REJECTIONS,
    STATS_RETRIES,
    STATS_DEVICE_ALLOCS,
    STATS_DEVICE_FREES,
    STATS_SYNCHRONIZATIONS,
    STATS_COUNTERS,
};

/* One call of memory_stats(), or one table. Absent values are 0. */
struct stats_row {
    int64_t device;                  /* -1: not named */
    uint64_t line;                   /* of the table's heading; 0: not a table */
    bool is_rounded;                 /* some sizes are rounded down to a unit */
    bool is_cut;                     /* the table ends early */
    uint16_t present[STATS_METRICS]; /* 1 << (pool * STATS_MOMENTS + moment) */
    int64_t values[STATS_METRICS][STATS_POOLS][STATS_MOMENTS];
    uint32_t counters_present; /* 1 << enum stats_counter */
    int64_t counters[STATS_COUNTERS];
};

static inline bool stats_has(const struct stats_row *row, enum stats_metric metric,
                             enum stats_pool pool, enum stats_moment moment)
{
    return (row->present[metric] >> ((unsigned)pool * STATS_MOMENTS + (unsigned)moment) & 1) != 0;
}

/* torch's names: "active_bytes", "all", "peak", "num_ooms". A metric without pools has only
 * STATS_ALL, which its keys do not name. */
extern const char *const stats_metric_names[STATS_METRICS];
extern const char *const stats_pool_names[STATS_POOLS];
extern const char *const stats_moment_names[STATS_MOMENTS];
extern const char *const stats_counter_names[STATS_COUNTERS];
bool stats_has_pools(enum stats_metric metric);
bool stats_is_bytes(enum stats_metric metric);

struct stats_sink {
    void *self;
    bool (*row)(void *self, const struct stats_row *row, struct error *err);
};

void stats_set(struct stats_row *row, enum stats_metric metric, enum stats_pool pool,
               enum stats_moment moment, int64_t value);
/* Sets what a key of memory_stats() names, "active_bytes.all.peak"; false if that is not known. */
bool stats_take(struct stats_row *row, struct text key, int64_t value);

#endif
