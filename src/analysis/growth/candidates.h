/* Groups of survivors that may become rows, and doubts in their growth. Files of this folder only.
 */
#ifndef MEMSNAP_ANALYSIS_GROWTH_CANDIDATES_H
#define MEMSNAP_ANALYSIS_GROWTH_CANDIDATES_H

#include "analysis/growth/rows.h"

/* A group of survivors that may become a row. */
struct candidate {
    struct growth_fit fit;
    uint32_t group;
    int64_t first_bytes, end_bytes, save_bytes;
    uint64_t blocks;
    bool in_use;       /* see struct growth_row */
    uint16_t outlived; /* of a cache: the ends that what the next tokens need may outlive */
};

#define SCALAR_BYTES 16

/* True if its allocations are of a few bytes each. */
static inline bool candidate_is_small(const struct candidate *candidate)
{
    return candidate->end_bytes <= (int64_t)(SCALAR_BYTES * candidate->blocks);
}

/* Takes back the kind GROWTH_GROWING, or GROWTH_STOPPED, of groups that only seem to grow, or to
 * have stopped. There is one candidate for each group of builder->survivors, in their order. */
bool growth_doubt(const struct growth_builder *builder, struct candidate *candidates,
                  struct error *err);

#endif
