/* The tokenizer's innermost loops, which find the end of strings and numbers. Internal to
 * decode/json. */
#ifndef MEMSNAP_DECODE_JSON_SCAN_H
#define MEMSNAP_DECODE_JSON_SCAN_H

#include <endian.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/ascii.h"
#include "decode/json/reader.h"

/* The first byte at or after `p` that is not plain ASCII in a string: a quote, a backslash, a
 * control character (including the padding) or a byte above 127. */
#ifdef __SSE2__
static inline const uint8_t *json_scan_plain(const uint8_t *p)
{
    for (;; p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)p);
        __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                   _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
        /* as signed numbers, control characters and bytes above 127 are below 0x20 */
        hit = _mm_or_si128(hit, _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)));
        int bits = _mm_movemask_epi8(hit);
        if (bits != 0)
            return p + __builtin_ctz((unsigned)bits);
    }
}
#else
#define JSON_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline const uint8_t *json_scan_plain(const uint8_t *p)
{
    for (;; p += 8) {
        uint64_t word, quote, backslash, hit;

        memcpy(&word, p, 8);
        word = le64toh(word);
        quote = word ^ JSON_EACH_BYTE('"');
        backslash = word ^ JSON_EACH_BYTE('\\');
        /* the high bit of the first byte that is below 0x20, equal to either, or above 0x7f; bits
         * of later bytes may be wrong */
        hit = ((word - JSON_EACH_BYTE(0x20)) & ~word) | ((quote - JSON_EACH_BYTE(1)) & ~quote) |
              ((backslash - JSON_EACH_BYTE(1)) & ~backslash) | word;
        hit &= JSON_EACH_BYTE(0x80);
        if (hit != 0)
            return p + __builtin_ctzll(hit) / 8;
    }
}
#endif

/* The source stands on an opening quote. With `size`: finds the closing quote without moving the
 * source, and makes the whole token of `*size` bytes, including quotes, available in its buffer;
 * `*plain` is true if it has no escapes. Without `size`: consumes the token. */
bool json_scan_string(struct source *source, size_t *size, bool *plain, struct error *err);

/* Replaces the contents of `out` by the decoded string of a token with escapes; `token` includes
 * the quotes. False if an escape is invalid or memory runs out. */
bool json_unescape(const char *token, size_t size, struct buffer *out);

#endif
