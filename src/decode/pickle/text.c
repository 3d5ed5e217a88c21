/* Opcodes of protocol 0, whose operands are lines of text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "decode/pickle/vm.h"

#define LINE_FIRST_LOOK 256

/* Python also rejects decimal integers of more digits (sys.int_info.default_max_str_digits); the
 * conversion takes quadratic time. */
#define DIGITS_MAX 4300

bool pickle_line(struct pickle_vm *vm, const uint8_t **line, size_t *size)
{
    struct source *source = vm->source;
    size_t want = LINE_FIRST_LOOK;
    size_t seen = 0;
    for (;;) {
        source_look_ahead(source, want);
        size_t available = (size_t)(source->end - source->pos);
        const uint8_t *newline = memchr(source->pos + seen, '\n', available - seen);
        if (newline != NULL) {
            *line = source->pos;
            *size = (size_t)(newline - source->pos);
            source->pos = newline + 1;
            return true;
        }
        if (available < want) {
            if (!source_fill(source, want, vm->err))
                return false;
            return error_set_at(vm->err, STATUS_BAD_INPUT, source_offset(source) + available,
                                "truncated pickle: expected the end of a line");
        }
        seen = available;
        want = available * 2;
    }
}

/* magnitude = magnitude * factor + add, in little-endian bytes. */
static void multiply_add(uint8_t *magnitude, size_t *size, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;
    for (size_t i = 0; i < *size; i++) {
        carry += (uint64_t)magnitude[i] * factor;
        magnitude[i] = (uint8_t)carry;
        carry >>= 8;
    }
    for (; carry != 0; carry >>= 8)
        magnitude[(*size)++] = (uint8_t)carry;
}

/* Converts decimal text of any length to the bytes that LONG1 would have. */
static bool decimal(struct pickle_vm *vm, const uint8_t *text, size_t size, value *v)
{
    bool negative = size > 0 && text[0] == '-';
    size_t at = size > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    if (at == size)
        return pickle_fail(vm, "expected an integer");
    if (text[at] == '0' &&
        size - at > 1) /* octal for the C unpickler, invalid for the Python one */
        return pickle_fail(vm, "an integer with a leading zero");
    if (size - at > DIGITS_MAX)
        return pickle_fail(vm, "an integer of more than %d digits", DIGITS_MAX);
    uint8_t bytes[DIGITS_MAX / 2 + 2]; /* 10 bits take at least 3 digits */
    size_t used = 0;
    for (; at < size; at++) {
        if (text[at] < '0' || text[at] > '9')
            return pickle_fail(vm, "expected decimal digits in an integer");
        multiply_add(bytes, &used, 10, (uint32_t)(text[at] - '0'));
    }
    bytes[used++] = 0; /* sign */
    if (negative) {
        unsigned carry = 1;
        for (size_t i = 0; i < used; i++) {
            carry += (uint8_t)~bytes[i];
            bytes[i] = (uint8_t)carry;
            carry >>= 8;
        }
    }
    return value_new_long(&vm->values, bytes, used, vm->rows.offset, v, vm->err);
}

static bool int_op(struct pickle_vm *vm, bool is_long)
{
    const uint8_t *line;
    size_t size;
    value v;
    if (!pickle_line(vm, &line, &size))
        return false;
    if (!is_long && size == 2 && line[0] == '0' && (line[1] == '0' || line[1] == '1'))
        return pickle_push(vm, line[1] == '1' ? VALUE_TRUE : VALUE_FALSE);
    if (is_long && size > 0 && line[size - 1] == 'L')
        size--;
    return decimal(vm, line, size, &v) && pickle_push(vm, v);
}

static bool float_line(struct pickle_vm *vm)
{
    const uint8_t *line;
    size_t size;
    char text[64];
    if (!pickle_line(vm, &line, &size))
        return false;
    if (size == 0 || size >= sizeof text)
        return pickle_fail(vm, "expected a float");
    memcpy(text, line, size);
    text[size] = '\0';
    char *end;
    double real = strtod(text, &end);
    value v;
    /* strtod() accepts more than Python: white space, hexadecimal digits, nan(...) */
    if (end != text + size || text[strcspn(text, "xX( \t\v\f\r")] != '\0')
        return pickle_fail(vm, "expected a float");
    if (!value_new_node(&vm->values, NODE_FLOAT, vm->rows.offset, &v, vm->err))
        return false;
    value_node(&vm->values, v)->as.real = real;
    return pickle_push(vm, v);
}

static int hex_digit(uint8_t c)
{
    return ascii_is_digit(c)      ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Reads `digits` hexadecimal digits at `p`; -1 if invalid. */
static int64_t hex(const uint8_t *p, size_t left, size_t digits)
{
    if (left < digits)
        return -1;
    int64_t code = 0;
    for (size_t i = 0; i < digits; i++) {
        if (hex_digit(p[i]) < 0)
            return -1;
        code = code * 16 + hex_digit(p[i]);
    }
    return code;
}

/* UNICODE: Latin-1 with \uXXXX and \UXXXXXXXX, and no other escapes. `out` holds 2 * size bytes. */
static bool raw_unicode(struct pickle_vm *vm, const uint8_t *line, size_t size, uint8_t *out,
                        size_t *used)
{
    *used = 0;
    for (size_t at = 0; at < size;) {
        bool small = at + 1 < size && line[at] == '\\' && line[at + 1] == 'u';
        bool large = at + 1 < size && line[at] == '\\' && line[at + 1] == 'U';
        if (!small && !large) {
            /* a second backslash does not start an escape */
            if (line[at] == '\\' && at + 1 < size && line[at + 1] == '\\')
                *used += utf8_put((char *)out + *used, line[at++]);
            *used += utf8_put((char *)out + *used, line[at++]);
            continue;
        }
        size_t digits = small ? 4 : 8;
        int64_t code = hex(line + at + 2, size - at - 2, digits);
        if (code < 0 || code > 0x10ffff)
            return pickle_fail(vm, "expected %zu hexadecimal digits after \\%c", digits,
                               line[at + 1]);
        *used += utf8_put((char *)out + *used, (uint32_t)code);
        at += 2 + digits;
    }
    return true;
}

/* Decodes the escapes of a Python 2 string literal. Returns false if one is malformed. */
static bool unescape(const uint8_t *in, size_t size, uint8_t *out, size_t *used)
{
    static const char plain[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";
    *used = 0;
    for (size_t at = 0; at < size; at++) {
        if (in[at] != '\\') {
            out[(*used)++] = in[at];
            continue;
        }
        if (++at == size)
            return false;
        const char *found = NULL;
        for (size_t i = 0; i + 1 < sizeof plain && found == NULL; i += 2)
            if ((uint8_t)plain[i] == in[at])
                found = &plain[i];
        if (found != NULL) {
            out[(*used)++] = (uint8_t)found[1];
        } else if (in[at] == 'x') {
            int64_t code = hex(in + at + 1, size - at - 1, 2);
            if (code < 0)
                return false;
            out[(*used)++] = (uint8_t)code;
            at += 2;
        } else if (in[at] >= '0' && in[at] <= '7') {
            unsigned code = 0;
            for (size_t n = 0; n < 3 && at < size && in[at] >= '0' && in[at] <= '7'; n++)
                code = code * 8 + (unsigned)(in[at++] - '0');
            at--;
            out[(*used)++] = (uint8_t)code;
        } else { /* no escape: keep both characters */
            out[(*used)++] = '\\';
            out[(*used)++] = in[at];
        }
    }
    return true;
}

static bool string_line(struct pickle_vm *vm, uint8_t op)
{
    const uint8_t *line;
    size_t size, used = 0;
    value v;
    if (!pickle_line(vm, &line, &size))
        return false;
    uint8_t *out = arena_alloc(&vm->values.arena, size * 2 + 1, vm->err);
    if (out == NULL)
        return false;
    if (op == 'V') {
        if (!raw_unicode(vm, line, size, out, &used))
            return false;
    } else {
        if (size < 2 || line[0] != line[size - 1] || (line[0] != '\'' && line[0] != '"'))
            return pickle_fail(vm, "expected a quoted string");
        if (!unescape(line + 1, size - 2, out, &used))
            return pickle_fail(vm, "malformed escape in a string");
        return pickle_old_string(vm, out, used, &v) && pickle_push(vm, v);
    }
    return pickle_string(vm, out, used, &v) && pickle_push(vm, v);
}

/* Reads a line that Python decodes as ASCII or strict UTF-8. */
static bool text_line(struct pickle_vm *vm, bool ascii, value *v)
{
    const uint8_t *line;
    size_t size;
    if (!pickle_line(vm, &line, &size))
        return false;
    for (size_t i = 0; ascii && i < size; i++)
        if (line[i] >= 0x80)
            return pickle_fail(vm, "expected a line in ASCII");
    if (utf8_valid_prefix((const char *)line, size, UTF8_REFUSE_SURROGATES) != size)
        return pickle_fail(vm, "invalid UTF-8 in a line");
    return pickle_string(vm, line, size, v);
}

static bool persistent_op(struct pickle_vm *vm)
{
    value id, v;
    return text_line(vm, true, &id) &&
           value_new_items(&vm->values, NODE_PERSISTENT, &id, 1, vm->rows.offset, &v, vm->err) &&
           pickle_push(vm, v);
}

/* GLOBAL: a line each for module and name; INST: also creates an instance from the values above the
 * MARK. */
static bool global_op(struct pickle_vm *vm, bool ascii)
{
    value parts[2], v;
    return text_line(vm, ascii, &parts[0]) && text_line(vm, ascii, &parts[1]) &&
           value_new_items(&vm->values, NODE_GLOBAL, parts, 2, vm->rows.offset, &v, vm->err) &&
           pickle_push(vm, v);
}

bool pickle_text_op(struct pickle_vm *vm, uint8_t op)
{
    switch (op) {
    case 'I': /* INT */
        return int_op(vm, false);
    case 'L': /* LONG */
        return int_op(vm, true);
    case 'F': /* FLOAT */
        return float_line(vm);
    case 'P': /* PERSID */
        return persistent_op(vm);
    case 'c': /* GLOBAL */
        return global_op(vm, false);
    case 'i': /* INST */
        return global_op(vm, true);
    default: /* STRING, UNICODE */
        return string_line(vm, op);
    }
}
