/* How ranges are encoded as bytes. Internal to ranges.c and cursor.c.
 *
 * A range is three or four numbers: twice the index of its label, plus 1 if it has a sequence
 * number; its start, as the difference to that of the range before; its duration; and its sequence
 * number, if it has one, as the difference to the last one. A number takes 7 bits a byte, the
 * lowest first, as in LEB128. A difference is doubled before that; a negative one becomes odd
 * (zigzag). */
#ifndef MEMSNAP_DECODE_PROFILER_RANGE_BYTES_H
#define MEMSNAP_DECODE_PROFILER_RANGE_BYTES_H

#include "decode/profiler/ranges.h"

#define RANGE_BYTES_MOST ((size_t)27) /* 5 + 10 + 7 + 5 */

static inline uint8_t *put_number(uint8_t *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *to++ = (uint8_t)(number | 0x80);
    *to++ = (uint8_t)number;
    return to;
}

static inline uint64_t take_number(const uint8_t **at)
{
    uint64_t number = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = *(*at)++;
        number |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return number;
}

static inline uint8_t *put_difference(uint8_t *to, uint64_t number, uint64_t before)
{
    uint64_t difference = number - before;
    return put_number(to, difference << 1 ^ (0 - (difference >> 63)));
}

static inline uint64_t take_difference(const uint8_t **at)
{
    uint64_t number = take_number(at);
    return number >> 1 ^ (0 - (number & 1));
}

/* cursor.c: reads a run. `head` is not set before the first call of range_stream_next(). */
struct range_stream range_stream_begin(const struct range_run *run);
/* Reads the next range into `head`, and returns the index of its label. There must be one. */
uint32_t range_stream_next(struct range_stream *stream, const struct range_label *labels);

#endif
