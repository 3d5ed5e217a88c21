/* What a setting of PYTORCH_CUDA_ALLOC_CONF could save, as far as a layout tells. Segments that lie
 * wholly free do not count as saved: PyTorch gives them back by itself before it fails. */
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
    const char *setting;       /* as PyTorch spells it */
    bool in_force;             /* set to something else than the default */
    bool is_derivable;         /* false: what it would change does not follow */
    uint64_t would_save_bytes; /* an upper bound; 0 where not derivable */
    char why[400];             /* one plain sentence or two */
};

/* Sums over the segments of a layout. */
struct advice_sums {
    struct allocator_rules rules;
    uint64_t split_bytes;       /* holes in large segments above 20 MiB that are partly in use */
    uint64_t collectable_bytes; /* large segments of the default pool that lie wholly free */
    uint64_t division_bytes;    /* what roundup_power2_divisions added to the active blocks */
};

void advice_sums_add(struct advice_sums *sums, const struct layout_segment *segment);

/* `pools` are those of the same layout, not finished yet. */
void advice_make(const struct advice_sums *sums, const struct pool_rows *pools, enum unit unit,
                 struct advice advice[SETTING_COUNT]);

#endif
