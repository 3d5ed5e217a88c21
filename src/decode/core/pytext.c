#include "decode/core/pytext.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"

#define MAX_DIGITS 17 /* enough for any double */

/* Increments the last digit of a number in "%e" form. False if that would need another digit. */
static bool next_decimal(char *text)
{
    for (char *p = strchr(text, 'e') - 1; p >= text; p--) {
        if (*p >= '0' && *p < '9') {
            ++*p;
            return true;
        }
        if (*p == '9') /* skips the decimal point, which depends on the locale */
            *p = '0';
    }
    return false;
}

/* The shortest decimal digits that read back as `value` (finite, from 0), and the power of ten of
 * the first digit. At powers of two the doubles above lie wider apart than those below, so a
 * decimal may read back although the nearest one with the same number of digits, just below, does
 * not. */
static size_t shortest(double value, char digits[MAX_DIGITS + 1], int *exponent)
{
    char text[48];
    size_t count = 0;

    for (int precision = 0; precision < MAX_DIGITS; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, value);
        if (strtod(text, NULL) == value)
            break;
        if (precision + 1 < MAX_DIGITS && next_decimal(text) && strtod(text, NULL) == value)
            break;
    }
    /* the decimal point depends on the locale, but is never a digit */
    for (const char *p = text; *p != 'e'; p++)
        if (ascii_is_digit(*p))
            digits[count++] = *p;
    *exponent = atoi(strchr(text, 'e') + 1);
    return count;
}

static void add_zeros(struct buffer *out, int count)
{
    for (int i = 0; i < count; i++)
        buffer_putc(out, '0');
}

static void add_scientific(struct buffer *out, const char *digits, size_t count, int exponent)
{
    buffer_putc(out, digits[0]);
    if (count > 1) {
        buffer_putc(out, '.');
        buffer_add(out, digits + 1, count - 1);
    }
    buffer_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

void pytext_real(struct buffer *out, double value)
{
    char digits[MAX_DIGITS + 1];
    size_t count, whole;
    int exponent;

    if (isnan(value)) {
        buffer_puts(out, "nan");
        return;
    }
    if (signbit(value))
        buffer_putc(out, '-');
    if (isinf(value)) {
        buffer_puts(out, "inf");
        return;
    }
    count = shortest(fabs(value), digits, &exponent);
    if (exponent < -4 || exponent >= 16) {
        add_scientific(out, digits, count, exponent);
        return;
    }
    if (exponent < 0) {
        buffer_puts(out, "0.");
        add_zeros(out, -exponent - 1);
        buffer_add(out, digits, count);
        return;
    }
    whole = (size_t)exponent + 1;
    if (count <= whole) {
        buffer_add(out, digits, count);
        add_zeros(out, (int)(whole - count));
        buffer_puts(out, ".0");
    } else {
        buffer_add(out, digits, whole);
        buffer_putc(out, '.');
        buffer_add(out, digits + whole, count - whole);
    }
}

/* Adds a character that repr() escapes. Returns false if repr() keeps it unchanged. */
static bool add_escape(struct buffer *out, unsigned char c, char quote)
{
    if (c == '\n')
        buffer_puts(out, "\\n");
    else if (c == '\r')
        buffer_puts(out, "\\r");
    else if (c == '\t')
        buffer_puts(out, "\\t");
    else if (c < 0x20 || c == 0x7f)
        buffer_printf(out, "\\x%02x", c);
    else if (c == '\\' || c == (unsigned char)quote)
        buffer_printf(out, "\\%c", c);
    else
        return false;
    return true;
}

static char quote_for(const void *bytes, size_t size)
{
    bool double_quoted =
        size > 0 && memchr(bytes, '\'', size) != NULL && memchr(bytes, '"', size) == NULL;
    return double_quoted ? '"' : '\'';
}

void pytext_quoted(struct buffer *out, const char *bytes, size_t size)
{
    char quote = quote_for(bytes, size);

    buffer_putc(out, quote);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];

        /* U+0080 to U+009F, the control characters encoded in two bytes */
        if (c == 0xc2 && i + 1 < size && (unsigned char)bytes[i + 1] < 0xa0)
            buffer_printf(out, "\\x%02x", (unsigned char)bytes[++i]);
        else if (!add_escape(out, c, quote))
            buffer_putc(out, (char)c);
    }
    buffer_putc(out, quote);
}

void pytext_bytes(struct buffer *out, const uint8_t *bytes, size_t size)
{
    char quote = quote_for(bytes, size);

    buffer_putc(out, 'b');
    buffer_putc(out, quote);
    for (size_t i = 0; i < size; i++)
        if (bytes[i] >= 0x80)
            buffer_printf(out, "\\x%02x", bytes[i]);
        else if (!add_escape(out, bytes[i], quote))
            buffer_putc(out, (char)bytes[i]);
    buffer_putc(out, quote);
}

/* Divides the number by 10^9. Returns the remainder. */
static uint32_t take_digits(uint32_t *words, size_t count)
{
    uint64_t rest = 0;
    for (size_t i = count; i-- > 0;) {
        rest = rest << 32 | words[i];
        words[i] = (uint32_t)(rest / 1000000000);
        rest %= 1000000000;
    }
    return (uint32_t)rest;
}

bool pytext_int(struct buffer *out, const uint8_t *bytes, size_t size)
{
    enum { WORDS = PYTEXT_INT_BYTES / 4, PARTS = PYTEXT_INT_BYTES * 8 / 29 + 1 };
    uint32_t words[WORDS] = {0}, parts[PARTS], carry;
    size_t count = 0;
    if (size > PYTEXT_INT_BYTES)
        return false;
    bool is_negative = size > 0 && bytes[size - 1] >= 0x80;
    carry = is_negative;
    for (size_t i = 0; i < size; i++) { /* the magnitude: the complement plus 1 if below 0 */
        uint32_t byte = (is_negative ? (uint8_t)~bytes[i] : bytes[i]) + carry;
        carry = byte >> 8;
        words[i / 4] |= (byte & 0xff) << 8 * (i % 4);
    }
    for (bool any = true; any; count++) {
        parts[count] = take_digits(words, WORDS);
        any = false;
        for (size_t i = 0; i < WORDS; i++)
            any = any || words[i] > 0;
    }
    buffer_printf(out, "%s%" PRIu32, is_negative ? "-" : "", parts[count - 1]);
    for (size_t i = count - 1; i-- > 0;)
        buffer_printf(out, "%09" PRIu32, parts[i]);
    return true;
}

bool pytext_clip(struct buffer *out)
{
    if (out->size <= PYTEXT_CLIP_BYTES)
        return false;
    out->size = utf8_valid_prefix(out->bytes, PYTEXT_CLIP_BYTES, UTF8_ALLOW_SURROGATES);
    out->bytes[out->size] = '\0';
    return true;
}
