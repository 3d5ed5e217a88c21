/* Further facts about a live allocation: the fields, annotations and stack of its event. */
#ifndef MEMSNAP_MODEL_LIVE_H
#define MEMSNAP_MODEL_LIVE_H

#include "model/timeline.h"

/* The extra of the event that allocated it; NULL: the file does not have that event. */
const struct event_extra *live_extra(const struct timeline *timeline, const struct live *live);
/* The allocation of the trace from before the range that a live allocation of ORIGIN_EDGE is. */
const struct edge_allocation *live_edge(const struct timeline *timeline, const struct live *live);
/* The texts of its annotations, the oldest first, each once, separated by "; "; STRING_EMPTY if
 * there are none. Of many, the first 8 and an ellipsis. */
bool live_note_text(const struct timeline *timeline, const struct live *live, string_id *text,
                    struct error *err);
/* Sorts timeline->notes for live_note_text(). Used by timeline_build(). */
void live_notes_sort(struct timeline *timeline);
/* forward_frames of the event that allocated it, or of its block at the dump; or STACK_NONE. */
stack_id live_forward_stack(const struct timeline *timeline, const struct live *live);

#endif
