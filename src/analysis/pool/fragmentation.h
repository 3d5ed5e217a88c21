/* Fragmentation: where reserved memory is unused, what holds it, and what could be done about it.
 */
#ifndef MEMSNAP_ANALYSIS_POOL_FRAGMENTATION_H
#define MEMSNAP_ANALYSIS_POOL_FRAGMENTATION_H

#include "analysis/pool/pinned.h"
#include "analysis/pool/pools.h"
#include "base/units.h"

/* Upper bounds on what settings of PYTORCH_CUDA_ALLOC_CONF could save, from the layout of memory.
 * Segments that are entirely free do not count: PyTorch releases them itself before it fails. */
enum allocator_setting {
    SETTING_EXPANDABLE_SEGMENTS,
    SETTING_MAX_SPLIT_SIZE,
    SETTING_GC_THRESHOLD,
    SETTING_ROUNDUP_DIVISIONS,
    SETTING_COUNT,
};

struct advice {
    const char *setting;       /* PyTorch's name for it */
    bool in_force;             /* the program has set it to a value other than the default */
    bool is_derivable;         /* false: the layout does not tell what it would save */
    uint64_t would_save_bytes; /* an upper bound; 0 if not derivable */
    char why[400];             /* one or two sentences */
};

#define PIN_ROWS_MOST 20

/* The division of reserved memory at one moment. */
struct cut_up {
    struct pool_rows pools;
    struct advice advice[SETTING_COUNT];
};

struct fragmentation {
    struct cut_up dump;     /* exact: the totals are those of timeline->state */
    struct pin_rows pinned; /* at the dump */
    /* The division at the moment that the report describes, if the trace tells the layout at that
     * moment. All holes together may be smaller by moment_doubts.unsure_bytes. At the end of a
     * trace that agrees with the dump, it is the division at the dump. */
    bool has_moment;
    struct cut_up moment;
    struct layout_doubts moment_doubts;
    const char *no_moment; /* why there is none, a literal; NULL if there are no events */
};

/* `set` is what was live at the moment, with its sites and categories. */
bool fragmentation_make(const struct live_set *set, const struct moment *moment, enum unit unit,
                        struct fragmentation *fragmentation, struct error *err);
/* True if over a tenth of reserved memory is unused but cannot be released, because blocks in the
 * same segments are in use. */
bool cut_up_is_notable(const struct cut_up *cut_up);
/* The layout at that moment; NULL if neither the trace nor the dump has it. */
const struct cut_up *fragmentation_then(const struct fragmentation *fragmentation,
                                        const struct timeline *timeline,
                                        const struct moment *moment);
void fragmentation_release(struct fragmentation *fragmentation);

#endif
