/* Live bytes of each category in each column of a picture. */
#ifndef MEMSNAP_ANALYSIS_CURVES_CATEGORY_CURVES_H
#define MEMSNAP_ANALYSIS_CURVES_CATEGORY_CURVES_H

#include "analysis/category/category.h"
#include "analysis/curves/sampling.h"

struct category_curves {
    size_t columns;
    double *bytes; /* CATEGORY_LIMIT * columns, by category; CATEGORY_COUNT holds the part of the
                      active curve that the trace does not explain */
};

/* Makes the curves of any grouping. `of_lifetime` and `of_preexisting` have the id of a group for
 * each of timeline->lifetimes and timeline->preexisting: below CATEGORY_LIMIT, but not
 * CATEGORY_COUNT. */
bool group_curves_make(struct category_curves *curves, const struct timeline *timeline,
                       const uint8_t *of_lifetime, const uint8_t *of_preexisting,
                       const struct sampling *sampling, struct error *err);
/* Subtracts an allocation that is live in columns [begin, end) from its group. */
void group_curves_subtract(struct category_curves *curves, size_t group, uint64_t size,
                           size_t begin, size_t end);
bool category_curves_make(struct category_curves *curves, const struct timeline *timeline,
                          const struct categories *categories, const struct sampling *sampling,
                          struct error *err);
void category_curves_release(struct category_curves *curves);

static inline const double *category_curve(const struct category_curves *curves, size_t category)
{
    return curves->bytes + category * curves->columns;
}

#endif
