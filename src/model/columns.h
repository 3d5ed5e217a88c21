/* Columns of event numbers, stored in 32 bits where they fit, which is nearly always.
 *
 * Sizes below 4 GiB are stored unchanged. Times and addresses are relative to a base per block of
 * COLUMN_BLOCK events; addresses are in units of COLUMN_ADDRESS_UNIT, since PyTorch's allocator
 * returns only multiples of it. A value that does not fit is stored as COLUMN_WIDE and kept in a
 * list sorted by event. Extras (model/loader_state.h) come in long runs. Only the loader writes
 * columns.
 */
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
    uint32_t *low; /* one for each event */
    struct wide_value *wide;
    size_t wide_count;
};

struct based_column {
    uint32_t *low;
    uint64_t *base; /* one for each block; added modulo 2^64 */
    struct wide_value *wide;
    size_t wide_count;
};

struct extra_run {
    uint32_t first; /* the run's first item; it ends where the next run begins */
    uint32_t extra;
};

struct extra_column {
    struct extra_run *runs; /* the first begins at item 0 */
    size_t count;
};

/* The base of a block whose first value is `first`: lower, since later values may lie before it. */
static inline uint64_t column_time_base(uint64_t first)
{
    return first - COLUMN_WIDE / 2;
}

static inline uint64_t column_address_base(uint64_t first)
{
    return (first & ~(COLUMN_ADDRESS_UNIT - 1)) -
           ((uint64_t)(COLUMN_WIDE / 2) << COLUMN_ADDRESS_BITS);
}

/* The stored form of an address. COLUMN_WIDE or more means that it does not fit. The offset is
 * rotated, so that an odd address gives a large number, too. */
static inline uint64_t column_address_low(uint64_t address, uint64_t base)
{
    uint64_t offset = address - base;
    return offset >> COLUMN_ADDRESS_BITS | offset << (64 - COLUMN_ADDRESS_BITS);
}

/* The value of an item in the list of wide values, which must contain it. */
uint64_t wide_value_of(const struct wide_value *wide, size_t count, size_t item);
/* The extra of the run that contains the item. */
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
