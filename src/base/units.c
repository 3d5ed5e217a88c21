#include "base/units.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <strings.h>

#include "base/ascii.h"

__extension__ typedef unsigned __int128 uint128;

struct unit_row {
    const char *name;
    enum unit unit;
    unsigned shift; /* log2 of the unit's size in bytes */
};

static const struct unit_row UNITS[] = {
    {"GiB", UNIT_GIB, 30},
    {"MiB", UNIT_MIB, 20},
    {"KiB", UNIT_KIB, 10},
    {"B", UNIT_BYTES, 0},
};

#define UNIT_COUNT (sizeof(UNITS) / sizeof(UNITS[0]))

static uint64_t magnitude_of(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

const char *units_count(char out[UNITS_TEXT_SIZE], uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    char *to = out;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

const char *units_times(char out[UNITS_TEXT_SIZE], uint64_t count)
{
    char number[UNITS_TEXT_SIZE];
    if (count == 1)
        return "once";
    snprintf(out, UNITS_TEXT_SIZE, "%.30s times", units_count(number, count));
    return out;
}

static const struct unit_row *row_for(uint64_t magnitude, enum unit unit)
{
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        const struct unit_row *row = &UNITS[i];
        if (unit == UNIT_AUTO ? magnitude >> row->shift > 0 : row->unit == unit)
            return row;
    }
    return &UNITS[UNIT_COUNT - 1];
}

const char *units_bytes(char out[UNITS_TEXT_SIZE], int64_t bytes, enum unit unit)
{
    uint64_t magnitude = magnitude_of(bytes);
    const struct unit_row *row = row_for(magnitude, unit);
    const char *sign = bytes < 0 ? "-" : "";
    char whole[UNITS_TEXT_SIZE];
    if (row->shift == 0) {
        snprintf(out, UNITS_TEXT_SIZE, "%s%.30s B", sign, units_count(whole, magnitude));
        return out;
    }

    /* Integers, because a double cannot hold every byte count and would round twice. */
    uint64_t remainder = magnitude & ((UINT64_C(1) << row->shift) - 1);
    uint64_t hundredths = (remainder * 100 + (UINT64_C(1) << (row->shift - 1))) >> row->shift;
    uint64_t ones = (magnitude >> row->shift) + hundredths / 100;
    snprintf(out, UNITS_TEXT_SIZE, "%s%.30s.%02" PRIu64 " %s", sign, units_count(whole, ones),
             hundredths % 100, row->name);
    return out;
}

const char *units_duration(char out[UNITS_TEXT_SIZE], int64_t microseconds)
{
    uint64_t magnitude = magnitude_of(microseconds);
    char sign = microseconds < 0 ? '-' : '+';
    uint64_t tenths_of_ms = (magnitude + 50) / 100;
    if (magnitude < 1000)
        snprintf(out, UNITS_TEXT_SIZE, "%c%" PRIu64 " us", sign, magnitude);
    else if (tenths_of_ms < 10000)
        snprintf(out, UNITS_TEXT_SIZE, "%c%" PRIu64 ".%" PRIu64 " ms", sign, tenths_of_ms / 10,
                 tenths_of_ms % 10);
    else
        snprintf(out, UNITS_TEXT_SIZE, "%c%" PRIu64 ".%06" PRIu64 " s", sign, magnitude / 1000000,
                 magnitude % 1000000);
    return out;
}

bool units_parse(const char *text, enum unit *unit)
{
    static const struct {
        const char *name;
        enum unit unit;
    } names[] = {
        {"auto", UNIT_AUTO}, {"bytes", UNIT_BYTES}, {"KiB", UNIT_KIB},
        {"MiB", UNIT_MIB},   {"GiB", UNIT_GIB},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcasecmp(text, names[i].name) == 0) {
            *unit = names[i].unit;
            return true;
        }
    }
    return false;
}

/* Bytes in the unit named exactly `text`; 0 if there is no such unit. */
static uint64_t bytes_of_suffix(const char *text)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } suffixes[] = {
        {"", 1},
        {"B", 1},
        {"K", UINT64_C(1) << 10},
        {"KiB", UINT64_C(1) << 10},
        {"KB", UINT64_C(1000)},
        {"M", UINT64_C(1) << 20},
        {"MiB", UINT64_C(1) << 20},
        {"MB", UINT64_C(1000000)},
        {"G", UINT64_C(1) << 30},
        {"GiB", UINT64_C(1) << 30},
        {"GB", UINT64_C(1000000000)},
        {"T", UINT64_C(1) << 40},
        {"TiB", UINT64_C(1) << 40},
        {"TB", UINT64_C(1000000000000)},
    };
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (strcasecmp(text, suffixes[i].name) == 0)
            return suffixes[i].bytes;
    return 0;
}

bool units_parse_bytes(const char *text, uint64_t *bytes)
{
    uint64_t ones = 0, fraction = 0, scale = 1;
    if (!ascii_is_digit(*text))
        return false;
    for (; ascii_is_digit(*text); text++)
        if (__builtin_mul_overflow(ones, 10, &ones) ||
            __builtin_add_overflow(ones, (uint64_t)(*text - '0'), &ones))
            return false;

    bool has_fraction = *text == '.';
    if (has_fraction) {
        text++;
        if (!ascii_is_digit(*text))
            return false;
        for (; ascii_is_digit(*text); text++) {
            if (scale == UINT64_C(1000000000000))
                continue; /* less than a byte of the largest unit */
            fraction = fraction * 10 + (uint64_t)(*text - '0');
            scale *= 10;
        }
    }
    while (*text == ' ')
        text++;

    uint64_t unit = bytes_of_suffix(text);
    if (unit == 0 || (unit == 1 && has_fraction))
        return false;
    uint128 total = (uint128)ones * unit + (uint128)fraction * unit / scale;
    if (total > INT64_MAX)
        return false;
    *bytes = (uint64_t)total;
    return true;
}
