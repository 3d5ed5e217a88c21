#include "decode/core/fields.h"

#include <string.h>

#include "decode/core/rows.h"

#define MAX_DURATION (INT64_C(1) << 53) /* a double represents all of these to the microsecond */

unsigned field_find(const struct field *fields, unsigned count, struct text name)
{
    for (unsigned i = 0; i < count; i++)
        if (field_has_name(&fields[i], name))
            return i;
    return count;
}

bool field_expected(const struct field *field, const char *found, uint64_t offset,
                    struct error *err)
{
    return error_set_at(err, STATUS_BAD_INPUT, offset, "expected %s, found %s", field->expected,
                        found);
}

/* The largest magnitude of a positive and of a negative number of that kind. */
static void range_of(enum field_kind kind, uint64_t *most, uint64_t *most_negative)
{
    *most = kind == FIELD_NATURAL || kind == FIELD_HANDLE || kind == FIELD_ADDRESS ? UINT64_MAX
            : kind == FIELD_DEVICE                                                 ? INT32_MAX
                                                                                   : INT64_MAX;
    *most_negative = kind == FIELD_HANDLE || kind == FIELD_TIME || kind == FIELD_ADDRESS
                         ? (uint64_t)INT64_MAX + 1
                     : kind == FIELD_CHANGE ? INT64_MAX
                     : kind == FIELD_DEVICE ? 1
                                            : 0;
}

bool field_set_integer(const struct field *field, void *row, bool negative, uint64_t magnitude,
                       uint64_t offset, struct error *err)
{
    uint64_t most, most_negative;
    int64_t integer = (int64_t)(negative ? 0 - magnitude : magnitude);
    range_of(field->kind, &most, &most_negative);
    if (negative && most_negative == 0)
        return field_expected(field, "a negative number", offset, err);
    if (magnitude > (negative ? most_negative : most))
        return field_expected(field,
                              most_negative == 1   ? "a number beyond 31 bits"
                              : most == UINT64_MAX ? "a number beyond 64 bits"
                              : most == INT32_MAX  ? "a number beyond 31 bits"
                                                   : "a number beyond 63 bits",
                              offset, err);
    if (field->kind == FIELD_DURATION)
        return field_set_real(field, row, (double)magnitude, offset, err);
    if (field->kind == FIELD_DEVICE)
        *(uint32_t *)field_at(field, row) = negative ? DEVICE_HOST : (uint32_t)magnitude;
    else if (field->kind == FIELD_NATURAL)
        *(uint64_t *)field_at(field, row) = magnitude;
    else
        *(int64_t *)field_at(field, row) = integer;
    return true;
}

bool field_set_real(const struct field *field, void *row, double real, uint64_t offset,
                    struct error *err)
{
    if (!(real >= 0)) /* also rejects NaN */
        return field_expected(field, real < 0 ? "a negative number" : "no number", offset, err);
    if (real > (double)MAX_DURATION)
        return field_expected(field, "more than 2^53", offset, err);
    *(double *)field_at(field, row) = real;
    return true;
}

void field_reset(const struct field *field, void *row)
{
    static const size_t sizes[] = {
        [FIELD_NATURAL] = sizeof(uint64_t),       [FIELD_ADDRESS] = sizeof(uint64_t),
        [FIELD_HANDLE] = sizeof(int64_t),         [FIELD_TIME] = sizeof(int64_t),
        [FIELD_DEVICE] = sizeof(uint32_t),        [FIELD_SIZE] = sizeof(int64_t),
        [FIELD_CHANGE] = sizeof(int64_t),         [FIELD_COUNT] = sizeof(int64_t),
        [FIELD_DURATION] = sizeof(double),        [FIELD_BOOL] = sizeof(bool),
        [FIELD_STRING] = sizeof(string_id),       [FIELD_LOOSE_BOOL] = sizeof(bool),
        [FIELD_LOOSE_STRING] = sizeof(string_id), [FIELD_ANY_TEXT] = sizeof(string_id),
        [FIELD_LOOSE_LINE] = sizeof(uint32_t),    [FIELD_POOL] = 2 * sizeof(uint64_t),
        [FIELD_STACK] = sizeof(stack_id),         [FIELD_OTHER] = 0,
    };
    memset(field_at(field, row), 0, sizes[field->kind]);
    if (field->kind == FIELD_TIME)
        *(int64_t *)field_at(field, row) = TIME_NONE;
}

bool fields_check(const struct field *fields, unsigned count, uint64_t seen, const char *row,
                  uint64_t offset, struct error *err)
{
    for (unsigned i = 0; i < count; i++)
        if (fields[i].required && (seen >> i & 1) == 0)
            return error_set_at(err, STATUS_BAD_INPUT, offset, "%s without '%s'", row,
                                fields[i].name.bytes);
    return true;
}
