#include "solve/front.h"

#include <stdlib.h>

#include "solve/segment_cost.h"

#define MOST_SLOTS  1000
#define LEAST_SLOTS 100
#define STEPS       1.5e9 /* cells times segments: about a second */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static size_t affordable_slots(size_t layers)
{
    double n = (double)layers, slots = STEPS / (n * n / 2 + 1);
    return slots > MOST_SLOTS ? MOST_SLOTS : slots < LEAST_SLOTS ? LEAST_SLOTS : (size_t)slots;
}

/* Slots of the greatest common divisor of all times, if those are few enough. */
static void choose_slots(struct front *front)
{
    const struct chain *chain = front->chain;
    int64_t whole = chain_forward_time(chain), unit = 0, done = 0;
    for (size_t i = 0; i < chain->layers; i++)
        unit = gcd(chain->forward[i], unit);
    size_t most = affordable_slots(chain->layers);
    front->exact = whole == 0 || whole / unit <= (int64_t)most;
    front->slots = whole == 0 ? 0 : front->exact ? (size_t)(whole / unit) : most;
    for (size_t i = 0; i <= chain->layers; i++) {
        double share = whole == 0 ? 0 : (double)done / (double)whole;
        front->prefix[i] = (uint32_t)(share * (double)front->slots + 0.5);
        done += i < chain->layers ? chain->forward[i] : 0;
    }
}

static double *row(const struct front *front, size_t i)
{
    return front->table + i * (front->slots + 1);
}

static inline double most(double a, double b)
{
    return a > b ? a : b;
}

/* A segment that takes `peak` and `time`, then `stored` beside what follows. */
static void try_segment(double *values, const double *after, size_t slots, size_t time, double peak,
                        double stored)
{
    double *from = values + time;
    for (size_t t = 0; t + time <= slots; t++) {
        double value = most(peak, stored + after[t]);
        from[t] = value < from[t] ? value : from[t];
    }
}

static void fill_row(const struct front *front, size_t i)
{
    const struct chain *chain = front->chain;
    double *values = row(front, i), *next = row(front, i + 1);
    double peak = (double)kept_layer_peak(chain, i), kept = (double)chain->xbar[i];
    for (size_t t = 0; t <= front->slots; t++)
        values[t] = most(peak, kept + next[t]);
    int64_t bound = (int64_t)values[0];
    struct segment_cost cost = {0};
    for (size_t s = i + 1; s <= chain->layers; s++) {
        segment_cost_add(&cost, chain, i, s - 1);
        if (segment_cost_least(&cost) >= bound)
            break;
        try_segment(values, row(front, s), front->slots, front->prefix[s] - front->prefix[i],
                    (double)segment_cost_peak(&cost, chain, s), (double)chain->x[s]);
    }
}

static void fill(const struct front *front)
{
    size_t n = front->chain->layers;
    for (size_t t = 0; t <= front->slots; t++)
        row(front, n)[t] = 0;
    for (size_t i = n; i-- > 0;)
        fill_row(front, i);
}

static bool allocate(struct front *front, struct budget *budget, struct error *err)
{
    size_t rows = front->chain->layers + 1, slots = affordable_slots(front->chain->layers) + 1;
    size_t bytes = rows * slots * sizeof(double) + rows * sizeof(uint32_t);
    if (front->chain->layers > FRONT_MOST_LAYERS)
        return error_set(err, STATUS_LIMIT, "%zu layers are more than %d", front->chain->layers,
                         FRONT_MOST_LAYERS);
    if (!budget_take(budget, bytes, err))
        return false;
    front->table = malloc(bytes);
    if (!front->table) {
        budget_give(budget, bytes);
        return error_set(err, STATUS_LIMIT, "out of memory");
    }
    front->table_bytes = bytes;
    front->prefix = (uint32_t *)(front->table + rows * slots);
    return true;
}

/* One step of a placement: where the part that begins at layer i ends; kept if that is i+1 and
 * `*kept`. `*t` becomes what is left of it. */
static size_t step(const struct front *front, size_t i, size_t *t, bool *kept)
{
    const struct chain *chain = front->chain;
    double wanted = row(front, i)[*t];
    double alone = (double)kept_layer_peak(chain, i), stays = (double)chain->xbar[i];
    *kept = most(alone, stays + row(front, i + 1)[*t]) <= wanted;
    struct segment_cost cost = {0};
    for (size_t s = i + 1; s <= chain->layers && !*kept; s++) {
        segment_cost_add(&cost, chain, i, s - 1);
        size_t time = front->prefix[s] - front->prefix[i];
        if (time > *t)
            break;
        double peak = (double)segment_cost_peak(&cost, chain, s);
        if (most(peak, (double)chain->x[s] + row(front, s)[*t - time]) <= wanted) {
            *t -= time;
            return s;
        }
    }
    return i + 1;
}

static int64_t exact_time(const struct front *front, size_t slot)
{
    int64_t time = 0;
    for (size_t i = 0, t = slot; i < front->chain->layers;) {
        bool kept;
        size_t end = step(front, i, &t, &kept);
        for (; i < end; i++)
            time += kept ? 0 : front->chain->forward[i];
    }
    return time;
}

bool front_place(const struct front *front, const struct front_point *point,
                 struct placement *placement, struct budget *budget, struct error *err)
{
    for (size_t i = 0, end, t = point->slot; i < front->chain->layers; i = end) {
        bool kept;
        end = step(front, i, &t, &kept);
        if (!kept && !placement_add(placement, i, end, budget, err))
            return false;
    }
    return true;
}

/* From no extra time on; a point that takes as long as one with less memory goes. */
static bool collect(struct front *front, struct budget *budget, struct error *err)
{
    const double *values = row(front, 0);
    for (size_t t = 0; t <= front->slots; t++) {
        if (t > 0 && values[t] >= values[t - 1])
            continue;
        struct front_point point = {(int64_t)values[t], exact_time(front, t), t};
        while (front->count > 0 && front->points[front->count - 1].extra_time >= point.extra_time)
            front->count--;
        if (!vec_grow((void **)&front->points, &front->capacity, front->count + 1,
                      sizeof(*front->points), budget, err))
            return false;
        front->points[front->count++] = point;
    }
    for (size_t a = 0, b = front->count - 1; a < b; a++, b--) {
        struct front_point point = front->points[a];
        front->points[a] = front->points[b];
        front->points[b] = point;
    }
    return true;
}

bool front_create(struct front *front, const struct chain *chain, struct budget *budget,
                  struct error *err)
{
    struct front made = {.chain = chain};
    if (!allocate(&made, budget, err))
        return false;
    choose_slots(&made);
    fill(&made);
    if (!collect(&made, budget, err)) {
        front_release(&made, budget);
        return false;
    }
    *front = made;
    return true;
}

void front_release(struct front *front, struct budget *budget)
{
    vec_free(front->points, front->capacity, sizeof(*front->points), budget);
    free(front->table);
    budget_give(budget, front->table_bytes);
    *front = (struct front){0};
}

const struct front_point *front_within(const struct front *front, int64_t bytes)
{
    const struct front_point *best = NULL;
    for (size_t i = 0; i < front->count && front->points[i].peak_bytes <= bytes; i++)
        best = &front->points[i];
    return best;
}
