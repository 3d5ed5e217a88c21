/* The totals of a front: the peaks with the gradients of parameters. */
#include <stdlib.h>

#include "solve/dp/front.h"

/* Finds the memory and the total of a placement by replay. Placements that were found by their
 * totals are weighed in total bytes, so their memory is not known before. */
static bool find_total(const struct front *front, struct front_point *point, struct budget *budget,
                       struct error *err)
{
    struct placement placement = {0};
    struct replay_outcome outcome;
    bool ok = front_place(front, point, &placement, budget, err) &&
              placement_replay(&placement, front->chain, budget, &outcome, err);
    placement_release(&placement, budget);
    if (ok) {
        point->peak_bytes = point->by_total ? outcome.peak_bytes : point->peak_bytes;
        point->total_bytes = outcome.total_bytes;
    }
    return ok;
}

static bool create_totals(struct front *front, struct budget *budget, struct error *err)
{
    if (!budget_take(budget, sizeof(*front->totals), err))
        return false;
    front->totals = calloc(1, sizeof(*front->totals));
    if (!front->totals) {
        budget_give(budget, sizeof(*front->totals));
        return error_out_of_memory(err);
    }
    struct front_totals *totals = front->totals;
    return chain_with_gradients(&totals->chain, front->chain, budget, err) &&
           front_create(&totals->front, &totals->chain, budget, err);
}

static bool add_points(struct front *front, struct budget *budget, struct error *err)
{
    const struct front *totals = &front->totals->front;
    if (!vec_reserve(front->points, front->capacity, front->count + totals->count, budget, err))
        return false;
    for (size_t i = 0; i < totals->count; i++) {
        struct front_point point = totals->points[i];
        point.by_total = true;
        front->points[front->count++] = point;
    }
    for (size_t i = 0; i < front->count; i++)
        if (!find_total(front, &front->points[i], budget, err))
            return false;
    return true;
}

/* Orders points by time. Among equally fast ones, the one with the least memory comes first. */
static int compare_points(const void *a, const void *b)
{
    const struct front_point *x = a, *y = b;
    if (x->extra_time != y->extra_time)
        return x->extra_time < y->extra_time ? -1 : 1;
    if (x->total_bytes != y->total_bytes)
        return x->total_bytes < y->total_bytes ? -1 : 1;
    return (x->peak_bytes > y->peak_bytes) - (x->peak_bytes < y->peak_bytes);
}

static void find_least(struct front *front)
{
    front->least = front->points[0];
    for (size_t i = 1; i < front->count; i++)
        if (front->points[i].total_bytes < front->least.total_bytes)
            front->least = front->points[i];
}

/* Drops points, so that each takes clearly more time than the one before it, and less memory and
 * total. */
static void drop_large(struct front *front)
{
    int64_t hardly = chain_forward_time(front->chain) / FRONT_TOLD_APART;
    struct front_point *points = front->points;
    size_t kept = 1;
    for (size_t i = 1; i < front->count; i++)
        if (points[i].total_bytes < points[kept - 1].total_bytes &&
            points[i].peak_bytes < points[kept - 1].peak_bytes) {
            bool replaces = points[kept - 1].extra_time > 0 &&
                            points[i].extra_time - points[kept - 1].extra_time < hardly;
            kept += !replaces;
            points[kept - 1] = points[i];
        }
    front->count = kept;
    for (size_t i = 0; i < kept / 2; i++) {
        struct front_point point = points[i];
        points[i] = points[kept - 1 - i];
        points[kept - 1 - i] = point;
    }
}

bool front_weigh_totals(struct front *front, struct budget *budget, struct error *err)
{
    if (!create_totals(front, budget, err) || !add_points(front, budget, err))
        return false;
    qsort(front->points, front->count, sizeof(*front->points), compare_points);
    find_least(front);
    drop_large(front);
    return true;
}
