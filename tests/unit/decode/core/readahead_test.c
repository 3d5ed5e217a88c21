#include "decode/core/readahead.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/core/source_stream.h"
#include "unit/decode/core/core.h"

#define BIG ((size_t)9 << 20)

/* The number of threads now: one more while a read-ahead thread is running. */
static size_t threads(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    if (!folder)
        return 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2; /* . and .. */
}

/* Waits for threads that were joined: the kernel lists a thread a little longer than it runs. */
static void expect_threads(size_t count)
{
    for (int i = 0; i < 1000 && threads() != count; i++)
        usleep(1000);
    ck_assert_uint_eq(threads(), count);
}

/* Reads to the end, or to the error, and compares with `bytes`. Returns the number of bytes read.
 */
static size_t read_like(struct source *source, const uint8_t *bytes, bool *ok, struct error *err)
{
    size_t at = 0;
    uint64_t told = 0;
    while ((*ok = source_fill(source, 1 + at % 5000, err)) && source->pos < source->end) {
        size_t have = (size_t)(source->end - source->pos);
        ck_assert_uint_eq(source_offset(source), at);
        ck_assert_mem_eq(source->pos, bytes + at, have);
        ck_assert_uint_ge(source_bytes_read(source), told);
        told = source_bytes_read(source);
        check_padding(source);
        source->pos = source->end;
        at += have;
    }
    return at;
}

START_TEST(everything_arrives_in_order)
{
    struct buffer packed = BUFFER_INIT;
    struct budget budget = {.limit = PLENTY};
    struct error err;
    struct source source;
    bool ok;
    uint8_t *bytes = pattern(BIG);
    add_member(&packed, bytes, BIG / 2 + 1);
    add_member(&packed, bytes + BIG / 2 + 1, BIG - BIG / 2 - 1);
    ck_assert(source_open_memory(&source, packed.bytes, packed.size, &budget, &err));
    ck_assert_uint_eq(read_like(&source, bytes, &ok, &err), BIG);
    ck_assert(ok && source.at_eof);
    ck_assert(source_fill(&source, 1, &err));
    ck_assert_uint_eq(source_bytes_read(&source), packed.size);
    ck_assert_uint_eq(source_total_bytes(&source), packed.size);
    source_close(&source);
    ck_assert_uint_eq(budget.used, 0);
    buffer_release(&packed);
    free(bytes);
}
END_TEST

START_TEST(error_comes_behind_the_bytes_before_it)
{
    struct buffer packed = BUFFER_INIT;
    struct budget budget = {.limit = PLENTY};
    struct error err = {0};
    struct source source;
    bool ok;
    uint8_t *bytes = pattern(BIG);
    add_member(&packed, bytes, BIG);
    packed.bytes[packed.size - 5] ^= 1; /* the check sum */
    ck_assert(source_open_memory(&source, packed.bytes, packed.size, &budget, &err));
    ck_assert_uint_ge(read_like(&source, bytes, &ok, &err), BIG - 3 * READAHEAD_SLOT);
    ck_assert(!ok);
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "incorrect data check") != NULL, "%s", err.text);
    memset(&err, 0, sizeof(err));
    ck_assert(!source_fill(&source, 1 << 20, &err)); /* and again */
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    source_close(&source);
    ck_assert_uint_eq(budget.used, 0);
    buffer_release(&packed);
    free(bytes);
}
END_TEST

START_TEST(runs_ahead_of_large_inputs_only)
{
    struct buffer packed = BUFFER_INIT;
    struct budget budget = {.limit = PLENTY};
    struct error err;
    struct source source;
    uint8_t *bytes = pattern(BIG);
    size_t before = threads();
    add_member(&packed, bytes, BIG);
    ck_assert(source_open_memory(&source, packed.bytes, packed.size, &budget, &err));
    while (source_offset(&source) < READAHEAD_AFTER - SOURCE_WINDOW) {
        ck_assert(source_fill(&source, 1, &err));
        expect_threads(before);
        source.pos = source.end;
    }
    while (source_offset(&source) < READAHEAD_AFTER + SOURCE_WINDOW) {
        ck_assert(source_fill(&source, 1, &err));
        source.pos = source.end;
    }
    expect_threads(before + 1);
    source_close(&source); /* while it waits for room */
    ck_assert_uint_eq(budget.used, 0);
    buffer_release(&packed);
    free(bytes);
}
END_TEST

START_TEST(reads_directly_where_there_is_no_memory_for_more)
{
    struct buffer packed = BUFFER_INIT;
    struct budget budget = {.limit = (size_t)400 << 10};
    struct error err;
    struct source source;
    bool ok;
    uint8_t *bytes = pattern(BIG);
    size_t before = threads();
    add_member(&packed, bytes, BIG);
    ck_assert(source_open_memory(&source, packed.bytes, packed.size, &budget, &err));
    ck_assert_uint_eq(read_like(&source, bytes, &ok, &err), BIG);
    ck_assert(ok);
    expect_threads(before);
    source_close(&source);
    ck_assert_uint_eq(budget.used, 0);
    buffer_release(&packed);
    free(bytes);
}
END_TEST

static int file_with(const uint8_t *bytes, size_t size)
{
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fflush(file), 0);
    int fd = dup(fileno(file));
    fclose(file);
    ck_assert_int_ge(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

/* Asks for a few bytes and for more than is read at once, and consumes only a part of them. */
START_TEST(plain_file_is_read_ahead_at_any_distance)
{
    static const size_t wanted[] = {
        1,         5000,       16 * 1024,  STREAM_ROOM + 1,   20,
        90 * 1000, 100 * 1000, 128 * 1024, SOURCE_WINDOW + 1, 300 * 1000};
    struct budget budget = {.limit = PLENTY};
    struct error err;
    struct source source;
    uint8_t *bytes = pattern(BIG);
    size_t before = threads(), most = before;
    ck_assert(source_open_fd(&source, file_with(bytes, BIG), &budget, &err));
    for (size_t at = 0, round = 0; at < BIG; round++) {
        size_t want = wanted[round % (sizeof(wanted) / sizeof(wanted[0]))];
        ck_assert(source_fill(&source, want, &err));
        size_t have = (size_t)(source.end - source.pos);
        ck_assert_uint_ge(have, BIG - at < want ? BIG - at : want);
        ck_assert_uint_eq(source_offset(&source), at);
        ck_assert_mem_eq(source.pos, bytes + at, have);
        check_padding(&source);
        size_t step = 1 + (want * 7919 + round) % have;
        source.pos += step;
        at += step;
        most = threads() > most ? threads() : most;
    }
    ck_assert(source_fill(&source, 1, &err));
    ck_assert(source.at_eof && source.pos == source.end);
    ck_assert_uint_eq(source_bytes_read(&source), BIG);
    ck_assert_uint_eq(most, before + 1);
    source_close(&source);
    expect_threads(before);
    ck_assert_uint_eq(budget.used, 0);
    free(bytes);
}
END_TEST

/* Replaces the descriptor by one that cannot be read from. */
START_TEST(error_of_a_file_comes_after_its_bytes)
{
    struct budget budget = {.limit = PLENTY};
    struct error err = {0};
    struct source source;
    uint8_t *bytes = pattern(BIG);
    int fd = file_with(bytes, BIG), ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert(source_open_fd(&source, fd, &budget, &err));
    while (source_offset(&source) < READAHEAD_AFTER - SOURCE_WINDOW) {
        ck_assert(source_fill(&source, 1, &err));
        source.pos = source.end;
    }
    ck_assert_int_eq(dup2(ends[1], fd), fd);
    bool ok = true;
    while (ok && !source.at_eof) {
        ok = source_fill(&source, 1, &err);
        source.pos = source.end;
    }
    ck_assert(!ok);
    ck_assert_int_eq(err.status, STATUS_IO);
    source_close(&source);
    close(ends[0]);
    close(ends[1]);
    ck_assert_uint_eq(budget.used, 0);
    free(bytes);
}
END_TEST

struct feed {
    const struct buffer *packed;
    int fd;
};

/* Writes most of the bytes, and keeps the pipe open. */
static void *feed_most(void *argument)
{
    const struct feed *feed = argument;
    size_t size = feed->packed->size - 100;
    for (size_t at = 0; at < size;) {
        ssize_t written = write(feed->fd, feed->packed->bytes + at, size - at);
        if (written <= 0)
            break;
        at += (size_t)written;
    }
    return NULL;
}

struct slow_input {
    struct buffer packed;
    struct budget budget;
    struct source source;
    uint8_t *bytes;
    pthread_t writer;
    struct feed feed;
};

/* Bytes already written are returned at once, although more could be waited for. */
static void open_slow_input(struct slow_input *input)
{
    struct error err;
    int ends[2];
    *input = (struct slow_input){.budget.limit = PLENTY, .bytes = pattern(BIG)};
    add_member(&input->packed, input->bytes, BIG);
    ck_assert_int_eq(pipe(ends), 0);
    input->feed = (struct feed){&input->packed, ends[1]};
    ck_assert_int_eq(pthread_create(&input->writer, NULL, feed_most, &input->feed), 0);
    ck_assert(source_open_fd(&input->source, ends[0], &input->budget, &err));
    while (source_offset(&input->source) < BIG - 100 * 1000) {
        ck_assert(source_fill(&input->source, 1, &err));
        ck_assert_mem_eq(input->source.pos, input->bytes + source_offset(&input->source),
                         (size_t)(input->source.end - input->source.pos));
        input->source.pos = input->source.end;
    }
    pthread_join(input->writer, NULL);
}

static void close_slow_input(struct slow_input *input)
{
    source_close(&input->source);
    ck_assert_uint_eq(input->budget.used, 0);
    buffer_release(&input->packed);
    free(input->bytes);
}

/* The writer never writes again. If the thread waited for it, the test would time out. */
START_TEST(closing_ends_a_read_that_waits)
{
    struct slow_input input;
    open_slow_input(&input);
    size_t before = threads();
    usleep(20 * 1000);
    close_slow_input(&input);
    expect_threads(before - 1);
    close(input.feed.fd);
}
END_TEST

START_TEST(writer_that_goes_away_is_noticed)
{
    struct slow_input input;
    struct error err;
    bool ok = true;
    open_slow_input(&input);
    close(input.feed.fd);
    while (ok && !input.source.at_eof) {
        input.source.pos = input.source.end;
        ok = source_fill(&input.source, 1, &err);
    }
    ck_assert(!ok);
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT); /* cut short */
    close_slow_input(&input);
}
END_TEST

TCase *readahead_tests(void)
{
    TCase *readahead = tcase_create("readahead");
    tcase_add_test(readahead, everything_arrives_in_order);
    tcase_add_test(readahead, error_comes_behind_the_bytes_before_it);
    tcase_add_test(readahead, runs_ahead_of_large_inputs_only);
    tcase_add_test(readahead, reads_directly_where_there_is_no_memory_for_more);
    tcase_add_test(readahead, plain_file_is_read_ahead_at_any_distance);
    tcase_add_test(readahead, error_of_a_file_comes_after_its_bytes);
    tcase_add_test(readahead, closing_ends_a_read_that_waits);
    tcase_add_test(readahead, writer_that_goes_away_is_noticed);
    return readahead;
}
