#include "solve/dp/sum.h"

#include <stdlib.h>

/* The end of the longest part that begins at p, by an exponential and then a binary search. */
static size_t part_end(const int64_t *before, size_t n, size_t p, int64_t bound)
{
    size_t step = 1, low = p;
    while (low + step <= n && before[low + step] - before[p] <= bound) {
        low += step;
        step *= 2;
    }
    for (; step > 0; step /= 2)
        if (low + step <= n && before[low + step] - before[p] <= bound)
            low += step;
    return low;
}

/* The same backwards: the beginning of the longest part that ends at e. */
static size_t part_begin(const int64_t *before, size_t e, int64_t bound)
{
    size_t step = 1, low = e;
    while (step <= low && before[e] - before[low - step] <= bound) {
        low -= step;
        step *= 2;
    }
    for (; step > 0; step /= 2)
        if (step <= low && before[e] - before[low - step] <= bound)
            low -= step;
    return low;
}

static bool fits(const int64_t *before, size_t n, size_t from, size_t parts, int64_t bound)
{
    size_t p = from;
    for (size_t k = 0; k < parts && p < n; k++) {
        size_t end = part_end(before, n, p, bound);
        if (end == p)
            return false;
        p = end;
    }
    return p == n;
}

#define MOST_STEPS 2e10 /* about a minute */

struct problem {
    int64_t *before;  /* [n+1] sum of the sizes before index i */
    int64_t *largest; /* [n+1] largest size from index i on, and 0 at the end */
    size_t n;
    bool negative; /* some size is negative */
};

static bool add_up(struct problem *problem, const int64_t *sizes, struct error *err)
{
    size_t n = problem->n;
    problem->before[0] = problem->largest[n] = 0;
    for (size_t i = 0; i < n; i++) {
        problem->negative |= sizes[i] < 0;
        if (__builtin_add_overflow(problem->before[i], sizes[i], &problem->before[i + 1]))
            return error_set(err, STATUS_LIMIT, "the sizes of all modules add up to too much");
    }
    for (size_t i = n; i-- > 0;)
        problem->largest[i] =
            sizes[i] > problem->largest[i + 1] ? sizes[i] : problem->largest[i + 1];
    return true;
}

static bool add_cut(struct sum_answer *answer, size_t at, struct budget *budget, struct error *err)
{
    return vec_push(answer->cuts, answer->count, answer->capacity, budget, err, at);
}

static bool too_long(size_t n, size_t checkpoints, size_t most, struct error *err)
{
    return error_set(err, STATUS_LIMIT,
                     "%zu checkpoints among %zu modules would take minutes; at most %zu do not",
                     checkpoints, n, most);
}

/* The least s > from with V(s, r-1) <= bound. Parts as long as possible, from the last one on,
 * reach furthest back. */
static size_t next_cut(const struct problem *problem, size_t from, size_t r, int64_t bound)
{
    size_t s = problem->n;
    for (size_t k = 0; k < r && s > from; k++)
        s = part_begin(problem->before, s, bound);
    return s > from ? s : from + 1;
}

/* V(from, parts - 1), which is at most `high`. Seldom much less, as `high` is that of more sizes
 * with one more part, so the search goes down from there in steps that double. */
static int64_t least_bound(const struct problem *problem, size_t from, size_t parts, int64_t high)
{
    const int64_t *before = problem->before;
    size_t n = problem->n;
    int64_t share = (before[n] - before[from]) / (int64_t)parts;
    int64_t low = share > problem->largest[from] ? share : problem->largest[from], step = 1;
    while (low < high) {
        bool doubles = step <= (high - low) / 2;
        int64_t bound = doubles ? high - step : low + (high - low) / 2;
        if (fits(before, n, from, parts, bound)) {
            high = bound;
            step = doubles ? 2 * step : INT64_MAX;
        } else {
            low = bound + 1;
            step = INT64_MAX;
        }
    }
    return low;
}

/* The first bound: a part as long as that has at least the share of each. */
static int64_t first_bound(const struct problem *problem, size_t parts)
{
    int64_t whole = problem->before[problem->n], largest = problem->largest[0];
    int64_t share = whole / (int64_t)parts;
    return share < whole - largest ? share + largest + 1 : whole;
}

static int bits(uint64_t number)
{
    return number > 0 ? 64 - __builtin_clzll(number) : 0;
}

/* Estimates the steps of place(), from measurements. Each cut bisects a bound between 0 and the
 * largest size. For each bound it goes through the remaining parts and searches for the end of each
 * among about n / checkpoints sizes. */
static double steps_of(const struct problem *problem, size_t checkpoints)
{
    double k = (double)checkpoints;
    double search = 0.6 * bits(problem->n / (checkpoints + 1)) - 0.1;
    return k * k * (bits((uint64_t)problem->largest[0]) + 1) * (search > 0.5 ? search : 0.5);
}

/* The largest number of cuts that place() makes within MOST_STEPS. */
static size_t most_cuts(const struct problem *problem)
{
    size_t low = 0, high = problem->n;
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (steps_of(problem, middle) <= MOST_STEPS / 2)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static bool place(struct problem *problem, size_t checkpoints, struct sum_answer *answer,
                  struct budget *budget, struct error *err)
{
    size_t n = problem->n, at = 0;
    if (steps_of(problem, checkpoints) > MOST_STEPS / 2)
        return too_long(n, checkpoints, most_cuts(problem), err);
    int64_t bound = first_bound(problem, checkpoints + 1);
    bound = least_bound(problem, 0, checkpoints + 1, bound);
    answer->max_memory = bound;
    for (size_t r = checkpoints; r > 0 && at < n; r--) {
        at = next_cut(problem, at, r, bound);
        if (at < n && !add_cut(answer, at, budget, err))
            return false;
        bound = at < n ? least_bound(problem, at, r, bound) : 0;
    }
    return true;
}

/* Computes V(p, r) for all p from V(., r-1), and the first cut that attains it. */
static void fill_row(const struct problem *problem, const int64_t *less, int64_t *values,
                     uint32_t *cuts)
{
    size_t n = problem->n;
    values[n] = 0;
    for (size_t p = 0; p < n; p++) {
        values[p] = INT64_MAX;
        for (size_t s = p + 1; s <= n; s++) {
            int64_t part = problem->before[s] - problem->before[p];
            int64_t value = part > less[s] ? part : less[s];
            if (value < values[p]) {
                values[p] = value;
                cuts[p] = (uint32_t)s;
            }
        }
    }
}

static bool follow(const struct problem *problem, const uint32_t *cuts, size_t checkpoints,
                   struct sum_answer *answer, struct budget *budget, struct error *err)
{
    size_t at = 0;
    for (size_t r = checkpoints; r > 0; r--) {
        at = cuts[r * problem->n + at];
        if (at == problem->n)
            return true;
        if (!add_cut(answer, at, budget, err))
            return false;
    }
    return true;
}

/* FairScale's recursion unchanged, in the order of r. k > n cuts give the same result as n, since
 * each cut takes at least one entry. */
static bool place_negative(struct problem *problem, size_t checkpoints, struct sum_answer *answer,
                           struct budget *budget, struct error *err)
{
    size_t n = problem->n, rows = 2 * (n + 1), bytes;
    double most = MOST_STEPS / ((double)n * (double)n);
    if ((double)checkpoints > most)
        return too_long(n, checkpoints, (size_t)most, err);
    bytes = rows * sizeof(int64_t) + (checkpoints + 1) * n * sizeof(uint32_t);
    if (!budget_take(budget, bytes, err))
        return false;
    int64_t *values = malloc(bytes), *less = values + (n + 1), *current = values;
    bool ok = values || error_out_of_memory(err);
    for (size_t p = 0; ok && p <= n; p++)
        current[p] = problem->before[n] - problem->before[p];
    uint32_t *cuts = (uint32_t *)(values + rows);
    for (size_t r = 1; ok && r <= checkpoints; r++) {
        int64_t *swapped = less;
        less = current;
        current = swapped;
        fill_row(problem, less, current, cuts + r * n);
    }
    if (ok)
        answer->max_memory = current[0];
    ok = ok && follow(problem, cuts, checkpoints, answer, budget, err);
    free(values);
    budget_give(budget, bytes);
    return ok;
}

static bool allocate(struct problem *problem, size_t count, size_t *bytes, struct budget *budget,
                     struct error *err)
{
    if (count >= UINT32_MAX)
        return error_set(err, STATUS_LIMIT, "%zu modules are too many", count);
    *bytes = 2 * (count + 1) * sizeof(int64_t);
    if (!budget_take(budget, *bytes, err))
        return false;
    problem->before = malloc(*bytes);
    if (!problem->before) {
        budget_give(budget, *bytes);
        return error_out_of_memory(err);
    }
    problem->largest = problem->before + count + 1;
    problem->n = count;
    return true;
}

bool sum_place(const int64_t *sizes, size_t count, size_t checkpoints, struct sum_answer *answer,
               struct budget *budget, struct error *err)
{
    struct problem problem = {0};
    struct sum_answer found = {0};
    size_t bytes = 0;
    if (!allocate(&problem, count, &bytes, budget, err))
        return false;
    checkpoints = checkpoints < count ? checkpoints : count;
    bool ok = add_up(&problem, sizes, err) && (problem.negative ? place_negative : place)(
                                                  &problem, checkpoints, &found, budget, err);
    free(problem.before);
    budget_give(budget, bytes);
    if (ok)
        *answer = found;
    else
        sum_release(&found, budget);
    return ok;
}

void sum_release(struct sum_answer *answer, struct budget *budget)
{
    vec_free(answer->cuts, answer->capacity, sizeof(*answer->cuts), budget);
    *answer = (struct sum_answer){0};
}
