#include "model/columns.h"

uint64_t wide_value_of(const struct wide_value *wide, size_t count, size_t item)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (wide[middle].item <= item)
            low = middle;
        else
            high = middle;
    }
    return wide[low].value;
}

uint32_t column_extra(const struct extra_column *column, size_t item)
{
    size_t low = 0, high = column->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (column->runs[middle].first <= item)
            low = middle;
        else
            high = middle;
    }
    return column->runs[low].extra;
}
