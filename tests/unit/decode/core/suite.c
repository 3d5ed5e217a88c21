#include <stdlib.h>
#include <zlib.h>

#include "unit/decode/core/core.h"

uint8_t *pattern(size_t size)
{
    uint8_t *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
    return bytes;
}

void check_padding(const struct source *source)
{
    for (size_t i = 0; i < SOURCE_PAD; i++)
        ck_assert_uint_eq(source->end[i], 0);
}

void add_member(struct buffer *out, const void *bytes, size_t size)
{
    uint8_t packed[512];
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size};
    ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    int code;
    do {
        z.next_out = packed;
        z.avail_out = sizeof(packed);
        code = deflate(&z, Z_FINISH);
        buffer_add(out, (char *)packed, sizeof(packed) - z.avail_out);
    } while (code == Z_OK);
    ck_assert_int_eq(code, Z_STREAM_END);
    deflateEnd(&z);
}

Suite *unit_suite(void)
{
    Suite *suite = suite_create("source");
    suite_add_tcase(suite, source_tests());
    suite_add_tcase(suite, gzip_tests());
    suite_add_tcase(suite, readahead_tests());
    return suite;
}
