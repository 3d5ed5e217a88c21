/* Reads single values of a Chrome trace. */
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "decode/profiler/chrome.h"

#define LARGEST_TIME_US (INT64_MAX / 1000 / 4) /* so that sums of two times do not overflow */
#define NAME_MOST       ((size_t)4096)         /* longer names are cut */

/* Reads microseconds with or without a fraction, as nanoseconds. */
bool chrome_read_time(struct chrome *chrome, int64_t *time_ns)
{
    struct json_number number;
    uint64_t offset;
    uint8_t byte;
    int64_t whole = 0, fraction = 0, unit = 100;
    if (!json_offset(&chrome->reader, &offset, chrome->err) ||
        !json_peek(&chrome->reader, &byte, chrome->err))
        return false;
    if (byte != '-' && (byte < '0' || byte > '9'))
        return json_unexpected(&chrome->reader, "a time in microseconds", chrome->err);
    if (!json_read_number(&chrome->reader, &number, chrome->err))
        return false;
    const char *p = number.bytes, *end = number.bytes + number.size;
    bool negative = *p == '-';
    for (p += negative; p < end && ascii_is_digit(*p) && whole <= LARGEST_TIME_US; p++)
        whole = whole * 10 + (*p - '0');
    if (p < end && *p == '.')
        for (p++; p < end && ascii_is_digit(*p); p++, unit /= 10)
            fraction += unit * (*p - '0');
    if (p < end && (*p == 'e' || *p == 'E')) {
        char digits[JSON_MAX_NUMBER + 1];
        memcpy(digits, number.bytes, number.size);
        digits[number.size] = '\0';
        double real = strtod(digits, NULL);
        whole = real > -1e15 && real < 1e16 ? (int64_t)(real < 0 ? -real : real) : INT64_MAX;
        fraction = 0;
    }
    if (whole > LARGEST_TIME_US)
        return error_set_at(chrome->err, STATUS_BAD_INPUT, offset,
                            "expected a time in microseconds, found one out of range");
    *time_ns = whole * 1000 + fraction;
    if (negative)
        *time_ns = -*time_ns;
    return true;
}

/* A process or thread: a number or a string. */
bool chrome_read_thread_name(struct chrome *chrome, struct thread_name *name)
{
    struct json_number number;
    struct text text;
    uint8_t byte;
    if (!json_peek(&chrome->reader, &byte, chrome->err))
        return false;
    if (byte == '"') {
        if (!json_read_string(&chrome->reader, "a thread", &text, chrome->err))
            return false;
    } else if (byte == '-' || ascii_is_digit(byte)) {
        if (!json_read_number(&chrome->reader, &number, chrome->err))
            return false;
        text = (struct text){number.bytes, number.size};
    } else {
        return json_skip(&chrome->reader, chrome->err);
    }
    name->size = text.size < THREAD_KEY_HALF ? text.size : THREAD_KEY_HALF;
    memcpy(name->bytes, text.bytes, name->size);
    return true;
}

bool chrome_hold(struct chrome *chrome, struct buffer *buffer, struct text text)
{
    buffer_clear(buffer);
    text = text_first(text, NAME_MOST);
    buffer_add(buffer, text.bytes, text.size);
    return !buffer->failed || error_out_of_memory(chrome->err);
}
