/* Where a value belongs among items that ascend in a field of theirs. */
#ifndef MEMSNAP_BASE_BISECT_H
#define MEMSNAP_BASE_BISECT_H

#include <stddef.h>
#include <stdint.h>

/* How many of `count` items have less than `value` in a field of uint32_t: `field` is that of the
 * first item, `size` what an item takes, in bytes. */
static inline size_t bisect_less(const uint32_t *field, size_t size, size_t count, uint32_t value)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint32_t *)(const void *)((const char *)field + middle * size) < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same for items with at most `value`. */
static inline size_t bisect_until(const uint32_t *field, size_t size, size_t count, uint32_t value)
{
    return value == UINT32_MAX ? count : bisect_less(field, size, count, value + 1);
}

/* The last item with at most `value`; the first of all where there is none. */
static inline size_t bisect_last(const uint32_t *field, size_t size, size_t count, uint32_t value)
{
    size_t until = bisect_until(field, size, count, value);
    return until - (until > 0);
}

/* bisect_less() for a field of uint64_t. */
static inline size_t bisect_less_64(const uint64_t *field, size_t size, size_t count,
                                    uint64_t value)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint64_t *)(const void *)((const char *)field + middle * size) < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
