/* The categories of what is allocated in the trace. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_CLASSIFY_TRACED_H
#define MEMSNAP_ANALYSIS_CATEGORY_CLASSIFY_TRACED_H

#include "analysis/category/classifier.h"

/* First look: by stack, phases and lifetime. Counts sizes for the second. */
bool classify_traced(struct classifier *classifier, struct categories *categories,
                     struct error *err);
/* Second look, once every size has been counted: parameters made by plain code. */
bool classify_traced_persistent(struct classifier *classifier, struct categories *categories,
                                struct error *err);

#endif
