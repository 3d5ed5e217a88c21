#include "render/core/escape.h"

#include <stdbool.h>
#include <string.h>

#include "base/ascii.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

struct range {
    uint32_t first, last;
};

/* Characters that are invisible or change how other text is displayed; sorted. */
static const struct range hidden[] = {
    {0x00AD, 0x00AD}, {0x034F, 0x034F},   {0x061C, 0x061C},   {0x115F, 0x1160},   {0x17B4, 0x17B5},
    {0x180B, 0x180F}, {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0x3164, 0x3164},
    {0xFDD0, 0xFDEF}, {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
    {0xFFFE, 0xFFFF}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

/* Combining marks of the most common scripts; sorted. */
static const struct range combining[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F}, {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE20, 0xFE2F},
};

/* East Asian wide characters and emoji; sorted. */
static const struct range wide[] = {
    {0x1100, 0x115E},   {0x2E80, 0x3029},   {0x302E, 0x303E},   {0x3041, 0x3098},
    {0x309B, 0xA4CF},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
    {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD},
};

#define IN_RANGES(ranges, code) in_ranges(ranges, sizeof(ranges) / sizeof((ranges)[0]), code)

static bool in_ranges(const struct range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count && ranges[i].first <= code; i++)
        if (code <= ranges[i].last)
            return true;
    return false;
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

static bool is_surrogate(uint32_t code)
{
    return code >= 0xD800 && code <= 0xDFFF;
}

static void escape_control(struct buffer *out, uint32_t code)
{
    if (code == '\n')
        buffer_puts(out, "\\n");
    else if (code == '\t')
        buffer_puts(out, "\\t");
    else if (code == '\r')
        buffer_puts(out, "\\r");
    else
        buffer_printf(out, code < 0x80 ? "\\x%02x" : "\\u{%x}", code);
}

void escape_text(struct buffer *out, const char *bytes, size_t size)
{
    uint32_t code;
    for (size_t at = 0, length; at < size; at += length) {
        length = utf8_decode(bytes + at, size - at, UTF8_REFUSE_SURROGATES, &code);
        if (length == 0) {
            buffer_printf(out, "\\x%02x", (unsigned)(unsigned char)bytes[at]);
            length = 1;
        } else if (is_control(code)) {
            escape_control(out, code);
        } else if (IN_RANGES(hidden, code)) {
            buffer_printf(out, "\\u{%x}", code);
        } else {
            buffer_add(out, bytes + at, length);
        }
    }
}

void escape_name(struct buffer *out, struct text name)
{
    struct text shown = text_first(name, ESCAPE_NAME_MOST);
    escape_text(out, shown.bytes, shown.size);
    if (shown.size < name.size)
        buffer_puts(out, "...");
}

void escape_folded(struct buffer *out, const char *bytes, size_t size)
{
    size_t begin = out->size;
    escape_text(out, bytes, size);
    for (size_t i = begin; !out->failed && i < out->size; i++) {
        char next = out->bytes[i + 1];
        if (out->bytes[i] == ';')
            out->bytes[i] = ':';
        else if (out->bytes[i] == ' ' && ascii_is_digit(next))
            out->bytes[i] = '_';
    }
}

void escape_markup(struct buffer *out, const char *bytes, size_t size)
{
    struct buffer shown = BUFFER_INIT;
    escape_text(&shown, bytes, size);
    for (size_t i = 0; i < shown.size; i++) {
        char c = shown.bytes[i];
        if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
            buffer_printf(out, "&#%d;", c);
        else
            buffer_putc(out, c);
    }
    out->failed = out->failed || shown.failed;
    buffer_release(&shown);
}

void escape_workflow(struct buffer *out, const char *bytes, size_t size, bool is_property)
{
    struct buffer shown = BUFFER_INIT;
    for (size_t at = 0, run; at < size; at += run) {
        for (run = 0; at + run < size && bytes[at + run] != '\r' && bytes[at + run] != '\n'; run++)
            continue;
        escape_text(&shown, bytes + at, run);
        if (run == 0)
            buffer_putc(&shown, bytes[at]);
        run += run == 0;
    }
    for (size_t i = 0; i < shown.size; i++) {
        char c = shown.bytes[i];
        if (c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ',')))
            buffer_printf(out, "%%%02X", (unsigned)c);
        else
            buffer_putc(out, c);
    }
    out->failed = out->failed || shown.failed;
    buffer_release(&shown);
}

static void escape_json_code(struct buffer *out, uint32_t code)
{
    if (code >= 0x10000) /* as a surrogate pair */
        buffer_printf(out, "\\u%04x\\u%04x", 0xD800 + ((code - 0x10000) >> 10),
                      0xDC00 + ((code - 0x10000) & 0x3FF));
    else
        buffer_printf(out, "\\u%04x", code);
}

/* Length of the leading ASCII bytes that need no escape in JSON. */
static size_t plain_json(const char *bytes, size_t size)
{
    size_t plain = 0;
    while (plain < size && bytes[plain] >= ' ' && bytes[plain] < 0x7F && bytes[plain] != '"' &&
           bytes[plain] != '\\')
        plain++;
    return plain;
}

/* For Python strings, which have no surrogate pairs. */
static void escape_python_code(struct buffer *out, uint32_t code)
{
    buffer_printf(out, code >= 0x10000 ? "\\U%08x" : "\\u%04x", code);
}

/* The escapes common to JSON and Python. `escape` writes a character that must be escaped. */
static void escape_quoted(struct buffer *out, const char *bytes, size_t size,
                          enum utf8_surrogates surrogates,
                          void (*escape)(struct buffer *out, uint32_t code))
{
    uint32_t code;
    for (size_t at = 0, length; at < size; at += length) {
        length = plain_json(bytes + at, size - at);
        if (length > 0) {
            buffer_add(out, bytes + at, length);
            continue;
        }
        length = utf8_decode(bytes + at, size - at, surrogates, &code);
        if (length == 0) {
            buffer_puts(out, REPLACEMENT);
            length = 1;
        } else if (code == '"' || code == '\\') {
            buffer_putc(out, '\\');
            buffer_putc(out, (char)code);
        } else if (is_control(code) || is_surrogate(code) || IN_RANGES(hidden, code)) {
            escape(out, code);
        } else {
            buffer_add(out, bytes + at, length);
        }
    }
}

void escape_json_piece(struct buffer *out, const char *bytes, size_t size,
                       enum utf8_surrogates surrogates)
{
    escape_quoted(out, bytes, size, surrogates, escape_json_code);
}

void escape_python(struct buffer *out, const char *bytes, size_t size)
{
    buffer_putc(out, '"');
    escape_quoted(out, bytes, size, UTF8_REFUSE_SURROGATES, escape_python_code);
    buffer_putc(out, '"');
}

void escape_json(struct buffer *out, const char *bytes, size_t size)
{
    buffer_putc(out, '"');
    escape_json_piece(out, bytes, size, UTF8_REFUSE_SURROGATES);
    buffer_putc(out, '"');
}

/* A look-alike for a character that gnuplot or an XML reader could take for more than text; NULL if
 * the character is harmless. */
static const char *plot_twin(uint32_t code)
{
    switch (code) {
    case '\'':
        return "\xe2\x80\x99"; /* U+2019 */
    case '"':
        return "\xe2\x80\x9d"; /* U+201D */
    case '`':
        return "\xe2\x80\x98"; /* U+2018 */
    case '\\':
        return "/";
    case '&':
        return "+";
    case '<':
        return "\xe2\x80\xb9"; /* U+2039 */
    case '>':
        return "\xe2\x80\xba"; /* U+203A */
    default:
        return NULL;
    }
}

static bool is_plain_word(const char *text)
{
    return *text &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_./:@%+,-=")] == '\0';
}

void escape_shell(struct buffer *out, const char *text)
{
    if (is_plain_word(text)) {
        buffer_puts(out, text);
        return;
    }
    buffer_putc(out, '\'');
    for (size_t run; *text; text += run) {
        run = strcspn(text, "'");
        escape_text(out, text, run);
        if (run == 0)
            buffer_puts(out, "'\\''");
        run += run == 0;
    }
    buffer_putc(out, '\'');
}

void escape_plot(struct buffer *out, const char *bytes, size_t size, size_t most)
{
    uint32_t code = 0;
    for (size_t at = 0, length; at < size; at += length) {
        if (most-- == 0) {
            buffer_puts(out, "\xe2\x80\xa6");
            return;
        }
        length = utf8_decode(bytes + at, size - at, UTF8_REFUSE_SURROGATES, &code);
        if (length == 0 || is_control(code) || IN_RANGES(hidden, code))
            buffer_puts(out, REPLACEMENT);
        else if (plot_twin(code))
            buffer_puts(out, plot_twin(code));
        else
            buffer_add(out, bytes + at, length);
        length = length ? length : 1;
    }
}

static size_t code_columns(uint32_t code)
{
    if (code < 0x300)
        return 1;
    return IN_RANGES(combining, code) ? 0 : IN_RANGES(wide, code) ? 2 : 1;
}

size_t text_columns(const char *bytes, size_t size)
{
    size_t columns = 0;
    uint32_t code;
    for (size_t at = 0, length; at < size; at += length) {
        length = utf8_decode(bytes + at, size - at, UTF8_REFUSE_SURROGATES, &code);
        if (length == 0)
            length = 1;
        else
            columns += code_columns(code);
    }
    return columns;
}

size_t text_head(const char *bytes, size_t size, size_t columns, size_t *used)
{
    uint32_t code;
    size_t at = 0;
    *used = 0;
    while (at < size) {
        size_t length = utf8_decode(bytes + at, size - at, UTF8_REFUSE_SURROGATES, &code);
        size_t takes = length ? code_columns(code) : 0;
        if (*used + takes > columns)
            break;
        *used += takes;
        at += length ? length : 1;
    }
    return at;
}
