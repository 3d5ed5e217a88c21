#include "render/core/json.h"

#include <stdlib.h>
#include <string.h>

#include "render/core/escape.h"

#define PIECE ((size_t)64 * 1024) /* bytes of a string */

void json_writer_init(struct json_writer *json, FILE *out)
{
    *json = (struct json_writer){.out = out};
}

void json_writer_release(struct json_writer *json)
{
    buffer_release(&json->scratch);
}

bool json_writer_finish(struct json_writer *json)
{
    bool ok = !json->failed;
    fputc('\n', json->out);
    json_writer_release(json);
    return ok;
}

/* Length of the next piece of a string of `size` bytes to escape; never splits a character. */
static size_t piece_size(const char *bytes, size_t size)
{
    if (size <= PIECE)
        return size;
    size_t cut = PIECE;
    while (cut > PIECE - 3 && (bytes[cut] & 0xC0) == 0x80)
        cut--;
    return cut;
}

static void put_quoted(struct json_writer *json, const char *bytes, size_t size,
                       enum utf8_surrogates surrogates)
{
    fputc_unlocked('"', json->out);
    for (size_t piece; size > 0; bytes += piece, size -= piece) {
        piece = piece_size(bytes, size);
        buffer_clear(&json->scratch);
        escape_json_piece(&json->scratch, bytes, piece, surrogates);
        if (json->scratch.failed)
            json->failed = true;
        else
            fwrite_unlocked(json->scratch.bytes, 1, json->scratch.size, json->out);
    }
    fputc_unlocked('"', json->out);
}

static void put_escaped(struct json_writer *json, const char *bytes, size_t size)
{
    put_quoted(json, bytes, size, UTF8_REFUSE_SURROGATES);
}

static void put_plain(struct json_writer *json, const char *text)
{
    fwrite_unlocked(text, 1, strlen(text), json->out);
}

static void put_natural(struct json_writer *json, uint64_t value)
{
    char digits[20], *p = digits + sizeof(digits);
    do
        *--p = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    fwrite_unlocked(p, 1, (size_t)(digits + sizeof(digits) - p), json->out);
}

static void before_value(struct json_writer *json, const char *key)
{
    if (json->needs_comma)
        fputc_unlocked(',', json->out);
    if (key) {
        fputc_unlocked('"', json->out);
        put_plain(json, key);
        put_plain(json, "\":");
    }
    json->needs_comma = true;
}

static void before_input_value(struct json_writer *json, const char *key, size_t key_size)
{
    before_value(json, NULL);
    put_escaped(json, key, key_size);
    fputc_unlocked(':', json->out);
}

void json_put_open(struct json_writer *json, const char *key, char bracket)
{
    before_value(json, key);
    fputc_unlocked(bracket, json->out);
    json->needs_comma = false;
}

void json_put_close(struct json_writer *json, char bracket)
{
    fputc_unlocked(bracket, json->out);
    json->needs_comma = true;
}

void json_put_integer(struct json_writer *json, const char *key, int64_t value)
{
    before_value(json, key);
    if (value < 0)
        fputc_unlocked('-', json->out);
    put_natural(json, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void json_put_count(struct json_writer *json, const char *key, uint64_t value)
{
    before_value(json, key);
    put_natural(json, value);
}

void json_put_bool(struct json_writer *json, const char *key, bool value)
{
    before_value(json, key);
    put_plain(json, value ? "true" : "false");
}

void json_put_null(struct json_writer *json, const char *key)
{
    before_value(json, key);
    put_plain(json, "null");
}

void json_put_real(struct json_writer *json, const char *key, double value)
{
    char text[40];
    int precision = 14;
    do
        snprintf(text, sizeof(text), "%.*g", ++precision, value);
    while (precision < 17 && strtod(text, NULL) != value);
    before_value(json, key);
    put_plain(json, text);
    if (!strpbrk(text, ".e"))
        put_plain(json, ".0");
}

void json_put_string(struct json_writer *json, const char *key, const char *text)
{
    json_put_bytes(json, key, text, strlen(text));
}

void json_put_bytes(struct json_writer *json, const char *key, const char *bytes, size_t size)
{
    before_value(json, key);
    put_escaped(json, bytes, size);
}

void json_put_input_pair(struct json_writer *json, const char *key, size_t key_size,
                         const char *bytes, size_t size)
{
    before_input_value(json, key, key_size);
    put_escaped(json, bytes, size);
}

void json_put_input_count(struct json_writer *json, const char *key, size_t key_size,
                          uint64_t value)
{
    before_input_value(json, key, key_size);
    put_natural(json, value);
}

void json_put_text(struct json_writer *json, const char *key, struct text text)
{
    before_value(json, key);
    put_quoted(json, text.bytes, text.size, UTF8_ALLOW_SURROGATES);
}

void json_put_text_key(struct json_writer *json, struct text text)
{
    json_put_text(json, NULL, text);
    fputc_unlocked(':', json->out);
    json->needs_comma = false;
}

void json_string_begin(struct json_writer *json, const char *key)
{
    before_value(json, key);
    fputc_unlocked('"', json->out);
}

void json_string_end(struct json_writer *json)
{
    fputc_unlocked('"', json->out);
}

void json_put_name(struct json_writer *json, const char *key, struct text name)
{
    static const char dots[] = "...";
    char cut[JSON_NAME_MOST + sizeof(dots)];
    struct text shown = text_first(name, JSON_NAME_MOST);
    if (shown.size < name.size) {
        memcpy(cut, shown.bytes, shown.size);
        memcpy(cut + shown.size, dots, sizeof(dots));
        shown = (struct text){cut, shown.size + sizeof(dots) - 1};
    }
    json_put_bytes(json, key, shown.bytes, shown.size);
}

void json_put_frames(struct json_writer *json, const char *key, const struct symbols *symbols,
                     stack_id id)
{
    struct stack stack = symbols_stack_at(symbols, id);
    json_put_open(json, key, '[');
    for (size_t i = 0; i < stack.count; i++) {
        struct frame frame = symbols_frame_at(symbols, stack.frames[i]);
        json_put_open(json, NULL, '{');
        json_put_name(json, "file", symbols_text(symbols, frame.file));
        json_put_count(json, "line", frame.line);
        json_put_name(json, "name", symbols_text(symbols, frame.name));
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}
