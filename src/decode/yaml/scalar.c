#include "decode/yaml/scalar.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_MOST 400 /* characters: more than any number of 64 bits or any float has */

static bool is_one_of(struct text text, const char *const *words)
{
    for (; *words; words++)
        if (text_equals(text, *words))
            return true;
    return false;
}

static bool is_constant(struct text text, value *v)
{
    static const char *const nones[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", "yes", "Yes",
                                        "YES",  "on",   "On",   "ON",  NULL};
    static const char *const falses[] = {"false", "False", "FALSE", "no",  "No",
                                         "NO",    "off",   "Off",   "OFF", NULL};
    if (is_one_of(text, nones))
        *v = VALUE_NONE;
    else if (is_one_of(text, trues))
        *v = VALUE_TRUE;
    else if (is_one_of(text, falses))
        *v = VALUE_FALSE;
    else
        return false;
    return true;
}

/* A decimal integer, as its magnitude. A leading 0 would make it octal, so that is no match. */
static bool is_integer(struct text text, bool *negative, uint64_t *magnitude)
{
    const char *at = text.bytes, *end = at + text.size;
    *negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+') ? 1 : 0;
    if (at == end || (*at == '0' && end - at > 1))
        return false;
    uint64_t sum = 0;
    for (; at < end; at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (digit > 9 || __builtin_mul_overflow(sum, 10u, &sum) ||
            __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *magnitude = sum;
    return true;
}

static bool is_float(struct text text, double *real)
{
    char digits[NUMBER_MOST + 1], *end;
    if (text.size == 0 || text.size > NUMBER_MOST || !memchr(text.bytes, '.', text.size) ||
        strspn(text.bytes, "+-.0123456789eE") < text.size)
        return false;
    memcpy(digits, text.bytes, text.size);
    digits[text.size] = '\0';
    *real = strtod(digits, &end);
    return *end == '\0' && end > digits;
}

static bool new_natural(struct values *values, uint64_t natural, uint64_t line, value *v,
                        struct error *err)
{
    if (natural <= INT64_MAX)
        return value_new_int(values, (int64_t)natural, line, v, err);
    if (!value_new_node(values, NODE_UNSIGNED, line, v, err))
        return false;
    value_node(values, *v)->as.natural = natural;
    return true;
}

bool yaml_string(struct values *values, struct text text, uint64_t line, value *v,
                 struct error *err)
{
    string_id id;
    if (!symbols_string(values->symbols, text.bytes, text.size, &id, err))
        return false;
    if (id > VALUE_PAYLOAD_MAX)
        return error_set(err, STATUS_LIMIT, "line %llu: more than %u different texts",
                         (unsigned long long)line, VALUE_PAYLOAD_MAX);
    *v = value_make(TAG_STRING, id);
    return true;
}

bool yaml_plain_scalar(struct values *values, struct text text, uint64_t line, value *v,
                       struct error *err)
{
    bool negative;
    uint64_t magnitude;
    double real;
    if (is_constant(text, v))
        return true;
    if (is_integer(text, &negative, &magnitude)) {
        if (!negative)
            return new_natural(values, magnitude, line, v, err);
        if (magnitude <= INT64_MAX)
            return value_new_int(values, -(int64_t)magnitude, line, v, err);
    }
    if (is_float(text, &real)) {
        if (!value_new_node(values, NODE_FLOAT, line, v, err))
            return false;
        value_node(values, *v)->as.real = real;
        return true;
    }
    return yaml_string(values, text, line, v, err);
}
