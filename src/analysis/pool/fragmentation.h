/* Fragmentation: where reserved memory is unused, what holds it, and what could be done about it.
 */
#ifndef MEMSNAP_ANALYSIS_POOL_FRAGMENTATION_H
#define MEMSNAP_ANALYSIS_POOL_FRAGMENTATION_H

#include "analysis/pool/allocator_advice.h"
#include "analysis/pool/pinned.h"

#define PIN_ROWS_MOST 20

/* The division of reserved memory at one moment. */
struct cut_up {
    struct pool_rows pools;
    struct advice advice[SETTING_COUNT];
};

struct fragmentation {
    struct cut_up dump;     /* exact: the totals are those of timeline->state */
    struct pin_rows pinned; /* at the dump */
    /* At the moment that the report describes, if the layout then follows from the trace; all holes
     * together may be smaller by unsure_bytes. At the end of a trace that agrees with the dump, it
     * is the layout of the dump. */
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
