/* What all that grows holds together. Files of this folder only. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_GROWING_SUMS_H
#define MEMSNAP_ANALYSIS_GROWTH_GROWING_SUMS_H

#include "analysis/growth/candidates.h"
#include "analysis/growth/rows.h"

/* Makes the sums of builder->growth over all growing groups, including those that get no row, and
 * sets what each saves. `candidates` begin with those that grow. */
bool growing_sums_make(struct growth_builder *builder, struct candidate *candidates, size_t count,
                       struct error *err);

static inline bool growing_is_of_model(enum category category)
{
    return category == CATEGORY_PARAMETER || category == CATEGORY_OPTIMIZER_STATE;
}

#endif
