/* The tokenizer's innermost loops, which find the end of strings and numbers. Internal to
 * decode/json. */
#ifndef MEMSNAP_DECODE_JSON_SCAN_H
#define MEMSNAP_DECODE_JSON_SCAN_H

#include "decode/json/reader.h"

static inline bool json_is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* The source stands on an opening quote. With `size`: finds the closing quote without moving the
 * source, and makes the whole token of `*size` bytes, including quotes, available in its buffer;
 * `*plain` is true if it has no escapes. Without `size`: consumes the token. */
bool json_scan_string(struct source *source, size_t *size, bool *plain, struct error *err);

/* Replaces `out` by the decoded string of a token with escapes; `token` includes the quotes. */
bool json_unescape(const char *token, size_t size, struct buffer *out);

#endif
