/* Facts about a live allocation that struct live does not hold: fields, annotations and the stack
 * of the event that allocated it. */
#ifndef MEMSNAP_MODEL_LIVE_H
#define MEMSNAP_MODEL_LIVE_H

#include "model/timeline.h"

/* The extra of the event that allocated it; NULL if the file does not have that event. */
const struct event_extra *live_extra(const struct timeline *timeline, const struct live *live);
/* The record in trace->edge of an allocation that is preexisting with ORIGIN_EDGE: made in the
 * trace, before the range. */
const struct edge_allocation *live_edge(const struct timeline *timeline, const struct live *live);
/* The texts of its annotations, the oldest first, each once, separated by "; "; STRING_EMPTY if
 * there are none. If there are more than 8, the text has the first 8 and an ellipsis. */
bool live_note_text(const struct timeline *timeline, const struct live *live, string_id *text,
                    struct error *err);
/* Sorts timeline->notes, as live_note_text() needs them. Called by timeline_build(). */
void live_notes_sort(struct timeline *timeline);
/* The stack in forward_frames of the event that allocated it, or of its block at the dump;
 * STACK_NONE if there is none. */
stack_id live_forward_stack(const struct timeline *timeline, const struct live *live);

#endif
