/* Sums of sizes from a file. Any 64-bit size may occur, and no sum may wrap. */
#ifndef MEMSNAP_MODEL_SUMS_H
#define MEMSNAP_MODEL_SUMS_H

#include <stdbool.h>
#include <stdint.h>

/* Both return false and leave `*sum` unchanged if the result exceeds 64 signed bits. */
static inline bool sum_add(int64_t *sum, uint64_t size)
{
    int64_t result;
    if (size > INT64_MAX || __builtin_add_overflow(*sum, (int64_t)size, &result))
        return false;
    *sum = result;
    return true;
}

static inline bool sum_subtract(int64_t *sum, uint64_t size)
{
    int64_t result;
    if (size > INT64_MAX || __builtin_sub_overflow(*sum, (int64_t)size, &result))
        return false;
    *sum = result;
    return true;
}

static inline bool sum_add_signed(int64_t *sum, int64_t value)
{
    int64_t result;
    if (__builtin_add_overflow(*sum, value, &result))
        return false;
    *sum = result;
    return true;
}

/* Adds `value`, which must not be negative. A sum that would exceed INT64_MAX becomes INT64_MAX. */
static inline void sum_add_capped(int64_t *sum, int64_t value)
{
    if (__builtin_add_overflow(*sum, value, sum))
        *sum = INT64_MAX;
}

#endif
