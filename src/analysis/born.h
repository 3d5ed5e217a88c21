/* The categories of what is allocated in the trace. */
#ifndef MEMSNAP_ANALYSIS_BORN_H
#define MEMSNAP_ANALYSIS_BORN_H

#include "analysis/judge.h"

/* First look: by stack, phases and lifetime. Counts sizes for the second. */
bool born_assign(struct judge *judge, struct categories *categories, struct error *err);
/* Second look, once every size has been counted: parameters made by plain code. */
bool born_assign_persistent(struct judge *judge, struct categories *categories, struct error *err);

#endif
