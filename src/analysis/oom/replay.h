/* Advice on out-of-memory errors that a replay of the trace confirms or refutes. */
#ifndef MEMSNAP_ANALYSIS_OOM_REPLAY_H
#define MEMSNAP_ANALYSIS_OOM_REPLAY_H

#include "analysis/oom/oom.h"

/* Adds to every event that advises expandable segments how the trace ends with them, if it can be
 * replayed. */
bool oom_replay_add(struct ooms *ooms, const struct timeline *timeline, struct site_table *sites,
                    enum unit unit, struct error *err);

#endif
