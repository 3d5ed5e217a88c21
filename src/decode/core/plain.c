#include "decode/core/plain.h"

#include <string.h>

const uint8_t *bytes_skip_space(const uint8_t *p, const uint8_t *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

const uint8_t *bytes_skip_start(const uint8_t *p, const uint8_t *end)
{
    if (end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    return bytes_skip_space(p, end);
}

bool bytes_are_text(const uint8_t *p, const uint8_t *end)
{
    for (; p < end; p++)
        if (*p == 0x7f ||
            (*p < 0x20 && *p != '\t' && *p != '\n' && *p != '\r' && *p != '\f' && *p != 0x1b))
            return false;
    return true;
}
