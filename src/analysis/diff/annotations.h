/* The live memory of two captures by the annotations of its allocations. For analysis/diff only. */
#ifndef MEMSNAP_ANALYSIS_DIFF_ANNOTATIONS_H
#define MEMSNAP_ANALYSIS_DIFF_ANNOTATIONS_H

#include "analysis/diff/diff.h"
#include "analysis/diff/symbols.h"

/* Fills side->annotations from what is live. */
bool diff_annotations_sum(struct diff_side *side, const struct live_set *set,
                          struct translation *translation, struct error *err);
/* Fills diff->annotations from both sides. `top`: as in struct diff_options. */
bool diff_annotations_make(struct diff *diff, size_t top, struct error *err);

#endif
