/* What keeps the memory of a call site that grew and then stopped. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_KEEPER_H
#define MEMSNAP_ANALYSIS_GROWTH_KEEPER_H

#include "analysis/growth/growth.h"
#include "analysis/growth/survivors.h"

/* Graphs keep a group if they hold most of what the last end has of it, as `is_dropped` tells by
 * lifetime (dropped_graphs.h; NULL: no graph was dropped), or as the reasons of categories do. */
enum growth_keeper keeper_find(const struct survivors *survivors, const struct live_set *set,
                               const uint8_t *is_dropped, size_t group);

#endif
