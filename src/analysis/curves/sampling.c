#include "analysis/curves/sampling.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "model/device.h"

/* The curves while the trace is read item by item. */
struct curve_reader {
    const struct trace *trace;
    int64_t active, reserved;
    struct trace_signs signs;
};

/* The state of the column that is being read. */
struct column {
    int64_t item, active, lowest, reserved;
};

static void step(struct curve_reader *reader, size_t item)
{
    const struct trace *trace = reader->trace;
    int64_t size = (int64_t)trace_size(trace, item);
    reader->active += reader->signs.of[trace->action[item]] * size;
    switch (trace->action[item]) {
    case ACTION_SEGMENT_ALLOC:
    case ACTION_SEGMENT_MAP:
        reader->reserved += size;
        break;
    case ACTION_SEGMENT_FREE:
    case ACTION_SEGMENT_UNMAP:
        reader->reserved -= size;
        break;
    default:
        break;
    }
}

static void column_add(struct column *column, const struct curve_reader *reader, int64_t item,
                       bool is_first)
{
    if (is_first || reader->active > column->active) {
        column->item = item;
        column->active = reader->active;
    }
    if (is_first || reader->active < column->lowest)
        column->lowest = reader->active;
    if (is_first || reader->reserved > column->reserved)
        column->reserved = reader->reserved;
}

static void put(struct sampling *sampling, size_t at, const struct column *column)
{
    sampling->items[at] = column->item;
    sampling->active[at] = column->active;
    sampling->lowest[at] = column->lowest;
    sampling->reserved[at] = column->reserved;
}

static struct curve_reader start_reading(const struct timeline *timeline)
{
    return (struct curve_reader){.trace = timeline->trace,
                                 .active = timeline->active.baseline_bytes,
                                 .reserved = timeline->reserved.start_bytes,
                                 .signs = trace_active_signs(timeline->trace)};
}

/* The products fit: there are less than 2^32 items and columns. */
static void sample_events(struct sampling *sampling, const struct timeline *timeline)
{
    struct curve_reader reader = start_reading(timeline);
    uint64_t items = reader.trace->count;
    for (size_t c = 0; c < sampling->count; c++) {
        size_t first = (size_t)(items * c / sampling->count);
        size_t end = (size_t)(items * (c + 1) / sampling->count);
        struct column column = {0};
        sampling->edges[c] = (double)reader.trace->first_event + (double)first;
        for (size_t i = first; i < end; i++) {
            step(&reader, i);
            column_add(&column, &reader, (int64_t)i, i == first);
        }
        put(sampling, c, &column);
    }
    sampling->edges[sampling->count] = (double)reader.trace->first_event + (double)items;
}

#define DUMP_SHARE 16 /* of the columns of the events */

/* Appends the columns of the dump to those of the events. */
static void append_dump(struct sampling *sampling, const struct timeline *timeline, size_t columns)
{
    size_t events = sampling->count;
    double width = (sampling->edges[events] - sampling->edges[0]) / (double)events;
    const struct column dump = {(int64_t)timeline->trace->count - 1, timeline->active.end_bytes,
                                timeline->active.end_bytes, timeline->reserved.end_bytes};
    memset(sampling->active, 0, events * sizeof(*sampling->active));
    memset(sampling->lowest, 0, events * sizeof(*sampling->lowest));
    sampling->unknown = events;
    sampling->count = columns;
    for (size_t c = events; c < columns; c++) {
        put(sampling, c, &dump);
        sampling->edges[c + 1] = sampling->edges[events] + width * (double)(c + 1 - events);
    }
}

struct times {
    double first, last; /* microseconds; differences of 64-bit times may need more than 64 bits */
    double origin;
};

static bool find_times(const struct timeline *timeline, struct times *times, struct error *err)
{
    const struct trace *trace = timeline->trace;
    bool any = false;
    for (size_t i = 0; i < trace->count; i++) {
        double time = (double)trace_time(trace, i);
        if (trace_time(trace, i) == TIME_NONE)
            continue;
        if (!any)
            *times = (struct times){time, time, time};
        any = true;
        times->last = time > times->last ? time : times->last;
    }
    if (any && trace->edge.present && trace->edge.first_time_us != TIME_NONE)
        times->origin = (double)trace->edge.first_time_us;
    return any || error_set(err, STATUS_USAGE, "the events of %s carry no time: use --x event",
                            DEVICE_WORDS(timeline->device));
}

/* A column starts with the values at the end of the one before, until its first event. */
static void sample_times(struct sampling *sampling, const struct timeline *timeline,
                         const struct times *times)
{
    struct curve_reader reader = start_reading(timeline);
    double width = (times->last - times->first) / (double)sampling->count;
    if (width <= 0)
        width = 1;
    size_t next = 0;
    for (size_t c = 0; c < sampling->count; c++) {
        double end = times->first + width * (double)(c + 1);
        struct column column = {0};
        bool is_last = c + 1 == sampling->count;
        sampling->edges[c] = times->first - times->origin + width * (double)c;
        column_add(&column, &reader, (int64_t)next - 1, true);
        while (next < reader.trace->count) {
            int64_t time = trace_time(reader.trace, next);
            if (!is_last && time != TIME_NONE && (double)time >= end)
                break;
            step(&reader, next);
            column_add(&column, &reader, (int64_t)next, c == 0 && next == 0);
            next++;
        }
        put(sampling, c, &column);
    }
    sampling->edges[sampling->count] =
        times->first - times->origin + width * (double)sampling->count;
}

static bool allocate(struct sampling *sampling, size_t columns)
{
    sampling->items = calloc(columns, sizeof(sampling->items[0]));
    sampling->edges = calloc(columns + 1, sizeof(sampling->edges[0]));
    sampling->active = calloc(columns, sizeof(sampling->active[0]));
    sampling->lowest = calloc(columns, sizeof(sampling->lowest[0]));
    sampling->reserved = calloc(columns, sizeof(sampling->reserved[0]));
    return sampling->items && sampling->edges && sampling->active && sampling->lowest &&
           sampling->reserved;
}

bool sampling_make(struct sampling *sampling, const struct timeline *timeline,
                   enum sampling_axis axis, size_t columns, struct error *err)
{
    size_t items = timeline->trace->count;
    struct sampling made = {.axis = axis};
    struct times times = {0};
    if (axis == AXIS_TIME && !find_times(timeline, &times, err))
        return false;
    bool has_dump = items > 0 && !trace_has_lifetimes(timeline->trace);
    if (has_dump)
        columns -= columns / DUMP_SHARE + 1;
    if (axis == AXIS_EVENT && items < columns)
        columns = items ? items : 1;
    if (axis == AXIS_TIME && times.last <= times.first)
        columns = 1;
    size_t all = has_dump ? columns + columns / DUMP_SHARE + 1 : columns;
    if (!allocate(&made, all)) {
        sampling_release(&made);
        return error_out_of_memory(err);
    }
    made.count = columns;
    if (items == 0) {
        struct curve_reader reader = start_reading(timeline);
        put(&made, 0, &(struct column){-1, reader.active, reader.active, reader.reserved});
        made.edges[1] = 1;
    } else if (axis == AXIS_EVENT) {
        sample_events(&made, timeline);
    } else {
        sample_times(&made, timeline, &times);
    }
    if (has_dump)
        append_dump(&made, timeline, all);
    *sampling = made;
    return true;
}

void sampling_release(struct sampling *sampling)
{
    free(sampling->items);
    free(sampling->edges);
    free(sampling->active);
    free(sampling->lowest);
    free(sampling->reserved);
    *sampling = (struct sampling){0};
}

size_t sampling_column(const struct sampling *sampling, uint32_t item)
{
    size_t count = sampling->count;
    if (item == EVENT_NEVER || count == 0)
        return count;
    return bisect_less_signed(sampling->items, sizeof(*sampling->items), count, item);
}

size_t sampling_column_showing(const struct sampling *sampling, uint32_t item)
{
    size_t column = sampling_column(sampling, item);
    return column < sampling->count ? column : sampling->count - 1;
}
