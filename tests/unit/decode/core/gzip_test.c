#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/core/gzip.h"
#include "unit/decode/core/core.h"

/* Reads all of a memory source into `out`; false with the error. */
static bool read_all(const void *bytes, size_t size, struct buffer *out, struct error *err)
{
    struct budget budget = {.limit = (size_t)1 << 20};
    struct source source;
    bool ok;
    if (!source_open_memory(&source, bytes, size, &budget, err))
        return false;
    while ((ok = source_fill(&source, 1, err)) && source.pos < source.end) {
        check_padding(&source);
        buffer_add(out, (const char *)source.pos, (size_t)(source.end - source.pos));
        source.pos = source.end;
    }
    check_padding(&source); /* also after a failure: bytes before it may still be looked at */
    if (ok)
        ck_assert_uint_eq(source_offset(&source), out->size);
    source_close(&source);
    ck_assert_uint_eq(budget.used, 0);
    return ok;
}

START_TEST(gzip_members_and_padding)
{
    struct buffer packed = BUFFER_INIT, read = BUFFER_INIT;
    struct error err = {0};
    size_t size = 400 * 1000;
    uint8_t *bytes = pattern(size);
    add_member(&packed, bytes, 100);
    add_member(&packed, "", 0);
    add_member(&packed, bytes + 100, size - 100);
    ck_assert_msg(read_all(packed.bytes, packed.size, &read, &err), "%s", err.text);
    ck_assert_uint_eq(read.size, size);
    ck_assert_mem_eq(read.bytes, bytes, size);
    for (int i = 0; i < 1000; i++)
        buffer_putc(&packed, '\0');
    buffer_clear(&read);
    ck_assert(read_all(packed.bytes, packed.size, &read, &err));
    ck_assert_uint_eq(read.size, size);
    buffer_release(&packed);
    buffer_release(&read);
    free(bytes);
}
END_TEST

START_TEST(gzip_ends_too_early)
{
    struct buffer packed = BUFFER_INIT, read = BUFFER_INIT;
    uint8_t *bytes = pattern(1000);
    char expected[64];
    add_member(&packed, bytes, 1000);
    for (size_t size = 2; size < packed.size; size++) {
        struct error err = {0};
        ck_assert(!read_all(packed.bytes, size, &read, &err));
        ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
        snprintf(expected, sizeof(expected), "cut short at compressed byte %zu", size);
        ck_assert_msg(strstr(err.text, expected) != NULL, "%s", err.text);
    }
    buffer_release(&packed);
    buffer_release(&read);
    free(bytes);
}
END_TEST

START_TEST(gzip_damage_is_noticed)
{
    struct buffer packed = BUFFER_INIT, read = BUFFER_INIT;
    struct error err = {0};
    add_member(&packed, "hello", 5);
    size_t size = packed.size;
    packed.bytes[size - 8] ^= 1; /* the check sum */
    ck_assert(!read_all(packed.bytes, size, &read, &err));
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "incorrect data check") != NULL, "%s", err.text);
    packed.bytes[size - 8] ^= 1;

    char expected[64];
    snprintf(expected, sizeof(expected), "garbage after the gzip data, at compressed byte %zu",
             size + 2);
    buffer_add(&packed, "\0\0x", 3);
    ck_assert(!read_all(packed.bytes, packed.size, &read, &err));
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    ck_assert_str_eq(err.text, expected);
    buffer_release(&packed);
    buffer_release(&read);
}
END_TEST

START_TEST(gzip_takes_bounded_memory)
{
    struct buffer packed = BUFFER_INIT;
    size_t size = (size_t)32 << 20;
    uint8_t *zeros = calloc(1, size);
    struct budget budget = {.limit = (size_t)400 << 10};
    struct error err;
    struct source source;
    uint64_t total = 0;
    ck_assert_ptr_nonnull(zeros);
    add_member(&packed, zeros, size);
    free(zeros);
    ck_assert(source_open_memory(&source, packed.bytes, packed.size, &budget, &err));
    ck_assert_int_eq(source.compression, COMPRESSION_GZIP);
    while (source_fill(&source, 1, &err) && source.pos < source.end) {
        total += (uint64_t)(source.end - source.pos);
        source.pos = source.end;
    }
    ck_assert_uint_eq(total, size);
    ck_assert_uint_eq(source_bytes_read(&source), packed.size);
    ck_assert_uint_eq(source_total_bytes(&source), packed.size);
    source_close(&source);
    buffer_release(&packed);
}
END_TEST

/* Inflates all of it under the limits. `*total` is the number of bytes before the end or the error.
 */
static bool inflate_within(const struct buffer *packed, struct gzip_limits limits, uint64_t *total,
                           struct error *err)
{
    static uint8_t bytes[4096];
    struct budget budget = {.limit = (size_t)1 << 20};
    const uint8_t *head = (const uint8_t *)packed->bytes;
    size_t got = 1, begun = packed->size < 10 ? packed->size : 10;
    struct source_stream *inner =
        source_stream_memory(head + begun, packed->size - begun, &budget, err);
    struct source_stream *stream = gzip_stream(inner, head, begun, limits, &budget, err);
    bool ok = true;
    *total = 0;
    while (ok && got > 0) {
        ok = stream->read(stream, bytes, sizeof(bytes), &got, err);
        *total += ok ? got : 0;
    }
    stream->close(stream);
    ck_assert_uint_eq(budget.used, 0);
    return ok;
}

START_TEST(gzip_ratio_is_bounded)
{
    struct buffer packed = BUFFER_INIT;
    struct error err = {0};
    size_t size = 1000 * 1000;
    uint8_t *zeros = calloc(1, size);
    uint64_t total;
    ck_assert_ptr_nonnull(zeros);
    add_member(&packed, zeros, size); /* about 1000 bytes */
    ck_assert(inflate_within(&packed, (struct gzip_limits){size, 100}, &total, &err));
    ck_assert_uint_eq(total, size);
    ck_assert(inflate_within(&packed, (struct gzip_limits){1024, 1032}, &total, &err));
    ck_assert(!inflate_within(&packed, (struct gzip_limits){512 * 1024, 100}, &total, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_msg(strstr(err.text, "inflates to over 512.00 KiB and 100 times its size, at "
                                   "compressed byte ") != NULL,
                  "%s", err.text);
    ck_assert_uint_le(total, 512 * 1024);
    ck_assert_uint_gt(total, 512 * 1024 - 4096);
    ck_assert_uint_eq(gzip_default_limits.free_bytes, UINT64_C(1) << 30);
    ck_assert_uint_eq(gzip_default_limits.max_ratio, 256);
    free(zeros);
    buffer_release(&packed);
}
END_TEST

TCase *gzip_tests(void)
{
    TCase *gzip = tcase_create("gzip");
    tcase_add_test(gzip, gzip_members_and_padding);
    tcase_add_test(gzip, gzip_ends_too_early);
    tcase_add_test(gzip, gzip_damage_is_noticed);
    tcase_add_test(gzip, gzip_takes_bounded_memory);
    tcase_add_test(gzip, gzip_ratio_is_bounded);
    return gzip;
}
