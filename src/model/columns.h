/* Numbers of events kept in 32 bits where they fit, which is nearly always.
 *
 * Sizes below 4 GiB stand as they are. Times and addresses are relative to a base that every
 * block of COLUMN_BLOCK events has; addresses count in units of COLUMN_ADDRESS_UNIT, which
 * all that PyTorch's allocator hands out are multiples of. What does not fit is
 * COLUMN_WIDE, and stands in a list sorted by event. Extras (model/extras.h) come in
 * long runs. Written by the loader only. */
#ifndef MEMSNAP_MODEL_COLUMNS_H
#define MEMSNAP_MODEL_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#define COLUMN_WIDE  UINT32_MAX
#define COLUMN_BLOCK 4096

#define COLUMN_ADDRESS_BITS 9
#define COLUMN_ADDRESS_UNIT (UINT64_C(1) << COLUMN_ADDRESS_BITS) /* kMinBlockSize */

struct wide_value {
    uint64_t value;
    uint32_t item;
};

struct size_column {
    uint32_t *low; /* as many as events */
    struct wide_value *wide;
    size_t wide_count;
};

struct based_column {
    uint32_t *low;
    uint64_t *base; /* one a block; added modulo 2^64 */
    struct wide_value *wide;
    size_t wide_count;
};

struct extra_run {
    uint32_t first; /* item: up to the next run's */
    uint32_t extra;
};

struct extra_column {
    struct extra_run *runs; /* the first begins at item 0 */
    size_t count;
};

/* Where the numbers of a block whose first one is `first` are counted from: some may lie before
 * it. */
static inline uint64_t column_time_base(uint64_t first)
{
    return first - COLUMN_WIDE / 2;
}

static inline uint64_t column_address_base(uint64_t first)
{
    return (first & ~(COLUMN_ADDRESS_UNIT - 1)) -
           ((uint64_t)(COLUMN_WIDE / 2) << COLUMN_ADDRESS_BITS);
}

/* What to store for an address: COLUMN_WIDE or more where it does not fit. Rotated, so that an odd
 * address is a large number as well. */
static inline uint64_t column_address_low(uint64_t address, uint64_t base)
{
    uint64_t offset = address - base;
    return offset >> COLUMN_ADDRESS_BITS | offset << (64 - COLUMN_ADDRESS_BITS);
}

/* The value of an item that is in the list. */
uint64_t wide_value_of(const struct wide_value *wide, size_t count, size_t item);
/* What the run that holds an item has. */
uint32_t column_extra(const struct extra_column *column, size_t item);

static inline uint64_t column_size(const struct size_column *column, size_t item)
{
    uint32_t low = column->low[item];
    return low != COLUMN_WIDE ? low : wide_value_of(column->wide, column->wide_count, item);
}

static inline int64_t column_time(const struct based_column *column, size_t item)
{
    uint32_t low = column->low[item];
    return (int64_t)(low != COLUMN_WIDE ? column->base[item / COLUMN_BLOCK] + low
                                        : wide_value_of(column->wide, column->wide_count, item));
}

static inline uint64_t column_address(const struct based_column *column, size_t item)
{
    uint32_t low = column->low[item];
    return low != COLUMN_WIDE
               ? column->base[item / COLUMN_BLOCK] + ((uint64_t)low << COLUMN_ADDRESS_BITS)
               : wide_value_of(column->wide, column->wide_count, item);
}

#endif
