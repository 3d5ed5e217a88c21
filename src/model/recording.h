/* Which events a trace has none of because the user chose not to record them.
 *
 * torch 2.15 records all kinds of events unless told otherwise
 * (_record_memory_history(skip_actions=[...])), and the file does not say so. A trace without any
 * free_completed can also be short, edited or damaged. So a kind counts as unrecorded only if there
 * is none of it in the trace, several other events (or blocks of the dump) prove that some
 * happened, and nothing contradicts it. Memory that the trace reserves proves allocations even
 * where it has neither allocs nor frees. */
#ifndef MEMSNAP_MODEL_RECORDING_H
#define MEMSNAP_MODEL_RECORDING_H

#include "model/timeline.h"

#define ACTION_BIT(action) (UINT32_C(1) << (action))

/* Sets trace->unrecorded, and the actions that begin and end an allocation accordingly. `seen` has
 * ACTION_BIT() of the actions in the file, which may be more than those in the trace. STATUS_LIMIT
 * when over budget. */
bool recording_find(struct trace *trace, const struct snapshot *snapshot, uint32_t seen,
                    struct error *err);

/* Sets them for a trace that is known to be without the events of `missing`, which is not 0. */
void recording_set(struct trace *trace, uint32_t missing);

/* True if segments have stacks, so that they were made while events were recorded, and nothing was
 * allocated before the trace, and yet no event makes a segment. Then reserved memory is known at
 * the dump only: its curve is that of segments which were there from the start. */
bool recording_lacks_segments(const struct timeline *timeline);

#endif
