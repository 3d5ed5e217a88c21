/* A function that wraps allocation, whose callers are shown instead. */
#ifndef MEMSNAP_ANALYSIS_LIVE_WRAPPER_H
#define MEMSNAP_ANALYSIS_LIVE_WRAPPER_H

#include "analysis/live/sites.h"

/* As site_groups_make(). Where one line that is not a model's forward() holds nearly all live bytes
 * for several callers, each caller has groups of its own. `*split` is the set to use with them. */
bool site_groups_make_split(const struct live_set *set, struct live_set *split,
                            struct site_groups *groups, struct error *err);

#endif
