/* Binary search over structs sorted by one field, and the order of plain numbers. */
#ifndef MEMSNAP_BASE_BISECT_H
#define MEMSNAP_BASE_BISECT_H

#include <stddef.h>
#include <stdint.h>

/* Returns the number of items whose field is less than `wanted`. `field` points to the field of the
 * first of `count` items, and `size` is the size of an item in bytes. */
#define BISECT_LESS(name, type)                                                                    \
    static inline size_t name(const type *field, size_t size, size_t count, type wanted)           \
    {                                                                                              \
        size_t low = 0, high = count;                                                              \
        while (low < high) {                                                                       \
            size_t middle = low + (high - low) / 2;                                                \
            if (*(const type *)(const void *)((const char *)field + middle * size) < wanted)       \
                low = middle + 1;                                                                  \
            else                                                                                   \
                high = middle;                                                                     \
        }                                                                                          \
        return low;                                                                                \
    }

BISECT_LESS(bisect_less, uint32_t)
BISECT_LESS(bisect_less_64, uint64_t)
BISECT_LESS(bisect_less_signed, int64_t)

#undef BISECT_LESS

/* The number of items whose field is at most `wanted`. */
static inline size_t bisect_until(const uint32_t *field, size_t size, size_t count, uint32_t wanted)
{
    return wanted == UINT32_MAX ? count : bisect_less(field, size, count, wanted + 1);
}

/* The index of the last item whose field is at most `wanted`, or 0 if there is none. */
static inline size_t bisect_last(const uint32_t *field, size_t size, size_t count, uint32_t wanted)
{
    size_t until = bisect_until(field, size, count, wanted);
    return until - (until > 0);
}

/* Compares two numbers, for qsort() and bsearch() in ascending order. */
#define COMPARE(name, type)                                                                        \
    static inline int name(const void *a, const void *b)                                           \
    {                                                                                              \
        const type *x = a, *y = b;                                                                 \
        return (*x > *y) - (*x < *y);                                                              \
    }

COMPARE(compare_32, uint32_t)
COMPARE(compare_64, uint64_t)
COMPARE(compare_signed, int64_t)

#undef COMPARE

#endif
