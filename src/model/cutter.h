/* The machine behind a window: one for each device's trace, fed with every event. */
#ifndef MEMSNAP_MODEL_CUTTER_H
#define MEMSNAP_MODEL_CUTTER_H

#include "model/snapshot.h"

struct cutter;

/* `budget` is not owned. NULL on STATUS_LIMIT. */
struct cutter *cutter_create(const struct window *window, struct budget *budget, struct error *err);
void cutter_destroy(struct cutter *cutter); /* NULL is fine */

/* `extra` is what row->extra was interned as. `*keep`: the event lies in the range. STATUS_LIMIT,
 * or STATUS_BAD_INPUT where sizes sum beyond 64 bits. */
bool cutter_event(struct cutter *cutter, const struct event_row *row, uint32_t extra, bool *keep,
                  struct error *err);

/* Index in the file of the first event kept; how many there were where none was kept so far. */
uint64_t cutter_first_kept(const struct cutter *cutter);

/* Fills first_event, file_events and edge of a trace that holds the events kept. The arrays of
 * the edge are the trace's from then on, counted in the budget. */
bool cutter_finish(struct cutter *cutter, struct trace *trace, struct error *err);

#endif
