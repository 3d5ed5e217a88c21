#include "base/ascii.h"
#include "decode/timeline/internal.h"

#define LARGEST_NUMBER (INT64_MAX / 4) /* so that sums of two do not overflow */

/* Cuts off ".0", which torch 2.1 writes after sizes. */
static struct text without_fraction(struct text text)
{
    size_t size = text.size;
    while (size > 0 && text.bytes[size - 1] == '0')
        size--;
    if (size < text.size && size > 1 && text.bytes[size - 1] == '.')
        text.size = size - 1;
    return text;
}

bool timeline_number(struct timeline_decoder *decoder, const char *what, int64_t *number)
{
    struct json_integer integer;
    struct json_number read;
    uint64_t offset;
    uint8_t byte;
    if (!json_offset(&decoder->reader, &offset, decoder->err) ||
        !json_peek(&decoder->reader, &byte, decoder->err))
        return false;
    if (byte != '-' && (byte < '0' || byte > '9')) /* has the error text */
        return json_read_integer(&decoder->reader, what, &integer, decoder->err);
    if (!json_read_number(&decoder->reader, &read, decoder->err))
        return false;
    struct text text = without_fraction((struct text){read.bytes, read.size});
    bool is_negative = byte == '-', is_whole = true;
    text = (struct text){text.bytes + is_negative, text.size - is_negative};
    for (size_t i = 0; i < text.size; i++)
        is_whole = is_whole && ascii_is_digit(text.bytes[i]);
    if (!is_whole)
        return error_set_at(decoder->err, STATUS_BAD_INPUT, offset,
                            "expected %s, found a number that is not whole", what);
    if (!text_number(text, number) || *number > LARGEST_NUMBER)
        return error_set_at(decoder->err, STATUS_BAD_INPUT, offset,
                            "expected %s, found one out of range", what);
    if (is_negative)
        *number = -*number;
    return true;
}
