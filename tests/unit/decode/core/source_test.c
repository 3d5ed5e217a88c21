#define _GNU_SOURCE /* pipe2 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/decode/core/core.h"

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

START_TEST(write_only_pipe_is_refused)
{
    struct budget budget = {.limit = PLENTY};
    struct error err = {0};
    struct source source;
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert(!source_open_fd(&source, ends[1], &budget, &err)); /* rather than waited for */
    ck_assert_int_eq(err.status, STATUS_IO);
    ck_assert_uint_eq(budget.used, 0);
    close(ends[0]);
}
END_TEST

START_TEST(non_blocking_pipe_is_waited_for)
{
    struct budget budget = {.limit = PLENTY};
    struct error err = {0};
    struct source source;
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
    pid_t writer = fork();
    if (writer == 0) {
        usleep(50 * 1000);
        _exit(write(ends[1], "late", 4) != 4);
    }
    close(ends[1]);
    ck_assert(source_open_fd(&source, ends[0], &budget, &err));
    ck_assert(source_fill(&source, 100, &err));
    ck_assert_uint_eq((size_t)(source.end - source.pos), 4);
    source_close(&source);
    waitpid(writer, NULL, 0);
}
END_TEST

/* Writes UTF-16 of `count` times "e\u00e9\U0001f600", then a low and a high surrogate alone. */
static size_t put_utf16(uint8_t *bytes, size_t count, bool is_big_endian)
{
    static const uint16_t units[] = {'e', 0xe9, 0xd83d, 0xde00}, mark = 0xfeff;
    size_t size = 0;
    for (size_t i = 0; i < 4 * count + 3; i++) {
        uint16_t unit = i == 0               ? mark
                        : i <= 4 * count     ? units[(i - 1) % 4]
                        : i == 4 * count + 1 ? 0xde00
                                             : 0xd83d;
        bytes[size++] = (uint8_t)(is_big_endian ? unit >> 8 : unit);
        bytes[size++] = (uint8_t)(is_big_endian ? unit : unit >> 8);
    }
    return size;
}

START_TEST(utf_16_becomes_utf_8)
{
    static const char character[] = "e\xc3\xa9\xf0\x9f\x98\x80";
    static const char invalid[] = "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd";
    enum { COUNT = 30000, SIZE = sizeof(character) - 1 };
    uint8_t *bytes = malloc(8 * COUNT + 7);
    size_t size = put_utf16(bytes, COUNT, _i == 1);
    struct budget budget = {.limit = PLENTY};
    struct error err;
    struct source source;
    bytes[size++] = 'x'; /* half a unit */
    ck_assert(source_open_memory(&source, bytes, size, &budget, &err));
    for (size_t i = 0; i < COUNT; i++) {
        ck_assert(source_fill(&source, SIZE, &err));
        ck_assert_mem_eq(source.pos, character, SIZE);
        source.pos += SIZE;
    }
    ck_assert(source_fill(&source, 100, &err));
    ck_assert_uint_eq((size_t)(source.end - source.pos), sizeof(invalid) - 1);
    ck_assert_mem_eq(source.pos, invalid, sizeof(invalid) - 1);
    ck_assert_uint_eq(source_bytes_read(&source), size);
    source_close(&source);
    ck_assert_uint_eq(budget.used, 0);
    free(bytes);
}
END_TEST

TCase *source_tests(void)
{
    TCase *plain = tcase_create("plain");
    tcase_add_test(plain, fill_keeps_what_was_not_read);
    tcase_add_test(plain, buffer_grows_only_as_bytes_arrive);
    tcase_add_test(plain, growth_is_refused_by_the_budget);
    tcase_add_test(plain, directory_and_bad_descriptor_are_refused);
    tcase_add_test(plain, descriptor_is_closed);
    tcase_add_test(plain, pipe_is_read_in_pieces);
    tcase_add_test(plain, write_only_pipe_is_refused);
    tcase_add_test(plain, non_blocking_pipe_is_waited_for);
    tcase_add_loop_test(plain, utf_16_becomes_utf_8, 0, 2);
    return plain;
}
