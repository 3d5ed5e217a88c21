#include "decode/utf8.h"

#include <string.h>

/* Bytes of the character that starts at `p`, 0 if it is not one. */
static size_t character(const uint8_t *p, size_t left, enum utf8_surrogates surrogates)
{
    uint8_t first = p[0];
    if (first < 0x80)
        return 1;
    size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < size)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((first == 0xe0 && p[1] < 0xa0) || (first == 0xf0 && p[1] < 0x90) ||
        (first == 0xf4 && p[1] > 0x8f)) /* overlong, or above U+10FFFF */
        return 0;
    if (first == 0xed && p[1] > 0x9f && surrogates == UTF8_REFUSE_SURROGATES)
        return 0;
    return size;
}

size_t utf8_valid_prefix(const uint8_t *bytes, size_t size, enum utf8_surrogates surrogates)
{
    size_t at = 0;
    while (at < size) {
        uint64_t word;
        if (size - at >= sizeof word) { /* text is mostly ASCII: eight at a time */
            memcpy(&word, bytes + at, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof word;
                continue;
            }
        }
        size_t step = character(bytes + at, size - at, surrogates);
        if (step == 0)
            break;
        at += step;
    }
    return at;
}
