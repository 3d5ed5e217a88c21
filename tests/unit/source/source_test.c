#include "decode/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buffer.h"
#include "unit/unit.h"

#define PLENTY ((size_t)64 << 20)

/* Bytes whose place can be told from their neighbours. */
static uint8_t *pattern(size_t size)
{
    uint8_t *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
    return bytes;
}

static void check_padding(const struct source *source)
{
    for (size_t i = 0; i < SOURCE_PAD; i++)
        ck_assert_uint_eq(source->end[i], 0);
}

static void add_member(struct buffer *out, const void *bytes, size_t size)
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
    if (ok)
        ck_assert_uint_eq(source_offset(&source), out->size);
    source_close(&source);
    ck_assert_uint_eq(budget.used, 0);
    return ok;
}

START_TEST(fill_keeps_what_was_not_read)
{
    size_t size = 3 * SOURCE_WINDOW + 17;
    uint8_t *bytes = pattern(size);
    struct budget budget = {.limit = PLENTY};
    struct error err;
    struct source source;
    ck_assert(source_open_memory(&source, bytes, size, &budget, &err));
    for (size_t at = 0; at < size;) {
        ck_assert(source_fill(&source, 1000, &err));
        size_t have = (size_t)(source.end - source.pos);
        ck_assert_uint_ge(have, size - at < 1000 ? size - at : 1000);
        ck_assert_uint_eq(source_offset(&source), at);
        ck_assert_mem_eq(source.pos, bytes + at, have);
        check_padding(&source);
        size_t step = have < 997 ? have : 997;
        source.pos += step;
        at += step;
    }
    ck_assert(source_fill(&source, 1, &err));
    ck_assert(source.at_eof && source.pos == source.end);
    ck_assert_uint_eq(source.capacity, SOURCE_WINDOW);
    ck_assert_uint_eq(source_bytes_read(&source), size);
    ck_assert_uint_eq(source_total_bytes(&source), size);
    source_close(&source);
    ck_assert_uint_eq(budget.used, 0);
    free(bytes);
}
END_TEST

START_TEST(buffer_grows_only_as_bytes_arrive)
{
    struct budget budget = {.limit = PLENTY};
    struct error err;
    struct source source;
    uint8_t *bytes = pattern((size_t)1 << 20);
    ck_assert(source_open_memory(&source, bytes, 1000, &budget, &err));
    ck_assert(source_fill(&source, (size_t)2 << 30, &err));
    ck_assert_uint_eq((size_t)(source.end - source.pos), 1000);
    ck_assert_uint_eq(source.capacity, SOURCE_WINDOW);
    source_close(&source);

    ck_assert(source_open_memory(&source, bytes, (size_t)1 << 20, &budget, &err));
    ck_assert(source_fill(&source, 700 * 1000, &err));
    ck_assert_uint_ge((size_t)(source.end - source.pos), 700 * 1000);
    ck_assert_mem_eq(source.pos, bytes, 700 * 1000);
    ck_assert_uint_eq(source.capacity, (size_t)1 << 20);
    check_padding(&source);
    source_close(&source);
    ck_assert_uint_eq(budget.used, 0);
    free(bytes);
}
END_TEST

START_TEST(growth_is_refused_by_the_budget)
{
    struct budget budget = {.limit = 300 * 1000};
    struct error err;
    struct source source;
    uint8_t *bytes = pattern((size_t)1 << 20);
    ck_assert(source_open_memory(&source, bytes, (size_t)1 << 20, &budget, &err));
    ck_assert(!source_fill(&source, 700 * 1000, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    source_close(&source);
    ck_assert_uint_eq(budget.used, 0);
    budget.limit = 1000;
    ck_assert(!source_open_memory(&source, bytes, 10, &budget, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_uint_eq(budget.used, 0);
    free(bytes);
}
END_TEST

START_TEST(directory_and_bad_descriptor_are_refused)
{
    struct budget budget = {.limit = PLENTY};
    struct error err = {0};
    struct source source;
    ck_assert(!source_open_fd(&source, open(".", O_RDONLY), &budget, &err));
    ck_assert_int_eq(err.status, STATUS_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "directory"));
    ck_assert(!source_open_fd(&source, -1, &budget, &err));
    ck_assert_int_eq(err.status, STATUS_IO);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(descriptor_is_closed)
{
    struct budget budget = {.limit = PLENTY};
    struct error err;
    struct source source;
    int fd = open("/dev/null", O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert(source_open_fd(&source, fd, &budget, &err));
    ck_assert(source.at_eof && source.pos == source.end);
    source_close(&source);
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
    fd = open("/dev/null", O_RDONLY);
    budget.limit = 0;
    ck_assert(!source_open_fd(&source, fd, &budget, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}
END_TEST

START_TEST(pipe_is_read_in_pieces)
{
    struct budget budget = {.limit = PLENTY};
    struct error err;
    struct source source;
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "a", 1), 1);
    ck_assert_int_eq(write(ends[1], "bc", 2), 2);
    ck_assert(source_open_fd(&source, ends[0], &budget, &err));
    ck_assert_int_eq(write(ends[1], "def", 3), 3);
    ck_assert(source_fill(&source, 6, &err));
    ck_assert_mem_eq(source.pos, "abcdef", 6);
    ck_assert_int_eq(close(ends[1]), 0);
    ck_assert(source_fill(&source, 7, &err));
    ck_assert_uint_eq((size_t)(source.end - source.pos), 6);
    ck_assert(source.at_eof);
    ck_assert_uint_eq(source_total_bytes(&source), 0);
    source_close(&source);
}
END_TEST

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

Suite *unit_suite(void)
{
    Suite *suite = suite_create("source");
    TCase *plain = tcase_create("plain");
    TCase *gzip = tcase_create("gzip");
    tcase_add_test(plain, fill_keeps_what_was_not_read);
    tcase_add_test(plain, buffer_grows_only_as_bytes_arrive);
    tcase_add_test(plain, growth_is_refused_by_the_budget);
    tcase_add_test(plain, directory_and_bad_descriptor_are_refused);
    tcase_add_test(plain, descriptor_is_closed);
    tcase_add_test(plain, pipe_is_read_in_pieces);
    tcase_add_test(gzip, gzip_members_and_padding);
    tcase_add_test(gzip, gzip_ends_too_early);
    tcase_add_test(gzip, gzip_damage_is_noticed);
    tcase_add_test(gzip, gzip_takes_bounded_memory);
    suite_add_tcase(suite, plain);
    suite_add_tcase(suite, gzip);
    return suite;
}
