#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

size_t utf8_decode(const char *bytes, size_t size, enum utf8_surrogates surrogates, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)bytes;
    if (size == 0)
        return 0;
    if (p[0] < 0x80) {
        *code = p[0];
        return 1;
    }
    size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || length > size)
        return 0;
    uint32_t value = p[0] & (0xffU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (p[i] & 0x3fU);
    }
    if (value < least[length] || value > 0x10ffff ||
        (surrogates == UTF8_REFUSE_SURROGATES && value >= 0xd800 && value <= 0xdfff))
        return 0;
    *code = value;
    return length;
}

size_t utf8_valid_prefix(const char *bytes, size_t size, enum utf8_surrogates surrogates)
{
    size_t at = 0;
    while (at < size) {
        uint64_t word;
        uint32_t code;
        if (size - at >= sizeof word) { /* text is mostly ASCII: check eight bytes at a time */
            memcpy(&word, bytes + at, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof word;
                continue;
            }
        }
        size_t length = utf8_decode(bytes + at, size - at, surrogates, &code);
        if (length == 0)
            break;
        at += length;
    }
    return at;
}

size_t utf8_put(char out[UTF8_LENGTH_MAX], uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)((0xf00U >> length & 0xf0U) | code);
    return length;
}

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

int utf8_clip(const char *text, int most)
{
    size_t size = strnlen(text, (size_t)most), cut = size;
    while (cut > 0 && size - cut < UTF8_LENGTH_MAX - 1 && continues(text[cut]))
        cut--;
    return (int)(continues(text[cut]) ? size : cut);
}
