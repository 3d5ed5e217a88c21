/* The categories of what was allocated before the trace's first event.
 *
 * With a stack (recording was on when it was made): by the context of that stack.
 * Without one, only size and end are known; reason.c names the rules, in sentences. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_CLASSIFY_PREEXISTING_H
#define MEMSNAP_ANALYSIS_CATEGORY_CLASSIFY_PREEXISTING_H

#include "analysis/category/classifier.h"

/* After classify_traced(), and before classify_traced_persistent(): what was there before comes
 * first. */
bool classify_preexisting(struct classifier *classifier, struct categories *categories,
                          struct error *err);

#endif
