/* Replays the events of a trace on a thread of its own while the file is still being read.
 *
 * Reading takes several times as long as replaying, so the replay is done soon after the last
 * event. timeline_build() takes what it found, which is what it would find itself, as long as
 * nothing that is known only at the end changes the events or their meaning (ahead_judge()).
 *
 * The loader appends to the columns while the thread reads the items before those. It calls
 * ahead_pause() before it moves columns. The thread counts its memory in a budget of its own, so
 * that reading succeeds or fails as it would without the thread. */
#ifndef MEMSNAP_MODEL_AHEAD_H
#define MEMSNAP_MODEL_AHEAD_H

#include "model/snapshot.h"

#define AHEAD_AFTER ((size_t)64 * 1024) /* events; shorter traces are not worth a thread */

struct ahead;
struct replay;

/* Starts the thread, for a trace without a range. Of `budget`, a small part may be used once more.
 * NULL if that is not possible. */
struct ahead *ahead_start(const struct budget *budget);
/* Lets the thread replay the items that the trace has now. */
void ahead_offer(struct ahead *ahead, const struct trace *trace);
/* Waits until the thread reads no column; ahead_offer() lets it go on. */
void ahead_pause(struct ahead *ahead);
/* Replays the last items of the trace and ends the thread. */
void ahead_end(struct ahead *ahead, const struct trace *trace);
/* Drops the result if it does not hold for the final trace: the loader has sorted its events, or
 * their meaning depends on all of them (trace->unrecorded), or some are annotations (`annotated`).
 */
void ahead_judge(struct ahead *ahead, const struct trace *trace, bool annotated);
/* Ends the thread, if it runs; the columns must still be there. NULL is allowed. */
void ahead_destroy(struct ahead *ahead);

/* Moves the result into `replay`, of the same trace, whose budget then counts it. Leaves it alone
 * if there is no result, if it was taken before, or if the budget does not suffice. */
void ahead_take(struct ahead *ahead, struct replay *replay);

#endif
