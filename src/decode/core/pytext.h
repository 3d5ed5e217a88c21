/* Formats values as Python prints them, and appends them to `out`. out->failed is set if memory
 * runs out. */
#ifndef MEMSNAP_DECODE_CORE_PYTEXT_H
#define MEMSNAP_DECODE_CORE_PYTEXT_H

#include <stdint.h>

#include "base/buffer.h"

/* repr() of a float: the shortest digits that give the same value again. */
void pytext_real(struct buffer *out, double value);

/* repr() of a str, as within a list: 'text'. Unlike Python's, it keeps every character from U+00A0
 * on unchanged. */
void pytext_quoted(struct buffer *out, const char *bytes, size_t size);

/* repr() of a bytes object: b'text'. */
void pytext_bytes(struct buffer *out, const uint8_t *bytes, size_t size);

/* An int of `size` bytes of little-endian two's complement, in decimal. Returns false, and appends
 * nothing, beyond PYTEXT_INT_BYTES. */
#define PYTEXT_INT_BYTES 128
bool pytext_int(struct buffer *out, const uint8_t *bytes, size_t size);

/* The limits of a value that stands in a field of text. */
#define PYTEXT_CLIP_BYTES  1024 /* of the text without the dots; of each string within */
#define PYTEXT_CLIP_LEVELS 16   /* of containers; deeper items become "..." */

/* Cuts the text after PYTEXT_CLIP_BYTES at most, and not within a character. Returns true if
 * anything was cut. */
bool pytext_clip(struct buffer *out);

#endif
