#include "render/dump/leaf.h"

#include <inttypes.h>

#define DIGITS_MAX 4300
#define GROUP      9          /* decimal digits taken off at a time */
#define GROUP_BASE 1000000000 /* 10^GROUP */

/* Number of words that hold any number of DIGITS_MAX digits: 10 digits take less than 34 bits. */
#define WORDS ((DIGITS_MAX / 10 * 34) / 32 + 1)

void emit_base64(struct json_writer *json, const char *key, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    json_string_begin(json, key);
    for (size_t at = 0; at < size; at += 3) {
        size_t left = size - at;
        uint32_t group = (uint32_t)bytes[at] << 16;
        if (left > 1)
            group |= (uint32_t)bytes[at + 1] << 8;
        if (left > 2)
            group |= bytes[at + 2];
        fputc_unlocked(digits[group >> 18], json->out);
        fputc_unlocked(digits[group >> 12 & 63], json->out);
        fputc_unlocked(left > 1 ? digits[group >> 6 & 63] : '=', json->out);
        fputc_unlocked(left > 2 ? digits[group & 63] : '=', json->out);
    }
    json_string_end(json);
}

/* The bytes of the absolute value of an integer: its own bytes, or their two's complement. */
struct magnitude {
    const uint8_t *bytes;
    size_t size;
    bool negative;
    size_t zeros; /* lowest bytes that are 0 */
};

static uint8_t magnitude_byte(const struct magnitude *magnitude, size_t i)
{
    uint8_t byte = magnitude->bytes[i];
    if (!magnitude->negative || i < magnitude->zeros)
        return byte;
    return (uint8_t)(i == magnitude->zeros ? -byte : ~byte);
}

static struct magnitude magnitude_of(const uint8_t *bytes, size_t size)
{
    struct magnitude magnitude = {
        .bytes = bytes, .size = size, .negative = size > 0 && bytes[size - 1] >= 0x80};
    while (magnitude.zeros < size && bytes[magnitude.zeros] == 0)
        magnitude.zeros++;
    while (magnitude.size > 0 && magnitude_byte(&magnitude, magnitude.size - 1) == 0)
        magnitude.size--;
    return magnitude;
}

/* Divides by GROUP_BASE; returns the remainder. */
static uint32_t take_group(uint32_t *words, size_t *count)
{
    uint64_t rest = 0;
    for (size_t i = *count; i-- > 0;) {
        rest = rest << 32 | words[i];
        words[i] = (uint32_t)(rest / GROUP_BASE);
        rest %= GROUP_BASE;
    }
    while (*count > 0 && words[*count - 1] == 0)
        (*count)--;
    return (uint32_t)rest;
}

/* Returns false, with nothing written, if there are more than DIGITS_MAX digits. */
static bool put_decimal(FILE *out, const struct magnitude *magnitude)
{
    uint32_t words[WORDS] = {0}, groups[DIGITS_MAX / GROUP + 2];
    char first[GROUP + 2];
    size_t word_count = (magnitude->size + 3) / 4, group_count = 0;
    if (word_count > WORDS)
        return false;
    for (size_t i = 0; i < magnitude->size; i++)
        words[i / 4] |= (uint32_t)magnitude_byte(magnitude, i) << i % 4 * 8;
    while (word_count > 0) {
        if (group_count == sizeof(groups) / sizeof(groups[0]))
            return false;
        groups[group_count++] = take_group(words, &word_count);
    }
    int digits =
        snprintf(first, sizeof(first), "%" PRIu32, group_count ? groups[--group_count] : 0);
    if ((size_t)digits + group_count * GROUP > DIGITS_MAX)
        return false;
    fprintf(out, "%s%s", magnitude->negative ? "-" : "", first);
    while (group_count > 0)
        fprintf(out, "%09" PRIu32, groups[--group_count]);
    return true;
}

void emit_big_integer(struct json_writer *json, const char *key, const uint8_t *bytes, size_t size)
{
    struct magnitude magnitude = magnitude_of(bytes, size);
    json_string_begin(json, key);
    if (!put_decimal(json->out, &magnitude)) {
        fputs(magnitude.negative ? "-0x" : "0x", json->out);
        for (size_t i = magnitude.size; i-- > 0;)
            fprintf(json->out, i + 1 == magnitude.size ? "%x" : "%02x",
                    magnitude_byte(&magnitude, i));
    }
    json_string_end(json);
}
