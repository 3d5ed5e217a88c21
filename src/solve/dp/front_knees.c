#include "solve/dp/front.h"

#define LEAST_DEPTH 0.05 /* least depth of a knee, as a share of the whole front's extra time */

/* The point where the front lies deepest below the straight line from point a to point b. `*depth`
 * is its depth as a share of the whole extra time. */
static size_t deepest(const struct front *front, size_t a, size_t b, double *depth)
{
    const struct front_point *points = front->points, *p = &points[a], *q = &points[b];
    double whole = (double)points[0].extra_time;
    double slope =
        (double)(q->extra_time - p->extra_time) / (double)(q->peak_bytes - p->peak_bytes);
    size_t best = a;
    *depth = 0;
    for (size_t i = a + 1; i < b; i++) {
        double line =
            (double)p->extra_time + slope * (double)(points[i].peak_bytes - p->peak_bytes);
        double below = (line - (double)points[i].extra_time) / whole;
        if (below > *depth) {
            *depth = below;
            best = i;
        }
    }
    return best;
}

static size_t deepest_of_all(const struct front *front, const bool *marks, double *depth)
{
    size_t best = 0;
    *depth = 0;
    for (size_t a = 0, b = 1; b < front->count; b++) {
        if (!marks[b] && b + 1 < front->count)
            continue;
        double here;
        size_t at = deepest(front, a, b, &here);
        if (here > *depth) {
            *depth = here;
            best = at;
        }
        a = b;
    }
    return best;
}

void front_knees(const struct front *front, bool *marks, size_t most)
{
    for (size_t i = 0; i < front->count; i++)
        marks[i] = false;
    for (size_t k = 0; k < most; k++) {
        double depth;
        size_t knee = deepest_of_all(front, marks, &depth);
        if (depth < LEAST_DEPTH)
            return;
        marks[knee] = true;
    }
}
