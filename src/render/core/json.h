/* Writes JSON to a stream incrementally, on one line, because a report may be larger than its
 * input. */
#ifndef MEMSNAP_RENDER_CORE_JSON_H
#define MEMSNAP_RENDER_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/symbols.h"

struct json_writer {
    FILE *out;
    bool needs_comma;
    bool failed; /* out of memory: the text is incomplete */
    struct buffer scratch;
};

void json_writer_init(struct json_writer *json, FILE *out);
void json_writer_release(struct json_writer *json);
/* Ends the line and releases the writer. Returns false if the text is incomplete. */
bool json_writer_finish(struct json_writer *json);

/* `key` is NULL inside an array. Keys are constants that need no escaping. */
void json_put_open(struct json_writer *json, const char *key, char bracket); /* '{' or '[' */
void json_put_close(struct json_writer *json, char bracket);                 /* '}' or ']' */
void json_put_integer(struct json_writer *json, const char *key, int64_t value);
void json_put_count(struct json_writer *json, const char *key, uint64_t value);
void json_put_bool(struct json_writer *json, const char *key, bool value);
void json_put_null(struct json_writer *json, const char *key);
/* A finite number, with as many digits as are needed to read the same number back, and always with
 * a point or an exponent, to distinguish it from an integer. */
void json_put_real(struct json_writer *json, const char *key, double value);
void json_put_string(struct json_writer *json, const char *key, const char *text);
void json_put_bytes(struct json_writer *json, const char *key, const char *bytes, size_t size);
/* Members whose keys come from the input. */
void json_put_input_pair(struct json_writer *json, const char *key, size_t key_size,
                         const char *bytes, size_t size);
void json_put_input_count(struct json_writer *json, const char *key, size_t key_size,
                          uint64_t value);

/* Text that may hold lone surrogates (UTF8_ALLOW_SURROGATES of render/core/escape.h). */
void json_put_text(struct json_writer *json, const char *key, struct text text);
/* The same as a key. The value must follow, with a NULL key. */
void json_put_text_key(struct json_writer *json, struct text text);
/* A string that the caller writes to json->out between the two calls. Nothing in it may need
 * escaping. */
void json_string_begin(struct json_writer *json, const char *key);
void json_string_end(struct json_writer *json);

/* Names and stacks of a capture in JSON. The same names can occur in any number of frames, and the
 * same stack in any number of rows, so without a limit a small file could produce an unbounded
 * output. */
#define JSON_NAME_MOST ((size_t)4096)

/* Cuts names beyond JSON_NAME_MOST bytes and adds "...". */
void json_put_name(struct json_writer *json, const char *key, struct text name);
/* [{"file", "line", "name"}...], innermost first. */
void json_put_frames(struct json_writer *json, const char *key, const struct symbols *symbols,
                     stack_id id);

#endif
