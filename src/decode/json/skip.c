/* Skips values that are not needed. */
#include "decode/json/scan.h"

static bool skip_scalar(struct json_reader *reader, uint8_t first, struct error *err)
{
    enum json_literal literal;
    struct json_number number;

    if (first == '"')
        return json_scan_string(reader->source, NULL, NULL, err);
    if (!json_read_literal(reader, &literal, err))
        return false;
    if (literal != JSON_LITERAL_NONE)
        return true;
    if (!json_is_digit(first) && first != '-')
        return json_unexpected(reader, "a value", err);
    return json_read_number(reader, &number, err);
}

/* Consumes a key without keeping it. */
static bool skip_key(struct json_reader *reader, struct error *err)
{
    uint8_t byte;

    if (!json_peek(reader, &byte, err))
        return false;
    if (byte != '"')
        return json_unexpected(reader, "a key in double quotes", err);
    if (!json_scan_string(reader->source, NULL, NULL, err) || !json_peek(reader, &byte, err))
        return false;
    if (byte != ':')
        return json_unexpected(reader, "':'", err);
    reader->source->pos++;
    return true;
}

bool json_skip(struct json_reader *reader, struct error *err)
{
    char open[JSON_MAX_DEPTH]; /* the containers that are open at the position */
    size_t depth = 0;

    for (;;) {
        bool more = false;
        uint8_t byte;

        if (!json_peek(reader, &byte, err))
            return false;
        if (byte == '{' || byte == '[') {
            if (depth == JSON_MAX_DEPTH)
                return error_set_at(err, STATUS_LIMIT, source_offset(reader->source),
                                    "nested more than %d levels deep", JSON_MAX_DEPTH);
            if (!json_open(reader, (char)byte, "a value", &more, err))
                return false;
            if (more)
                open[depth++] = (char)byte;
        } else if (!skip_scalar(reader, byte, err)) {
            return false;
        }
        while (!more && depth > 0) {
            if (!json_more(reader, open[depth - 1], &more, err))
                return false;
            depth -= !more;
        }
        if (depth == 0)
            return true;
        if (open[depth - 1] == '{' && !skip_key(reader, err))
            return false;
    }
}
