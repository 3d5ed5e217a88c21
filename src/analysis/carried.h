/* The categories of what was allocated before the trace's first event.
 *
 * With a stack (recording was on when it was made): by the context of that stack.
 * Without one, only size and end are known; reason.c names the rules, in sentences. */
#ifndef MEMSNAP_ANALYSIS_CARRIED_H
#define MEMSNAP_ANALYSIS_CARRIED_H

#include "analysis/judge.h"

/* After born_assign(), and before born_assign_persistent(): what was there before comes first. */
bool carried_assign(struct judge *judge, struct categories *categories, struct error *err);

#endif
