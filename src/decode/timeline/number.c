#include "decode/timeline/internal.h"

#define LARGEST_NUMBER (INT64_MAX / 4) /* so that sums of two do not overflow */

bool timeline_number(struct timeline_decoder *decoder, const char *what, int64_t *number)
{
    struct json_integer integer;
    uint64_t offset;
    if (!json_offset(&decoder->reader, &offset, decoder->err) ||
        !json_read_integer(&decoder->reader, what, &integer, decoder->err))
        return false;
    if (integer.magnitude > LARGEST_NUMBER)
        return error_set_at(decoder->err, STATUS_BAD_INPUT, offset,
                            "expected %s, found one out of range", what);
    *number = integer.negative ? -(int64_t)integer.magnitude : (int64_t)integer.magnitude;
    return true;
}
