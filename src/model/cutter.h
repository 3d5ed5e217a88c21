/* Applies a window to one device's trace. The caller passes it every event of the device, in file
 * order. */
#ifndef MEMSNAP_MODEL_CUTTER_H
#define MEMSNAP_MODEL_CUTTER_H

#include "model/snapshot.h"

struct cutter;

/* A time that is earlier by less than this, in microseconds, does not go back: the clocks of
 * threads may differ a little, and the order of the file is then right. */
#define LEAST_STEP_BACK_US 1000

/* True if a time is earlier than the latest one so far by at least LEAST_STEP_BACK_US. Updates
 * `*latest_us`, which must be INT64_MIN before the first time. */
static inline bool time_goes_back(int64_t *latest_us, int64_t time_us)
{
    int64_t back;
    if (time_us == TIME_NONE)
        return false;
    if (time_us >= *latest_us) {
        *latest_us = time_us;
        return false;
    }
    return __builtin_sub_overflow(*latest_us, time_us, &back) || back >= LEAST_STEP_BACK_US;
}

/* `symbols` and `budget` are not owned. NULL on STATUS_LIMIT. */
struct cutter *cutter_create(const struct window *window, const struct symbols *symbols,
                             struct budget *budget, struct error *err);
void cutter_destroy(struct cutter *cutter); /* NULL is allowed */

/* `extra` is the id under which row->extra was interned. Sets `*keep` if the event lies in the
 * range. Fails with STATUS_LIMIT, or STATUS_BAD_INPUT if sizes add up to more than 64 bits hold. */
bool cutter_event(struct cutter *cutter, const struct event_row *row, uint32_t extra, bool *keep,
                  struct error *err);

/* Index in the file of the first event kept, or the number of events so far if none was kept. */
uint64_t cutter_first_kept(const struct cutter *cutter);

/* Fills first_event, file_events and edge of a trace that holds the kept events. The trace then
 * owns the arrays of the edge; they stay counted in the budget. */
bool cutter_finish(struct cutter *cutter, struct trace *trace, struct error *err);

#endif
