/* Functions through which a program allocates nearly all of its memory. Their callers tell more
 * than they do. */
#ifndef MEMSNAP_ANALYSIS_LIVE_WRAPPER_H
#define MEMSNAP_ANALYSIS_LIVE_WRAPPER_H

#include "analysis/live/sites.h"

/* Groups what lives by call site, as site_groups_make() does. If one function of the program, not a
 * forward(), holds nearly all of it, computes nothing as far as operators show, and is called from
 * several lines, then its callers become the call sites: see site_table_leave(). */
bool live_groups_make(const struct live_set *set, struct site_groups *groups, struct error *err);

/* Does so for groups that are made later. */
bool live_wrappers_leave(const struct live_set *set, struct error *err);

#endif
