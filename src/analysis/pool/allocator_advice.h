/* Upper bounds on what settings of PYTORCH_CUDA_ALLOC_CONF could save, from the layout of memory.
 * Segments that are entirely free do not count: PyTorch releases them itself before it fails. */
#ifndef MEMSNAP_ANALYSIS_POOL_ALLOCATOR_ADVICE_H
#define MEMSNAP_ANALYSIS_POOL_ALLOCATOR_ADVICE_H

#include "analysis/pool/pools.h"
#include "base/units.h"

enum allocator_setting {
    SETTING_EXPANDABLE_SEGMENTS,
    SETTING_MAX_SPLIT_SIZE,
    SETTING_GC_THRESHOLD,
    SETTING_ROUNDUP_DIVISIONS,
    SETTING_COUNT,
};

struct advice {
    const char *setting;       /* PyTorch's name for it */
    bool in_force;             /* not set to its default */
    bool is_derivable;         /* false: the layout does not tell what it would save */
    uint64_t would_save_bytes; /* an upper bound; 0 if not derivable */
    char why[400];             /* one or two sentences */
};

/* Sums over the segments of a layout. */
struct advice_sums {
    struct allocator_rules rules;
    uint64_t split_bytes;       /* holes in large segments above 20 MiB that are partly in use */
    uint64_t collectable_bytes; /* large segments of the default pool that are entirely free */
    uint64_t division_bytes;    /* what roundup_power2_divisions added to the active blocks */
};

void advice_sums_add(struct advice_sums *sums, const struct layout_segment *segment);

/* `pools` are those of the same layout, before pool_rows_finish(). */
void advice_make(const struct advice_sums *sums, const struct pool_rows *pools, enum unit unit,
                 struct advice advice[SETTING_COUNT]);

#endif
