/* The fields of a row type, described once. JSON reports, tables for people and tables for other
 * programs (CSV, JSON lines, msgpack) are all written from the description:
 *
 *     const struct row_type pin_type = ROW_TYPE("pinned", struct pin_row,
 *         FIELD(struct pin_row, BYTES, pinned_bytes, .title = "pinned"),
 *         FIELD(struct pin_row, COUNT, segments, .title = "blocks", .column = 3, .optional = 2),
 *         FIELD_CALL(LABEL, "place", place_of_pin));
 *
 * A field with a key is written to JSON and records, one with a title to text tables. The writers
 * are in render/core/rows.h. */
#ifndef MEMSNAP_RENDER_CORE_FIELDS_H
#define MEMSNAP_RENDER_CORE_FIELDS_H

#include "analysis/category/category.h"
#include "analysis/code/labels.h"
#include "analysis/code/site.h"
#include "base/buffer.h"
#include "base/symbols.h"
#include "model/timeline.h"
#include "render/core/fit.h"

#define FIELDS_MOST 32 /* of one row type */

enum field_kind {
    FIELD_BYTES,    /* a size */
    FIELD_CHANGE,   /* the same, with a sign in text */
    FIELD_SHARE,    /* a size, as a percentage of context->whole; text only */
    FIELD_COUNT,    /* a number of items */
    FIELD_NUMBER,   /* any other whole number, such as a line, an address or an id */
    FIELD_DURATION, /* microseconds, not negative */
    FIELD_TIME,     /* microseconds; absent when TIME_NONE */
    FIELD_EVENT,    /* a trace item, written as its number in the file; -1 when negative */
    FIELD_REAL,
    FIELD_FLAG,
    FIELD_NAME,     /* an enum or a bool, written as the text that `name` returns */
    FIELD_CATEGORY, /* an enum category, whose name may be the user's */
    FIELD_WORD,     /* constant plain text; absent when NULL */
    FIELD_LABEL,    /* text that needs escaping; absent when NULL */
    FIELD_CHARS,    /* the same, in an array of char */
    FIELD_TEXT,     /* struct text that may hold lone surrogates */
    FIELD_MODULE,   /* the same as a string_id; the empty name is the model */
    FIELD_STRING,   /* a string_id; absent when STRING_EMPTY */
    FIELD_SITE,     /* struct label; text tables have the brief one */
    FIELD_OPERATOR, /* struct site, written as its operator; see site_operator_text() */
    FIELD_STACK,    /* a stack_id, written as a number; absent when STACK_NONE */
    FIELD_FRAMES,   /* a stack_id, written as an array of frames; JSON only */
    FIELD_PAIR,     /* uint64_t[2], written as an array; JSON only */
    FIELD_CUSTOM,   /* written by `json` and `record` */
};

enum field_flags {
    FIELD_SKIP_ZERO = 1,     /* absent when it is 0, false or empty text */
    FIELD_SKIP_NEGATIVE = 2, /* absent when it is below 0 */
    FIELD_NULL = 4,          /* JSON: null when absent; otherwise the key is left out */
    FIELD_NOT_JSON = 8,
    FIELD_NOT_RECORD = 16,
    FIELD_NOT_DATABASE = 32,
    FIELD_ONLY_DATABASE = 64,
};

enum value_kind { VALUE_NONE, VALUE_INTEGER, VALUE_COUNT, VALUE_REAL, VALUE_FLAG, VALUE_TEXT };

struct value {
    enum value_kind kind;
    union {
        int64_t integer;
        uint64_t count; /* also the id of a string or a stack */
        double real;
        bool flag;
        struct text text;
    };
};

/* The objects that the values of rows refer to. Only those that the row type uses must be set. */
struct field_context {
    const struct symbols *symbols; /* of strings, stacks and modules */
    const struct trace *trace;     /* of events */
    int64_t whole;                 /* of shares */
    const void *user;              /* for the functions of a row type */
    const struct page *page;       /* text: set by the writer */
    struct buffer *scratch; /* text: empty, for a value that is composed; set by the writer */
};

struct json_writer;
struct record_writer;
struct error;

struct field {
    const char *key;   /* NULL: in text tables only */
    const char *title; /* NULL: not in text tables */
    enum field_kind kind;
    uint16_t offset;
    uint8_t size;
    bool is_signed;
    uint8_t flags;
    /* Position among the columns of a text table, and among those of a record. Fields with equal
     * numbers keep the order of the description, which is the order of JSON. */
    uint8_t column, cell;
    /* For text tables, as in struct table_column. */
    uint8_t least, optional;
    enum cut cut;
    bool is_prose;      /* the last column, broken into lines */
    const char *absent; /* text: the cell of an absent value; NULL: empty */

    /* The value is absent where this member of the row is 0, false or NULL, or where it is not.
     * Size 0: no condition. */
    uint16_t condition;
    uint8_t condition_size;
    bool is_negated;
    bool (*present)(const void *row, const struct field_context *context); /* NULL: always */
    /* NULL: the value is the member at `offset`. */
    struct value (*value)(const void *row, const struct field_context *context);
    const char *(*name)(unsigned number); /* FIELD_NAME */
    void (*json)(struct json_writer *json, const void *row, const struct field_context *context);
    bool (*record)(struct record_writer *records, const void *row,
                   const struct field_context *context, struct error *err);
};

struct row_type {
    const char *name;
    size_t row_size;
    const struct field *fields; /* ends with one that has neither key nor title */
};

/* A braced initialiser for a struct row_type at file scope. */
#define ROW_TYPE(name_, row_, ...)                                                                 \
    {                                                                                              \
        .name = name_, .row_size = sizeof(row_), .fields = (const struct field[])                  \
        {                                                                                          \
            __VA_ARGS__,                                                                           \
            {                                                                                      \
                .key = NULL                                                                        \
            }                                                                                      \
        }                                                                                          \
    }

/* A member of the row, under its own name or another. A kind that does not match the member's type
 * is a compile-time error. */
#define FIELD(row_, kind_, member_, ...) FIELD_AS(row_, kind_, #member_, member_, __VA_ARGS__)
#define FIELD_AS(row_, kind_, key_, member_, ...)                                                  \
    {                                                                                              \
        .key = key_, .kind = FIELD_##kind_, .offset = offsetof(row_, member_),                     \
        .size = (uint8_t)sizeof(((row_ *)NULL)->member_),                                          \
        .is_signed = FIELD_TYPE_##kind_(((row_ *)NULL)->member_), __VA_ARGS__                      \
    }
/* Members of a field that is present only if a member of the row is, or is not, set. */
#define IF(row_, member_)                                                                          \
    .condition = offsetof(row_, member_), .condition_size = (uint8_t)sizeof(((row_ *)NULL)->member_)
#define UNLESS(row_, member_) IF(row_, member_), .is_negated = true
/* A value computed by a function. */
#define FIELD_CALL(kind_, key_, function_, ...)                                                    \
    {                                                                                              \
        .key = key_, .kind = FIELD_##kind_, .value = function_, __VA_ARGS__                        \
    }

/* A cell of a record, written by a function. */
#define FIELD_RECORD(key_, function_)                                                              \
    {                                                                                              \
        .key = key_, .kind = FIELD_CUSTOM, .record = function_, .flags = FIELD_NOT_JSON            \
    }
/* A cell that a database does not repeat, because another table has it. */
#define FIELD_RECORD_ONCE(key_, function_)                                                         \
    {                                                                                              \
        .key = key_, .kind = FIELD_CUSTOM, .record = function_,                                    \
        .flags = FIELD_NOT_JSON | FIELD_NOT_DATABASE                                               \
    }
/* A member of a JSON object, written by a function. */
#define FIELD_JSON(key_, function_, ...)                                                           \
    {                                                                                              \
        .key = key_, .kind = FIELD_CUSTOM, .json = function_, .flags = FIELD_NOT_RECORD,           \
        __VA_ARGS__                                                                                \
    }

/* The types allowed for a kind, and whether they are signed. */
#define FIELD_WHOLE(m)                                                                             \
    _Generic((m), long                                                                             \
             : true, long long                                                                     \
             : true, int                                                                           \
             : true, short                                                                         \
             : true, signed char                                                                   \
             : true, unsigned long                                                                 \
             : false, unsigned long long                                                           \
             : false, unsigned                                                                     \
             : false, unsigned short                                                               \
             : false, unsigned char                                                                \
             : false)
#define FIELD_TYPE_BYTES(m)    FIELD_WHOLE(m)
#define FIELD_TYPE_CHANGE(m)   FIELD_WHOLE(m)
#define FIELD_TYPE_SHARE(m)    FIELD_WHOLE(m)
#define FIELD_TYPE_COUNT(m)    FIELD_WHOLE(m)
#define FIELD_TYPE_NUMBER(m)   FIELD_WHOLE(m)
#define FIELD_TYPE_DURATION(m) FIELD_WHOLE(m)
#define FIELD_TYPE_TIME(m)     _Generic((m), int64_t : true)
#define FIELD_TYPE_EVENT(m)    _Generic((m), int64_t : true, uint32_t : false)
#define FIELD_TYPE_REAL(m)     _Generic((m), double : true)
#define FIELD_TYPE_FLAG(m)     _Generic((m), bool : false)
#define FIELD_TYPE_NAME(m)     _Generic((m), unsigned : false, unsigned char : false, bool : false)
#define FIELD_TYPE_CATEGORY(m) _Generic((m), enum category : false, unsigned char : false)
#define FIELD_TYPE_WORD(m)     _Generic(&(m), char ** : false, const char ** : false)
#define FIELD_TYPE_LABEL(m)    FIELD_TYPE_WORD(m)
#define FIELD_TYPE_CHARS(m)    _Generic(&(m)[0], char * : false)
#define FIELD_TYPE_TEXT(m)     _Generic((m), struct text : false)
#define FIELD_TYPE_MODULE(m)   _Generic((m), string_id : false)
#define FIELD_TYPE_STRING(m)   _Generic((m), string_id : false)
#define FIELD_TYPE_SITE(m)     _Generic((m), struct label : false)
#define FIELD_TYPE_OPERATOR(m) _Generic((m), struct site : false)
#define FIELD_TYPE_STACK(m)    _Generic((m), stack_id : false)
#define FIELD_TYPE_FRAMES(m)   _Generic((m), stack_id : false)
#define FIELD_TYPE_PAIR(m)     _Generic(&(m)[0], uint64_t * : false, const uint64_t * : false)

static inline bool field_is_end(const struct field *field)
{
    return !field->key && !field->title;
}

static inline struct value value_integer(int64_t integer)
{
    return (struct value){VALUE_INTEGER, .integer = integer};
}

static inline struct value value_count(uint64_t count)
{
    return (struct value){VALUE_COUNT, .count = count};
}

static inline struct value value_flag(bool flag)
{
    return (struct value){VALUE_FLAG, .flag = flag};
}

static inline struct value value_none(void)
{
    return (struct value){.kind = VALUE_NONE};
}

/* An id or a line, absent when 0. */
static inline struct value value_id(uint32_t id)
{
    return id ? value_count(id) : value_none();
}

/* NULL: none. */
struct value value_word(const char *word);
/* Text composed in context->scratch. */
struct value value_scratch(const struct field_context *context);

/* A member that is a whole number of any type. */
static inline struct value field_whole(const struct field *field, const void *at)
{
    switch (field->size) {
    case 8:
        return (struct value){field->is_signed ? VALUE_INTEGER : VALUE_COUNT,
                              .count = *(const uint64_t *)at};
    case 4:
        return field->is_signed ? value_integer(*(const int32_t *)at)
                                : value_count(*(const uint32_t *)at);
    case 2:
        return field->is_signed ? value_integer(*(const int16_t *)at)
                                : value_count(*(const uint16_t *)at);
    default:
        return field->is_signed ? value_integer(*(const int8_t *)at)
                                : value_count(*(const uint8_t *)at);
    }
}

bool field_is_present(const struct field *field, const void *row,
                      const struct field_context *context);
struct value field_value(const struct field *field, const void *row,
                         const struct field_context *context);

/* A call site's operator for people: "mul" for aten::mul. Empty if the label already names it, as
 * it does without Python frames. */
struct text site_operator_text(const struct symbols *symbols, const struct site *site);

enum field_order { FIELDS_AS_COLUMNS, FIELDS_AS_CELLS, FIELDS_IN_DATABASE };

/* Gets the fields of a text table or of a record in their order. Returns their number. */
size_t fields_in_order(const struct row_type *type, enum field_order order,
                       const struct field *fields[FIELDS_MOST]);

#endif
