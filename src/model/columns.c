#include "model/columns.h"

#include "base/bisect.h"

uint64_t wide_value_of(const struct wide_value *wide, size_t count, size_t item)
{
    return wide[bisect_last(&wide->item, sizeof(*wide), count, (uint32_t)item)].value;
}

uint32_t column_extra(const struct extra_column *column, size_t item)
{
    const struct extra_run *runs = column->runs;
    return runs[bisect_last(&runs->first, sizeof(*runs), column->count, (uint32_t)item)].extra;
}
