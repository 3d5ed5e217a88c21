/* A function through which a program allocates nearly all of its memory. */
#ifndef MEMSNAP_ANALYSIS_LIVE_WRAPPER_H
#define MEMSNAP_ANALYSIS_LIVE_WRAPPER_H

#include "analysis/live/sites.h"

/* Sets *found if one function of the program, not a forward(), holds nearly all of what lives,
 * computes nothing as far as operators show, and is called from several lines: these tell more than
 * the function does. */
bool live_wrapper_find(const struct live_set *set, const struct site_groups *groups, bool *found,
                       struct frame *function, struct error *err);

#endif
