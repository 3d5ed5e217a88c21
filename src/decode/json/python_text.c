/* Formats JSON values as Python's str() prints them, so that settings look the same in every
 * encoding. */
#include <jansson.h>
#include <math.h>

#include "decode/core/pytext.h"
#include "decode/json/decoder.h"

struct printer {
    struct json_reader *reader;
    struct buffer *out;
    size_t limit;
    bool clips;     /* cut what is longer than the limit */
    bool clipped;   /* something was cut */
    size_t kept;    /* size of the text after the first cut */
    uint64_t start; /* offset of the whole value */
};

static bool too_long(const struct printer *printer, struct error *err)
{
    return error_set_at(err, STATUS_LIMIT, printer->start, "a value of more than %zu bytes",
                        printer->limit);
}

/* Jansson parses reals. A value too large for a double is infinite, as in Python. */
static bool add_real(const struct json_number *number, struct buffer *out, struct error *err)
{
    json_error_t problem;
    json_t *value = json_loadb(number->bytes, number->size, JSON_DECODE_ANY, &problem);

    if (value == NULL) {
        if (json_error_code(&problem) != json_error_numeric_overflow)
            return error_out_of_memory(err);
        pytext_real(out, number->bytes[0] == '-' ? -HUGE_VAL : HUGE_VAL);
        return true;
    }
    pytext_real(out, json_real_value(value));
    json_decref(value);
    return true;
}

static bool add_number(struct json_reader *reader, struct buffer *out, struct error *err)
{
    struct json_number number;

    if (!json_read_number(reader, &number, err))
        return false;
    if (!number.integer)
        return add_real(&number, out, err);
    if (number.size == 2 && number.bytes[0] == '-' && number.bytes[1] == '0')
        buffer_putc(out, '0');
    else
        buffer_add(out, number.bytes, number.size);
    return true;
}

static bool add_text(const struct printer *printer, struct text text, bool quoted,
                     struct error *err)
{
    if (text.size > printer->limit) {
        if (!printer->clips)
            return too_long(printer, err);
        text.size = printer->limit;
    }
    if (quoted)
        pytext_quoted(printer->out, text.bytes, text.size);
    else
        buffer_add(printer->out, text.bytes, text.size);
    return true;
}

static bool add_scalar(const struct printer *printer, uint8_t first, bool quoted, struct error *err)
{
    static const char *const literals[] = {
        [JSON_LITERAL_TRUE] = "True",    [JSON_LITERAL_FALSE] = "False",
        [JSON_LITERAL_NULL] = "None",    [JSON_LITERAL_NAN] = "nan",
        [JSON_LITERAL_INFINITY] = "inf", [JSON_LITERAL_MINUS_INFINITY] = "-inf",
    };
    struct json_reader *reader = printer->reader;
    enum json_literal literal;
    struct text text;

    if (first == '"')
        return json_read_string(reader, "a value", &text, err) &&
               add_text(printer, text, quoted, err);
    if (!json_read_literal(reader, &literal, err))
        return false;
    if (literal != JSON_LITERAL_NONE) {
        buffer_puts(printer->out, literals[literal]);
        return true;
    }
    if (first != '-' && (first < '0' || first > '9'))
        return json_unexpected(reader, "a value", err);
    return add_number(reader, printer->out, err);
}

static bool add_key(const struct printer *printer, struct error *err)
{
    struct text key;

    if (!json_read_key(printer->reader, &key, err) || !add_text(printer, key, true, err))
        return false;
    buffer_puts(printer->out, ": ");
    return true;
}

/* Reads the beginning of a value: a scalar, or the bracket that opens a container. `*more` is true
 * if the container has items. */
static bool add_begin(const struct printer *printer, struct json_nest *nest, bool *more,
                      struct error *err)
{
    struct json_reader *reader = printer->reader;
    struct buffer *out = printer->out;
    uint8_t byte;

    if (!json_peek(reader, &byte, err))
        return false;
    if (byte != '{' && byte != '[')
        return add_scalar(printer, byte, nest->depth > 0, err);
    if (!json_nest_open(nest, reader, (char)byte, more, err))
        return false;
    buffer_putc(out, (char)byte);
    if (!*more) {
        buffer_putc(out, byte == '{' ? '}' : ']');
    } else if (printer->clips && nest->depth > PYTEXT_CLIP_LEVELS) {
        nest->depth--;
        *more = false;
        buffer_puts(out, byte == '{' ? "...}" : "...]");
        return json_leave(reader, err);
    }
    return true;
}

/* Continues after a value: closes the containers that end here. */
static bool add_end(const struct printer *printer, struct json_nest *nest, bool *more,
                    struct error *err)
{
    while (!*more && nest->depth > 0) {
        if (!json_more(printer->reader, nest->open[nest->depth - 1], more, err))
            return false;
        if (*more)
            buffer_puts(printer->out, ", ");
        else
            buffer_putc(printer->out, nest->open[--nest->depth] == '{' ? '}' : ']');
    }
    return true;
}

static bool check_size(struct printer *printer, struct error *err)
{
    if (printer->out->failed)
        return error_out_of_memory(err);
    if (printer->clipped) {
        printer->out->size = printer->kept;
    } else if (printer->clips && pytext_clip(printer->out)) {
        printer->clipped = true;
        printer->kept = printer->out->size;
    }
    return printer->out->size <= printer->limit || too_long(printer, err);
}

static bool print(struct printer *printer, struct error *err)
{
    struct json_nest nest = {.depth = 0};

    if (!json_offset(printer->reader, &printer->start, err))
        return false;
    buffer_clear(printer->out);
    for (;;) {
        bool more = false;

        if (!add_begin(printer, &nest, &more, err) || !add_end(printer, &nest, &more, err) ||
            !check_size(printer, err))
            return false;
        if (nest.depth == 0)
            return true;
        if (nest.open[nest.depth - 1] == '{' && !add_key(printer, err))
            return false;
    }
}

bool json_python_text(struct json_reader *reader, size_t limit, struct buffer *out,
                      struct error *err)
{
    struct printer printer = {.reader = reader, .out = out, .limit = limit};

    return print(&printer, err);
}

bool json_python_clip(struct json_reader *reader, struct buffer *out, struct error *err)
{
    struct printer printer = {
        .reader = reader, .out = out, .limit = PYTEXT_CLIP_BYTES, .clips = true};

    if (!print(&printer, err))
        return false;
    if (printer.clipped)
        buffer_puts(out, "...");
    return !out->failed || error_out_of_memory(err);
}
