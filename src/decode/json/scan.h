/* The tokenizer's innermost loops: where a string or a number ends. Internal to decode/json. */
#ifndef MEMSNAP_DECODE_JSON_SCAN_H
#define MEMSNAP_DECODE_JSON_SCAN_H

#include "decode/json/reader.h"

static inline bool json_is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* The source stands on an opening quote. With `size`: finds the closing one, leaves the source
 * where it is, and the whole token of `*size` bytes, quotes included, in its buffer; `*plain` tells
 * that it holds no escapes. Without: consumes the token as it goes. */
bool json_scan_string(struct source *source, size_t *size, bool *plain, struct error *err);

/* The first byte at or after `p` that is not plain ASCII inside a string: a quote, a backslash, a
 * control character (the padding) or above 127. */
const uint8_t *json_scan_plain(const uint8_t *p);

/* Replaces `out` by what a string token with escapes stands for, quotes included in `token`. */
bool json_unescape(const char *token, size_t size, struct buffer *out);

#endif
