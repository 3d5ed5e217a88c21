/* A natural merge sort: traces consist of long runs that are sorted already. */
#include <string.h>

#include "decode/profiler/profile.h"

typedef bool less_function(const void *self, uint32_t a, uint32_t b);

/* The end of the run that begins at `from`. */
static size_t run_end(const uint32_t *items, size_t from, size_t count, less_function *is_less,
                      const void *self)
{
    size_t end = from + 1;
    while (end < count && !is_less(self, items[end], items[end - 1]))
        end++;
    return end;
}

/* Merges the neighbours [from, middle) and [middle, end) into `to`. */
static void merge(const uint32_t *items, size_t from, size_t middle, size_t end, uint32_t *to,
                  less_function *is_less, const void *self)
{
    size_t left = from, right = middle;
    for (size_t i = from; i < end; i++) {
        bool take_right =
            left == middle || (right < end && is_less(self, items[right], items[left]));
        to[i] = take_right ? items[right++] : items[left++];
    }
}

/* Merges neighbouring runs; returns the number of runs that were found. */
static size_t merge_runs(const uint32_t *items, size_t count, uint32_t *to, less_function *is_less,
                         const void *self)
{
    size_t runs = 0;
    for (size_t from = 0; from < count;) {
        size_t middle = run_end(items, from, count, is_less, self);
        size_t end = middle < count ? run_end(items, middle, count, is_less, self) : middle;
        runs += end > middle ? 2 : 1;
        merge(items, from, middle, end, to, is_less, self);
        from = end;
    }
    return runs;
}

bool profile_sort(uint32_t *items, size_t count, less_function *is_less, const void *self,
                  struct budget *budget, struct error *err)
{
    uint32_t *scratch = NULL;
    size_t capacity = 0;
    if (count < 2 || run_end(items, 0, count, is_less, self) == count)
        return true;
    if (!vec_reserve(scratch, capacity, count, budget, err))
        return false;
    while (merge_runs(items, count, scratch, is_less, self) > 2)
        memcpy(items, scratch, count * sizeof(*items));
    memcpy(items, scratch, count * sizeof(*items));
    vec_free(scratch, capacity, sizeof(*scratch), budget);
    return true;
}
