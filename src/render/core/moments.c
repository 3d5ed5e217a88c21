#include "render/core/moments.h"

#include <stdio.h>

const char *event_number(char out[UNITS_TEXT_SIZE], const struct trace *trace, int64_t item)
{
    return units_count(out, (uint64_t)trace_file_event(trace, item));
}

static bool subtract_times(int64_t from, int64_t to, int64_t *difference)
{
    return from != TIME_NONE && to != TIME_NONE && !__builtin_sub_overflow(to, from, difference);
}

/* ", +87.6 ms" after the first event in the file, or nothing where events carry no time. */
static const char *event_delay(char out[UNITS_TEXT_SIZE], const struct trace *trace, int64_t item)
{
    char duration[UNITS_TEXT_SIZE];
    int64_t delay;
    int64_t first = trace->edge.present ? trace->edge.first_time_us : trace_time(trace, 0);
    out[0] = '\0';
    if (subtract_times(first, trace_time(trace, (size_t)item), &delay))
        snprintf(out, UNITS_TEXT_SIZE, ", %.40s", units_duration(duration, delay));
    return out;
}

const char *trace_span(char out[UNITS_TEXT_SIZE], const struct trace *trace)
{
    char duration[UNITS_TEXT_SIZE];
    int64_t span;
    out[0] = '\0';
    if (trace->count > 1 &&
        subtract_times(trace_time(trace, 0), trace_time(trace, trace->count - 1), &span) &&
        span >= 0)
        snprintf(out, UNITS_TEXT_SIZE, "%.40s", units_duration(duration, span) + 1); /* no sign */
    return out;
}

const char *moment_place(char out[MOMENT_TEXT_SIZE], const struct trace *trace, int64_t item)
{
    char number[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE], delay[UNITS_TEXT_SIZE];
    if (item < 0) {
        snprintf(out, MOMENT_TEXT_SIZE, "before the %s",
                 trace->first_event > 0 ? "range" : "first event");
        return out;
    }
    snprintf(out, MOMENT_TEXT_SIZE, "event %s of %s%s", event_number(number, trace, item),
             units_count(count, trace->file_events), event_delay(delay, trace, item));
    return out;
}
