#include "analysis/curves/replayed.h"

#include <stdlib.h>
#include <string.h>

/* The place of an item on the axis of the sampling, in the unit of its edges. Items without a time
 * stay where the one before them is. */
static double place_of(const struct trace *trace, const struct sampling *sampling, double origin,
                       int64_t item)
{
    if (sampling->axis == AXIS_EVENT)
        return (double)trace->first_event + (double)item;
    int64_t time = trace_time(trace, (size_t)item);
    return time == TIME_NONE ? sampling->edges[0] : (double)time - origin;
}

/* The time at which the sampling's axis is 0: that of the first event with a time. */
static double origin_of(const struct trace *trace, const struct sampling *sampling)
{
    for (size_t i = 0; i < trace->count; i++)
        if (trace_time(trace, i) != TIME_NONE)
            return (double)trace_time(trace, i) - sampling->edges[0];
    return 0;
}

/* Fills the columns with the maximum of a curve of steps. A column begins with the value at the end
 * of the one before. */
static void fill_columns(struct replay_curve *curve, const struct reserved_points *points,
                         const struct trace *trace, const struct sampling *sampling)
{
    double origin = sampling->axis == AXIS_TIME ? origin_of(trace, sampling) : 0;
    size_t column = 0;
    int64_t now = 0;
    curve->reserved[0] = 0;
    for (size_t i = 0; i < points->count; i++) {
        const struct reserved_point *point = &points->items[i];
        double place =
            point->item < 0 ? sampling->edges[0] : place_of(trace, sampling, origin, point->item);
        for (; column + 1 < sampling->count && place >= sampling->edges[column + 1]; column++)
            curve->reserved[column + 1] = now;
        now = (int64_t)point->reserved;
        if (now > curve->reserved[column])
            curve->reserved[column] = now;
    }
    while (++column < sampling->count)
        curve->reserved[column] = now;
}

static void find_peak(struct replay_curve *curve, size_t count)
{
    for (size_t c = 0; c < count; c++)
        if (curve->reserved[c] > curve->peak_bytes) {
            curve->peak_bytes = curve->reserved[c];
            curve->peak_column = c;
        }
}

static bool make_curve(struct replay_curve *curve, const struct device_replay *replay,
                       const struct sampling *sampling, struct error *err)
{
    struct budget *budget = replay->program.budget;
    struct reserved_points points = {0};
    curve->reserved = malloc(sampling->count * sizeof(*curve->reserved));
    if (!curve->reserved)
        return error_out_of_memory(err);
    bool ok = device_replay_curve(replay, curve->row, &points, budget, err);
    if (ok) {
        fill_columns(curve, &points, replay->timeline->trace, sampling);
        find_peak(curve, sampling->count);
    }
    vec_free(points.items, points.capacity, sizeof(*points.items), budget);
    return ok;
}

static size_t first_equal(const struct replay_curves *curves, size_t row, size_t columns)
{
    size_t bytes = columns * sizeof(*curves->items[row].reserved), like = 0;
    while (memcmp(curves->items[like].reserved, curves->items[row].reserved, bytes) != 0)
        like++;
    return like;
}

bool replay_curves_make(struct replay_curves *curves, const struct device_replay *replay,
                        const struct sampling *sampling, struct error *err)
{
    struct replay_curves made = {.items = calloc(replay->row_count, sizeof(*made.items))};
    bool ok = made.items || error_out_of_memory(err);
    for (size_t row = 0; ok && row < replay->row_count; row++) {
        made.count = row + 1;
        made.items[row].row = row;
        ok = make_curve(&made.items[row], replay, sampling, err);
        if (ok)
            made.items[row].like = first_equal(&made, row, sampling->count);
    }
    if (ok)
        *curves = made;
    else
        replay_curves_release(&made);
    return ok;
}

void replay_curves_release(struct replay_curves *curves)
{
    for (size_t i = 0; i < curves->count; i++)
        free(curves->items[i].reserved);
    free(curves->items);
    *curves = (struct replay_curves){0};
}
