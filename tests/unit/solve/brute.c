#include "unit/solve/brute.h"

#include <stdlib.h>
#include <string.h>

/* The tensors in memory: the gradient x[left], since the layers from `left` on are done, and, until
 * the backward of layer i, every input x[i] (bit i of `inputs`) and xbar[i] (bit i of `all`) that
 * was stored. x[0] is always in memory. */
struct holding {
    unsigned left, inputs, all;
};

struct search {
    const struct cost_problem *p;
    int32_t slots;
    int32_t *known; /* for each holding: least time to the end, -1 if not known */
};

static int32_t held(const struct search *search, struct holding now)
{
    int32_t sum = search->p->x[now.left];
    for (unsigned i = 0; i < now.left; i++) {
        sum += now.inputs >> i & 1 && i > 0 ? search->p->x[i] : 0;
        sum += now.all >> i & 1 ? search->p->xbar[i] : 0;
    }
    return sum;
}

/* True if x[i] is in memory, on its own or as a part of xbar[i-1]. */
static bool has_input(struct holding now, unsigned i)
{
    return i == 0 || now.inputs >> i & 1 || now.all >> (i - 1) & 1;
}

static int32_t least_time(struct search *search, struct holding now);

static void consider(struct search *search, int32_t *best, int32_t time, struct holding next)
{
    int32_t rest = least_time(search, next);
    if (rest < COST_INFINITE && time + rest < *best)
        *best = time + rest;
}

/* Runs forward from the last input in memory, and keeps only x[to]. */
static void store_input(struct search *search, struct holding now, unsigned to, int32_t *best)
{
    const struct cost_problem *p = search->p;
    unsigned from = to - 1;
    while (!has_input(now, from))
        from--;
    int32_t time = 0, base = held(search, now);
    for (unsigned q = from; q < to; q++) {
        if (base + (q > from ? p->x[q] : 0) + p->x[q + 1] + p->ftmp[q] > search->slots)
            return;
        time += p->forward[q];
    }
    consider(search, best, time, (struct holding){now.left, now.inputs | 1U << to, now.all});
}

static void store_all(struct search *search, struct holding now, unsigned i, int32_t *best)
{
    const struct cost_problem *p = search->p;
    if (has_input(now, i) && held(search, now) + p->xbar[i] + p->ftmp[i] <= search->slots)
        consider(search, best, p->forward[i],
                 (struct holding){now.left, now.inputs, now.all | 1U << i});
}

static void run_backward(struct search *search, struct holding now, int32_t *best)
{
    unsigned i = now.left - 1, rest = (1U << i) - 1;
    if (now.all >> i & 1 && has_input(now, i) &&
        held(search, now) + search->p->btmp[i] <= search->slots)
        consider(search, best, 0, (struct holding){i, now.inputs & rest, now.all & rest});
}

static int32_t least_time(struct search *search, struct holding now)
{
    if (now.left == 0)
        return 0;
    unsigned layers = (unsigned)search->p->layers;
    int32_t *known =
        &search->known[((now.left - 1) << 2 * layers) + (now.inputs << layers) + now.all];
    if (*known >= 0)
        return *known;
    int32_t best = COST_INFINITE;
    for (unsigned i = 0; i < now.left; i++) {
        if (!has_input(now, i))
            store_input(search, now, i, &best);
        if (!(now.all >> i & 1))
            store_all(search, now, i, &best);
    }
    run_backward(search, now, &best);
    return *known = best;
}

int32_t brute_extra_time(const struct cost_problem *problem, int32_t slots)
{
    size_t layers = (size_t)problem->layers, states = layers << 2 * layers;
    struct search search = {problem, slots, malloc(states * sizeof(int32_t))};
    if (!search.known)
        abort();
    memset(search.known, -1, states * sizeof(int32_t));
    int32_t time = COST_INFINITE;
    if (problem->x[layers] <= slots)
        time = least_time(&search, (struct holding){(unsigned)layers, 0, 0});
    for (size_t i = 0; i < layers && time < COST_INFINITE; i++)
        time -= problem->forward[i];
    free(search.known);
    return time;
}
