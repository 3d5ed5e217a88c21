#include "model/peak_without.h"

#include <stdlib.h>

#include "base/budget.h"
#include "model/curve_cursor.h"

struct edge {
    uint32_t item;
    int64_t bytes; /* change of the absent bytes */
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

/* Sums may exceed 64 bits where a trace contradicts itself. */
static int64_t highest(const struct timeline *timeline, const struct edge *edges, size_t count)
{
    struct curve_cursor cursor = curve_cursor_begin(timeline);
    __extension__ __int128 absent = 0, peak;
    size_t next = 0;
    for (; next < count && edges[next].item == 0; next++)
        absent += edges[next].bytes;
    peak = cursor.active - absent;
    while (cursor.item < timeline->trace->count) {
        for (; next < count && edges[next].item <= cursor.item; next++)
            absent += edges[next].bytes;
        __extension__ __int128 active = curve_cursor_step(&cursor) - absent;
        peak = active > peak ? active : peak;
    }
    return (int64_t)peak;
}

bool timeline_peak_without(const struct timeline *timeline, const struct absence *absences,
                           size_t count, int64_t *peak, struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct edge *edges = NULL;
    size_t capacity = 0, made = 0;
    if (!vec_reserve(edges, capacity, 2 * count + 1, budget, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        edges[made++] = (struct edge){absences[i].from, (int64_t)absences[i].bytes};
        if (absences[i].until != EVENT_NEVER)
            edges[made++] = (struct edge){absences[i].until, -(int64_t)absences[i].bytes};
    }
    qsort(edges, made, sizeof(*edges), compare_edges);
    *peak = highest(timeline, edges, made);
    vec_free(edges, capacity, sizeof(*edges), budget);
    return true;
}

bool absences_add(struct absences *absences, struct absence absence, struct error *err)
{
    return vec_push(absences->items, absences->count, absences->capacity, absences->budget, err,
                    absence);
}

bool absences_join(struct absences *absences, const struct absences *more, struct error *err)
{
    for (size_t i = 0; i < more->count; i++)
        if (!absences_add(absences, more->items[i], err))
            return false;
    return true;
}

bool absences_save(const struct absences *absences, const struct timeline *timeline,
                   int64_t *save_bytes, struct error *err)
{
    int64_t peak = timeline->active.peak_bytes;
    if (absences->count > 0 &&
        !timeline_peak_without(timeline, absences->items, absences->count, &peak, err))
        return false;
    *save_bytes = timeline->active.peak_bytes - peak;
    return true;
}

void absences_release(struct absences *absences)
{
    vec_free(absences->items, absences->capacity, sizeof(*absences->items), absences->budget);
    *absences = (struct absences){0};
}
