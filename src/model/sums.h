/* Sums of sizes from a file. Any 64-bit size may occur, and no sum may wrap. Nor may the difference
 * of two sums, so a sum is at most LARGEST_SUM and at least -LARGEST_SUM. */
#ifndef MEMSNAP_MODEL_SUMS_H
#define MEMSNAP_MODEL_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#define LARGEST_SUM ((INT64_C(1) << 62) - 1)

/* These return false and leave `*sum` unchanged if the result is not within the bounds. */
static inline bool sum_add(int64_t *sum, uint64_t size)
{
    if (size > (uint64_t)LARGEST_SUM || *sum + (int64_t)size > LARGEST_SUM)
        return false;
    *sum += (int64_t)size;
    return true;
}

static inline bool sum_subtract(int64_t *sum, uint64_t size)
{
    if (size > (uint64_t)LARGEST_SUM || *sum - (int64_t)size < -LARGEST_SUM)
        return false;
    *sum -= (int64_t)size;
    return true;
}

/* `term` is within the bounds, too. */
static inline bool sum_add_signed(int64_t *sum, int64_t term)
{
    int64_t result = *sum + term;
    if (result > LARGEST_SUM || result < -LARGEST_SUM)
        return false;
    *sum = result;
    return true;
}

/* Adds `term`, which must not be negative. A sum that would exceed INT64_MAX becomes INT64_MAX. */
static inline void sum_add_capped(int64_t *sum, int64_t term)
{
    if (__builtin_add_overflow(*sum, term, sum))
        *sum = INT64_MAX;
}

#endif
