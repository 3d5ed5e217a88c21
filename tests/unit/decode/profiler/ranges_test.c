/* Ranges of random files, in any order, against a sorted list. */
#include <check.h>
#include <stdlib.h>

#include "decode/profiler/range_bytes.h"
#include "unit/decode/profiler/profiler.h"

#define PLENTY  ((size_t)1 << 22)
#define COUNT   3000
#define THREADS 3

struct given {
    struct profile_range range;
    unsigned thread;
};

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static int by_thread_and_start(const void *a, const void *b)
{
    const struct given *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->range.start_ns != y->range.start_ns)
        return x->range.start_ns < y->range.start_ns ? -1 : 1;
    return (x->range.duration_ns < y->range.duration_ns) -
           (x->range.duration_ns > y->range.duration_ns);
}

/* Labels tell the ranges apart. If `step` is 0 they are in any order, otherwise in that many runs.
 */
static void fill(struct given *given, uint32_t step, uint32_t *seed)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t at = step == 0 ? next_random(seed) % COUNT : i * step % COUNT;
        given[i].thread = next_random(seed) % THREADS;
        given[i].range = (struct profile_range){
            .start_ns = ((int64_t)at - COUNT / 2) * (step == 2 ? INT64_C(1) << 50 : 7),
            .duration_ns = step == 3 ? 0 : next_random(seed) % 100,
            .label = {.name = i, .calls = i % 5, .from = i % 7, .kind = (uint8_t)(i % 5)},
            .sequence = i % 3 == 0 ? next_random(seed) * 200 : 0};
    }
}

static void check_cursors(const struct ranges *ranges, struct given *given)
{
    uint32_t at = 0;
    qsort(given, COUNT, sizeof(*given), by_thread_and_start);
    for (unsigned thread = 0; thread < THREADS; thread++) {
        struct range_cursor cursor = range_cursor_begin(ranges, thread);
        for (; cursor.more; range_cursor_step(&cursor), at++) {
            const struct profile_range *range = &cursor.range;
            ck_assert_uint_eq(given[at].thread, thread);
            ck_assert_uint_eq(cursor.number, at);
            ck_assert_int_eq(range->start_ns, given[at].range.start_ns);
            ck_assert_int_eq(range->duration_ns, given[at].range.duration_ns);
            ck_assert_uint_eq(range->label.calls, range->label.name % 5);
            ck_assert_uint_eq(range->label.from, range->label.name % 7);
            ck_assert_uint_eq(range->label.kind, range->label.name % 5);
            ck_assert_int_eq(range->sequence != 0, range->label.name % 3 == 0);
        }
    }
    ck_assert_uint_eq(at, COUNT);
}

START_TEST(random_order)
{
    static struct given given[COUNT];
    struct budget budget = {.limit = PLENTY};
    struct error err;
    uint32_t seed = 18;
    for (uint32_t step = 0; step < 40; step++) {
        struct ranges ranges;
        ranges_init(&ranges, &budget);
        fill(given, step, &seed);
        for (int i = 0; i < COUNT; i++)
            ck_assert(ranges_add(&ranges, given[i].thread, &given[i].range, &err));
        ck_assert_uint_eq(ranges.count, COUNT);
        ck_assert(ranges_finish(&ranges, &err));
        check_cursors(&ranges, given);
        ranges_release(&ranges);
        ck_assert_uint_eq(budget.used, 0);
    }
}
END_TEST

/* The names and sequence numbers stay with their times. */
START_TEST(sequence_numbers)
{
    static const uint32_t numbers[] = {0, 7, 0, UINT32_MAX, 1, 0, 2};
    struct budget budget = {.limit = PLENTY};
    struct ranges ranges;
    struct error err;
    ranges_init(&ranges, &budget);
    for (uint32_t i = 0; i < 7; i++) {
        struct profile_range range = {.start_ns = i % 2 ? 100 - (int64_t)i : i,
                                      .duration_ns = INT64_MAX,
                                      .label = {.name = i, .kind = RANGE_OPERATOR},
                                      .sequence = numbers[i]};
        ck_assert(ranges_add(&ranges, 1, &range, &err));
    }
    ck_assert(ranges_finish(&ranges, &err));
    struct range_cursor cursor = range_cursor_begin(&ranges, 0);
    ck_assert(!cursor.more);
    for (cursor = range_cursor_begin(&ranges, 1); cursor.more; range_cursor_step(&cursor)) {
        ck_assert_uint_eq(cursor.range.sequence, numbers[cursor.range.label.name]);
        ck_assert_int_eq(cursor.range.duration_ns, RANGE_LONGEST);
    }
    ck_assert(!range_cursor_begin(&ranges, 2).more);
    ranges_release(&ranges);
}
END_TEST

/* Numbers of every length, and differences across the whole range. */
START_TEST(numbers)
{
    static const uint64_t values[] = {
        0, 1, 127, 128, 16383, 16384, UINT64_C(1) << 44, INT64_MAX, UINT64_MAX - 1, UINT64_MAX};
    uint8_t bytes[10];
    for (size_t i = 0; i < 10; i++) {
        const uint8_t *at = bytes;
        const uint8_t *end = put_number(bytes, values[i]);
        ck_assert_uint_eq(take_number(&at), values[i]);
        ck_assert_ptr_eq(at, end);
        for (size_t j = 0; j < 10; j++) {
            put_difference(bytes, values[i], values[j]);
            at = bytes;
            ck_assert_uint_eq(values[j] + take_difference(&at), values[i]);
        }
    }
}
END_TEST

/* A sorted file takes few bytes, and little more memory where operators and functions alternate. */
START_TEST(few_bytes)
{
    struct budget budget = {.limit = PLENTY};
    struct ranges ranges;
    struct error err;
    ranges_init(&ranges, &budget);
    for (uint32_t i = 0; i < 100000; i++) {
        struct profile_range range = {.start_ns = (int64_t)(i / 2) * 3000 + (i % 2) * 20000,
                                      .duration_ns = 2000,
                                      .label = {.name = i % 100, .kind = RANGE_OPERATOR}};
        ck_assert(ranges_add(&ranges, 0, &range, &err));
    }
    ck_assert_uint_eq(ranges.run_count, 2);
    ck_assert_uint_le(ranges.runs[0].size + ranges.runs[1].size, 100000 * 6);
    ranges_release(&ranges);
}
END_TEST

TCase *profiler_ranges_tests(void)
{
    TCase *tests = tcase_create("ranges");
    tcase_add_test(tests, random_order);
    tcase_add_test(tests, sequence_numbers);
    tcase_add_test(tests, numbers);
    tcase_add_test(tests, few_bytes);
    return tests;
}
