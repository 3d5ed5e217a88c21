/* The fields of a kind of row, described once for every encoding.
 *
 * For each field a table gives its name in the file, the kind of its value and where it is stored
 * in the row. A decoder finds the field by name, reads the value by its kind, and stores it with
 * the functions below, which check the range. */
#ifndef MEMSNAP_DECODE_CORE_FIELDS_H
#define MEMSNAP_DECODE_CORE_FIELDS_H

#include <stddef.h>

#include "base/symbols.h"

enum field_kind {
    /* numbers, up to FIELD_DURATION */
    FIELD_NATURAL,      /* uint64_t */
    FIELD_ADDRESS,      /* uint64_t: any 64 bits; PyTorch's C++ pickler writes them signed */
    FIELD_HANDLE,       /* int64_t: any 64 bits, signed or unsigned */
    FIELD_TIME,         /* int64_t in microseconds; TIME_NONE if absent */
    FIELD_DEVICE,       /* uint32_t, below 2^31, or DEVICE_HOST: -1 in the file */
    FIELD_SIZE,         /* int64_t of bytes, from 0 */
    FIELD_CHANGE,       /* int64_t of bytes, with a sign */
    FIELD_COUNT,        /* int64_t, from 0 */
    FIELD_DURATION,     /* double in microseconds, from 0 to 2^53 */
    FIELD_BOOL,         /* bool */
    FIELD_STRING,       /* string_id */
    FIELD_LOOSE_BOOL,   /* bool: true only if the value is true; any other value means false */
    FIELD_LOOSE_STRING, /* string_id; empty if the value is not a string */
    FIELD_ANY_TEXT,     /* string_id: a string, or the text of another value, cut by pytext.h */
    FIELD_LOOSE_LINE,   /* uint32_t; 0 if the value is not an integer from 0 to 2^32-1 */
    FIELD_POOL,         /* uint64_t[2]; a single integer N means (N, 0) */
    FIELD_STACK,        /* stack_id: a list of frames */
    FIELD_OTHER,        /* stored by code specific to the field */
};

struct field {
    struct text name;
    const char *expected; /* "an integer from 0 for addr", for errors */
    uint8_t kind;         /* enum field_kind */
    bool required;
    uint16_t offset; /* in the row */
};

#define FIELD_NATURAL_TEXT      "an integer from 0"
#define FIELD_ADDRESS_TEXT      "an integer from 0"
#define FIELD_HANDLE_TEXT       "an integer"
#define FIELD_TIME_TEXT         "an integer"
#define FIELD_DEVICE_TEXT       "an integer from -1"
#define FIELD_SIZE_TEXT         "a size in bytes"
#define FIELD_CHANGE_TEXT       "a number of bytes"
#define FIELD_COUNT_TEXT        "a whole number from 0"
#define FIELD_DURATION_TEXT     "a time in microseconds"
#define FIELD_BOOL_TEXT         "true or false"
#define FIELD_STRING_TEXT       "a string"
#define FIELD_LOOSE_BOOL_TEXT   "true or false"
#define FIELD_LOOSE_STRING_TEXT "a string"
#define FIELD_ANY_TEXT_TEXT     "a value"
#define FIELD_LOOSE_LINE_TEXT   "an integer"
#define FIELD_POOL_TEXT         "two integers from 0"
#define FIELD_STACK_TEXT        "a list of frames"

/* An optional field; REQUIRED_FIELD is one that every row of its kind must have. */
#define FIELD_AS(kind_, row, member, key, must)                                                    \
    {                                                                                              \
        .name = {key, sizeof(key) - 1}, .expected = FIELD_##kind_##_TEXT " for " key,              \
        .kind = FIELD_##kind_, .required = must, .offset = offsetof(struct row, member)            \
    }
#define FIELD(kind, row, member, key)          FIELD_AS(kind, row, member, key, false)
#define REQUIRED_FIELD(kind, row, member, key) FIELD_AS(kind, row, member, key, true)
/* A field of FIELD_OTHER; `text` describes its value for errors. */
#define OTHER_FIELD(text, key, must)                                                               \
    {                                                                                              \
        .name = {key, sizeof(key) - 1}, .expected = text " for " key, .kind = FIELD_OTHER,         \
        .required = must                                                                           \
    }

static inline bool field_is_number(const struct field *field)
{
    return field->kind <= FIELD_DURATION;
}

static inline void *field_at(const struct field *field, void *row)
{
    return (char *)row + field->offset;
}

static inline bool field_has_name(const struct field *field, struct text name)
{
    return field->name.size == name.size &&
           __builtin_memcmp(field->name.bytes, name.bytes, name.size) == 0;
}

/* The index of the field with that name; `count` if there is none. */
unsigned field_find(const struct field *fields, unsigned count, struct text name);

/* Stores an integer in a field of any kind of number. STATUS_BAD_INPUT at `offset`, which is that
 * of the value in the file, if it is out of range. */
bool field_set_integer(const struct field *field, void *row, bool negative, uint64_t magnitude,
                       uint64_t offset, struct error *err);
/* The same for a real number; for FIELD_DURATION only. */
bool field_set_real(const struct field *field, void *row, double real, uint64_t offset,
                    struct error *err);
/* Sets the field to the value that it has if it is absent from the file. */
void field_reset(const struct field *field, void *row);

/* Reports "expected ..., found FOUND". Returns false. */
bool field_expected(const struct field *field, const char *found, uint64_t offset,
                    struct error *err);

/* Fails if a required field is not in `seen` (1 << index of each field that was found). `row` is
 * "an event" or the like, and `offset` is where it begins. */
bool fields_check(const struct field *fields, unsigned count, uint64_t seen, const char *row,
                  uint64_t offset, struct error *err);

#endif
