/* Numbers of events kept in 32 bits where they fit, which is nearly always.
 *
 * Sizes below 4 GiB stand as they are; times relative to the time at which their block of
 * COLUMN_BLOCK events begins. What does not fit is COLUMN_WIDE, and stands in a list
 * sorted by event. Extras (model/extras.h) come in long runs. Written by the loader only. */
#ifndef MEMSNAP_MODEL_COLUMNS_H
#define MEMSNAP_MODEL_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#define COLUMN_WIDE  UINT32_MAX
#define COLUMN_BLOCK 4096

struct wide_value {
    uint64_t value;
    uint32_t item;
};

struct size_column {
    uint32_t *low; /* as many as events */
    struct wide_value *wide;
    size_t wide_count;
};

struct time_column {
    uint32_t *low;
    uint64_t *base; /* one a block; added to `low` modulo 2^64 */
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

/* The value of an item that is in the list. */
uint64_t wide_value_of(const struct wide_value *wide, size_t count, size_t item);
/* What the run that holds an item has. */
uint32_t column_extra(const struct extra_column *column, size_t item);

static inline uint64_t column_size(const struct size_column *column, size_t item)
{
    uint32_t low = column->low[item];
    return low != COLUMN_WIDE ? low : wide_value_of(column->wide, column->wide_count, item);
}

static inline int64_t column_time(const struct time_column *column, size_t item)
{
    uint32_t low = column->low[item];
    return (int64_t)(low != COLUMN_WIDE ? column->base[item / COLUMN_BLOCK] + low
                                        : wide_value_of(column->wide, column->wide_count, item));
}

#endif
