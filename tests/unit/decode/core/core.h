/* Shared by the test cases of this room. */
#ifndef MEMSNAP_TESTS_UNIT_DECODE_CORE_CORE_H
#define MEMSNAP_TESTS_UNIT_DECODE_CORE_CORE_H

#include <stdint.h>

#include "base/buffer.h"
#include "decode/core/source.h"
#include "unit/unit.h"

#define PLENTY ((size_t)64 << 20)

/* Bytes whose position follows from their neighbours; the caller frees them. */
uint8_t *pattern(size_t size);
void check_padding(const struct source *source);
/* Adds a gzip member that holds the bytes. */
void add_member(struct buffer *out, const void *bytes, size_t size);

TCase *source_tests(void);
TCase *gzip_tests(void);
TCase *readahead_tests(void);

#endif
