/* Applies a window to one device's trace. It is fed with every event. */
#ifndef MEMSNAP_MODEL_CUTTER_H
#define MEMSNAP_MODEL_CUTTER_H

#include "model/snapshot.h"

struct cutter;

/* `symbols` and `budget` are not owned. NULL on STATUS_LIMIT. */
struct cutter *cutter_create(const struct window *window, const struct symbols *symbols,
                             struct budget *budget, struct error *err);
void cutter_destroy(struct cutter *cutter); /* NULL is allowed */

/* `extra` is the id under which row->extra was interned. Sets `*keep` if the event lies in the
 * range. Fails with STATUS_LIMIT, or STATUS_BAD_INPUT if sizes sum beyond 64 bits. */
bool cutter_event(struct cutter *cutter, const struct event_row *row, uint32_t extra, bool *keep,
                  struct error *err);

/* Index in the file of the first event kept, or the number of events so far if none was kept. */
uint64_t cutter_first_kept(const struct cutter *cutter);

/* Fills first_event, file_events and edge of a trace that holds the kept events. The trace then
 * owns the arrays of the edge; they stay counted in the budget. */
bool cutter_finish(struct cutter *cutter, struct trace *trace, struct error *err);

#endif
