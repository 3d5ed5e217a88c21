/* Formats values as Python prints them, and appends them to `out`. out->failed is set if memory
 * runs out. */
#ifndef MEMSNAP_DECODE_CORE_PYTEXT_H
#define MEMSNAP_DECODE_CORE_PYTEXT_H

#include "base/buffer.h"

/* repr() of a float: the shortest digits that give the same value again. */
void pytext_real(struct buffer *out, double value);

/* repr() of a str, as within a list: 'text'. Unlike Python's, it keeps every character from U+00A0
 * on unchanged. */
void pytext_quoted(struct buffer *out, const char *bytes, size_t size);

#endif
