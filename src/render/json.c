#include "render/json.h"

#include <inttypes.h>
#include <string.h>

#include "render/escape.h"

void json_writer_init(struct json_writer *json, FILE *out)
{
    *json = (struct json_writer){.out = out};
}

void json_writer_release(struct json_writer *json)
{
    buffer_release(&json->scratch);
}

static void put_escaped(struct json_writer *json, const char *bytes, size_t size)
{
    buffer_clear(&json->scratch);
    escape_json(&json->scratch, bytes, size);
    if (json->scratch.failed)
        json->failed = true;
    else
        fwrite(json->scratch.bytes, 1, json->scratch.size, json->out);
}

static void before_value(struct json_writer *json, const char *key)
{
    if (json->needs_comma)
        fputc(',', json->out);
    if (key)
        fprintf(json->out, "\"%s\":", key);
    json->needs_comma = true;
}

static void before_input_value(struct json_writer *json, const char *key, size_t key_size)
{
    before_value(json, NULL);
    put_escaped(json, key, key_size);
    fputc(':', json->out);
}

void emit_open(struct json_writer *json, const char *key, char bracket)
{
    before_value(json, key);
    fputc(bracket, json->out);
    json->needs_comma = false;
}

void emit_close(struct json_writer *json, char bracket)
{
    fputc(bracket, json->out);
    json->needs_comma = true;
}

void emit_integer(struct json_writer *json, const char *key, int64_t value)
{
    before_value(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void emit_count(struct json_writer *json, const char *key, uint64_t value)
{
    before_value(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

void emit_flag(struct json_writer *json, const char *key, bool value)
{
    before_value(json, key);
    fputs(value ? "true" : "false", json->out);
}

void emit_word(struct json_writer *json, const char *key, const char *text)
{
    emit_bytes(json, key, text, strlen(text));
}

void emit_bytes(struct json_writer *json, const char *key, const char *bytes, size_t size)
{
    before_value(json, key);
    put_escaped(json, bytes, size);
}

void emit_input_pair(struct json_writer *json, const char *key, size_t key_size, const char *bytes,
                     size_t size)
{
    before_input_value(json, key, key_size);
    put_escaped(json, bytes, size);
}

void emit_input_count(struct json_writer *json, const char *key, size_t key_size, uint64_t value)
{
    before_input_value(json, key, key_size);
    fprintf(json->out, "%" PRIu64, value);
}
