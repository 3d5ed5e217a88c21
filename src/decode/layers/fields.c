#include "decode/layers/fields.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MOST_MICROSECONDS (INT64_C(1) << 53) /* what a double holds to the microsecond */

#define ALWAYS ((UINT32_C(1) << LAYER_FORWARD_US) - 1) /* the fields before that one */

static const struct field {
    const char *name;
    enum layer_kind kind;
    size_t member; /* its offset in struct layer_row */
} fields[LAYER_FIELDS] = {
#define FIELD(id, kind, member) [id] = {#member, kind, offsetof(struct layer_row, member)}
    FIELD(LAYER_MODULE_NAME, LAYER_KIND_NAME, module_name),
    FIELD(LAYER_MODULE_PARAMS, LAYER_KIND_SIZE, module_params),
    FIELD(LAYER_ALLOCATED, LAYER_KIND_SIZE, allocated),
    FIELD(LAYER_RESERVED, LAYER_KIND_SIZE, reserved),
    FIELD(LAYER_IS_FORWARD, LAYER_KIND_FLAG, is_forward),
    FIELD(LAYER_ALL_GATHERED, LAYER_KIND_SIZE, all_gathered),
    FIELD(LAYER_CUMUL_ALL_GATHERED, LAYER_KIND_SIZE, cumul_all_gathered),
    FIELD(LAYER_MEMORY_DIFF, LAYER_KIND_SIGNED, memory_diff),
    FIELD(LAYER_MEMORY_ACTIVATIONS, LAYER_KIND_SIZE, memory_activations),
    FIELD(LAYER_FORWARD_US, LAYER_KIND_TIME, forward_us),
    FIELD(LAYER_BACKWARD_US, LAYER_KIND_TIME, backward_us),
    FIELD(LAYER_DEPTH, LAYER_KIND_SIZE, depth),
    FIELD(LAYER_SAVED_ACTIVATIONS, LAYER_KIND_SIZE, saved_activations),
#undef FIELD
};

enum layer_field layer_field_find(struct text key)
{
    for (enum layer_field i = 0; i < LAYER_FIELDS; i++)
        if (strlen(fields[i].name) == key.size && memcmp(fields[i].name, key.bytes, key.size) == 0)
            return i;
    return LAYER_FIELDS;
}

enum layer_kind layer_field_kind(enum layer_field field)
{
    return fields[field].kind;
}

static const char *kind_name(enum layer_field field)
{
    static const char *const names[] = {
        [LAYER_KIND_NAME] = "a string",
        [LAYER_KIND_FLAG] = "true or false",
        [LAYER_KIND_SIZE] = "a size in bytes",
        [LAYER_KIND_SIGNED] = "a number of bytes",
        [LAYER_KIND_TIME] = "a time in microseconds",
    };
    return field == LAYER_DEPTH ? "a whole number from 0" : names[fields[field].kind];
}

const char *layer_field_what(enum layer_field field, char out[LAYER_WHAT_SIZE])
{
    snprintf(out, LAYER_WHAT_SIZE, "%s for %s", kind_name(field), fields[field].name);
    return out;
}

bool layer_expected(enum layer_field field, const char *found, uint64_t offset, struct error *err)
{
    char what[LAYER_WHAT_SIZE];
    return error_set_at(err, STATUS_BAD_INPUT, offset, "expected %s, found %s",
                        layer_field_what(field, what), found);
}

static void *member(struct layer_row *row, enum layer_field field)
{
    row->present |= UINT32_C(1) << field;
    return (char *)row + fields[field].member;
}

void layer_set_name(struct layer_row *row, string_id name)
{
    *(string_id *)member(row, LAYER_MODULE_NAME) = name;
}

void layer_set_flag(struct layer_row *row, bool flag)
{
    *(bool *)member(row, LAYER_IS_FORWARD) = flag;
}

bool layer_set_integer(struct layer_row *row, enum layer_field field, bool negative,
                       uint64_t magnitude, uint64_t offset, struct error *err)
{
    if (magnitude > INT64_MAX)
        return layer_expected(field, "a number beyond 63 bits", offset, err);
    if (negative && fields[field].kind != LAYER_KIND_SIGNED)
        return layer_expected(field, "a negative number", offset, err);
    if (fields[field].kind == LAYER_KIND_TIME)
        return layer_set_real(row, field, (double)magnitude, offset, err);
    *(int64_t *)member(row, field) = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

bool layer_set_real(struct layer_row *row, enum layer_field field, double value, uint64_t offset,
                    struct error *err)
{
    if (!(value >= 0)) /* nor NaN */
        return layer_expected(field, value < 0 ? "a negative number" : "no number", offset, err);
    if (value > (double)MOST_MICROSECONDS)
        return layer_expected(field, "more than 2^53", offset, err);
    *(double *)member(row, field) = value;
    return true;
}

bool layer_row_check(const struct layer_row *row, uint64_t offset, struct error *err)
{
    uint32_t missing = ALWAYS & ~row->present;
    if (layer_has(row, LAYER_IS_FORWARD) && !row->is_forward)
        missing &= ~(UINT32_C(1) << LAYER_MEMORY_DIFF);
    if (missing == 0)
        return true;
    return error_set_at(err, STATUS_BAD_INPUT, offset, "a trace without '%s'",
                        fields[__builtin_ctz(missing)].name);
}
