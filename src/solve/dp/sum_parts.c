#include "solve/dp/sum_parts.h"

#include <stdbool.h>

void sum_count_parts(const int64_t *before, size_t n, size_t from, int64_t bound, uint32_t *parts)
{
    size_t end = n; /* of the longest part that begins at p */
    parts[n] = 0;
    for (size_t p = n; p-- > from;) {
        while (before[end] - before[p] > bound)
            end--;
        bool fits = end > p && parts[end] < UINT32_MAX;
        parts[p] = fits ? parts[end] + 1 : UINT32_MAX;
    }
}

/* The end of the longest part that begins at p: by doubling steps, then halving them. */
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

int64_t sum_least(const int64_t *before, size_t n, size_t from, size_t parts)
{
    int64_t whole = before[n] - before[from], largest = 0;
    for (size_t i = from; i < n; i++)
        if (before[i + 1] - before[i] > largest)
            largest = before[i + 1] - before[i];
    int64_t share = whole / (int64_t)parts;
    int64_t low = share > largest ? share : largest;
    int64_t high = share < whole - largest ? share + largest + 1 : whole;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (fits(before, n, from, parts, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
