/* Where reserved memory lies unused, what keeps it, and what could be done about it. */
#ifndef MEMSNAP_ANALYSIS_POOL_FRAGMENTATION_H
#define MEMSNAP_ANALYSIS_POOL_FRAGMENTATION_H

#include "analysis/pool/allocator_advice.h"
#include "analysis/pool/pinned.h"

#define PIN_ROWS_MOST 20

/* How memory is cut up at one moment. */
struct cut_up {
    struct pool_rows pools;
    struct advice advice[SETTING_COUNT];
};

struct fragmentation {
    struct cut_up dump;     /* exact: the totals are those of timeline->state */
    struct pin_rows pinned; /* at the dump */
    /* At the moment the report describes, where that follows from the trace; holes may be smaller
     * by unsure_bytes in all. At the end it is the dump, if that is what the trace leads to. */
    bool has_moment;
    struct cut_up moment;
    struct layout_doubts moment_doubts;
    const char *no_moment; /* why there is none, a literal; NULL: there are no events */
};

/* `set` holds what was live at the moment, and tells of sites and categories. */
bool fragmentation_make(const struct live_set *set, const struct moment *moment, enum unit unit,
                        struct fragmentation *fragmentation, struct error *err);
/* Whether more than a tenth of what is reserved is stuck: unused, beside blocks in use. */
bool cut_up_is_notable(const struct cut_up *cut_up);
/* How memory is cut up at that moment; NULL where neither the trace nor the dump tells. */
const struct cut_up *fragmentation_then(const struct fragmentation *fragmentation,
                                        const struct timeline *timeline,
                                        const struct moment *moment);
void fragmentation_release(struct fragmentation *fragmentation);

#endif
