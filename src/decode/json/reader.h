/* A pull reader for JSON that never holds more than one token.
 *
 * The caller requests each expected piece in turn. Unneeded values are skipped without recursion,
 * whatever their depth (up to JSON_MAX_DEPTH; beyond is STATUS_LIMIT). As Python writes them, NaN,
 * Infinity and -Infinity are values, and a lone surrogate escape (\ud800) is a character: it
 * becomes the three bytes of Python's "surrogatepass", as in a pickle. \u0000 is a NUL byte. Raw
 * bytes must be UTF-8. Errors are STATUS_BAD_INPUT with the offset, unless stated otherwise. */
#ifndef MEMSNAP_DECODE_JSON_READER_H
#define MEMSNAP_DECODE_JSON_READER_H

#include "base/buffer.h"
#include "base/symbols.h"
#include "decode/core/source.h"

#define JSON_MAX_DEPTH  1000
#define JSON_MAX_NUMBER 1024 /* characters of one number */

struct json_reader {
    struct source *source; /* not owned */
    struct buffer text;    /* the last string that could not stay in the source's buffer */
    size_t text_counted;   /* bytes of `text` counted in the source's budget */
};

struct json_integer {
    uint64_t magnitude;
    bool negative;
};

/* A number as written in the file; `bytes` is valid until the next call. */
struct json_number {
    const char *bytes;
    size_t size;
    bool integer; /* neither fraction nor exponent */
};

enum json_literal {
    JSON_LITERAL_NONE,
    JSON_LITERAL_TRUE,
    JSON_LITERAL_FALSE,
    JSON_LITERAL_NULL,
    JSON_LITERAL_NAN,
    JSON_LITERAL_INFINITY,
    JSON_LITERAL_MINUS_INFINITY,
};

void json_reader_init(struct json_reader *reader, struct source *source);
void json_reader_release(struct json_reader *reader);

/* Skips a byte order mark, which some editors put at the beginning of a file. */
bool json_begin(struct json_reader *reader, struct error *err);

bool json_peek_far(struct json_reader *reader, uint8_t *byte, struct error *err);

static inline bool json_is_space(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/* Skips white space and stores the byte after it, without consuming it; 0 with pos == end at the
 * end of the input. */
static inline bool json_peek(struct json_reader *reader, uint8_t *byte, struct error *err)
{
    struct source *source = reader->source;
    const uint8_t *p = source->pos;

    while (json_is_space(*p)) /* the padding ends the loop */
        p++;
    source->pos = p;
    if (p == source->end)
        return json_peek_far(reader, byte, err);
    *byte = *p;
    return true;
}

/* The offset at which the next value begins. */
static inline bool json_offset(struct json_reader *reader, uint64_t *offset, struct error *err)
{
    uint8_t byte;

    if (!json_peek(reader, &byte, err))
        return false;
    *offset = source_offset(reader->source);
    return true;
}

/* Reports "expected WHAT, found ..." at the current position. Returns false. */
bool json_unexpected(struct json_reader *reader, const char *what, struct error *err);

/* Enters a container that begins with `open` ('{' or '['), described by `what` in errors. `*more`
 * is true if it is not empty. */
bool json_open(struct json_reader *reader, char open, const char *what, bool *more,
               struct error *err);
/* Called after an item of the container that `open` began. `*more` is true if another item follows.
 */
bool json_more(struct json_reader *reader, char open, bool *more, struct error *err);

/* The containers that are open around the position, for functions that visit values of any depth.
 * The caller sets `depth` to 0. */
struct json_nest {
    size_t depth;
    char open[JSON_MAX_DEPTH];
};

/* json_open() for a container inside a value of any kind. Adds the container to `nest` if it is not
 * empty. STATUS_LIMIT beyond JSON_MAX_DEPTH. */
bool json_nest_open(struct json_nest *nest, struct json_reader *reader, char open, bool *more,
                    struct error *err);

/* Reports nesting beyond JSON_MAX_DEPTH at the current position. Returns false. */
bool json_too_deep(struct json_reader *reader, struct error *err);

/* Reads a key and its colon. The text is valid until the next call. */
bool json_read_key(struct json_reader *reader, struct text *key, struct error *err);
/* Reads a string, which `what` describes in errors. The text is valid until the next call. */
bool json_read_string(struct json_reader *reader, const char *what, struct text *text,
                      struct error *err);
/* Rejects integers beyond 64 bits, and reals. */
bool json_read_integer(struct json_reader *reader, const char *what, struct json_integer *integer,
                       struct error *err);
bool json_read_number(struct json_reader *reader, struct json_number *number, struct error *err);
/* If the next value is not a literal, gives JSON_LITERAL_NONE and consumes nothing. */
bool json_read_literal(struct json_reader *reader, enum json_literal *literal, struct error *err);
/* Consumes a null, if that is the next value. */
bool json_take_null(struct json_reader *reader, bool *taken, struct error *err);
/* Consumes the next value, and checks that it is valid. */
bool json_skip(struct json_reader *reader, struct error *err);
/* Consumes the rest of a container of which `*pos` is inside, up to its closing bracket. Checks
 * brackets and strings only, which makes it several times as fast as json_skip(). */
bool json_leave(struct json_reader *reader, struct error *err);
/* The place where json_leave() would stop, as a pointer into the source's buffer. NULL if the place
 * is not known without reading or checking more; callers must expect NULL for any text. */
const uint8_t *json_find_end(const struct json_reader *reader);
/* Checks that only white space follows. */
bool json_finish(struct json_reader *reader, struct error *err);

#endif
