/* Text that names a moment of a trace. */
#ifndef MEMSNAP_RENDER_CORE_MOMENTS_H
#define MEMSNAP_RENDER_CORE_MOMENTS_H

#include "base/units.h"
#include "model/timeline.h"

#define MOMENT_TEXT_SIZE 160

/* "3,485": an event's index in the file. */
const char *event_number(char out[UNITS_TEXT_SIZE], const struct trace *trace, int64_t item);

/* "281.1 ms": the time from the first event of the trace to the last; "" if events have no
 * times. */
const char *trace_span(char out[UNITS_TEXT_SIZE], const struct trace *trace);

/* "event 3,485 of 22,332, +87.6 ms", "before the first event", "before the range". */
const char *moment_place(char out[MOMENT_TEXT_SIZE], const struct trace *trace, int64_t item);

#endif
