/* The search for the largest value that fits, on made-up programs. */
#include "analysis/fit/search.h"

#include <stdio.h>
#include <string.h>

#include "unit/analysis/analysis.h"

#define GIB ((uint64_t)1 << 30)

/* Peaks of a program as a function of the value. */
struct program {
    double fixed, each, square; /* bytes of active memory: fixed + each v + square v^2 */
    double cached;              /* reserved is this times active, while there is room */
};

static uint64_t active_of(const struct program *program, uint64_t value)
{
    double v = (double)value;
    return (uint64_t)(program->fixed + program->each * v + program->square * v * v);
}

static bool run(const struct program *program, uint64_t value, uint64_t available,
                struct fit_peaks *peaks)
{
    peaks->active = active_of(program, value);
    peaks->reserved = (uint64_t)((double)peaks->active * program->cached);
    if (peaks->reserved > available)
        peaks->reserved = available;
    return peaks->active <= available;
}

static struct fit_values values_of(const char *text)
{
    struct fit_values values;
    struct error err;
    ck_assert_msg(fit_values_parse(text, &values, &err), "%s", err.text);
    return values;
}

/* Runs the search to its end. Returns the number of runs. */
static unsigned search_all(struct fit_search *search, const struct program *program)
{
    unsigned runs = 0;
    size_t index;
    struct fit_peaks peaks;
    while (fit_search_next(search, &index)) {
        bool fits =
            run(program, fit_value(search->values, index), (uint64_t)search->available, &peaks);
        fit_search_tell(search, index, fits, peaks);
        ck_assert_uint_lt(++runs, 200);
    }
    return runs;
}

/* The result must be the exact one; returns the number of runs. */
static unsigned check(const char *text, const struct program *program, uint64_t available)
{
    struct fit_values values = values_of(text);
    struct fit_search search;
    struct fit_peaks peaks;
    fit_search_begin(&search, &values, available);
    unsigned runs = search_all(&search, program);
    int64_t largest = -1;
    for (size_t i = 0; i < values.count && i < 100000; i++)
        if (run(program, fit_value(&values, i), available, &peaks))
            largest = (int64_t)i;
    ck_assert_int_eq(search.fits, largest);
    ck_assert_int_eq(search.fails, largest + 1);
    return runs;
}

START_TEST(linear_memory_takes_few_runs)
{
    const struct program program = {.fixed = 2e9, .each = 180e6, .cached = 1.02};
    ck_assert_uint_le(check("BATCH=1..1024", &program, 79 * GIB), 6);
    ck_assert_uint_le(check("BATCH=1..1024", &program, 15 * GIB), 6);
}
END_TEST

START_TEST(quadratic_memory_is_found)
{
    const struct program program = {.fixed = 2e9, .each = 1e5, .square = 100, .cached = 1.1};
    ck_assert_uint_le(check("SEQ=128..65536+128", &program, 79 * GIB), 16);
}
END_TEST

START_TEST(cached_memory_that_can_be_released_is_not_the_limit)
{
    const struct program program = {.fixed = 2e9, .each = 180e6, .cached = 1.7};
    ck_assert_uint_le(check("BATCH=1..1024", &program, 79 * GIB), 16);
}
END_TEST

START_TEST(ends_of_the_range)
{
    const struct program small = {.fixed = 1e6, .each = 1, .cached = 1};
    const struct program large = {.fixed = 1e12, .each = 1, .cached = 1};
    ck_assert_uint_le(check("BATCH=1..1024", &small, GIB), 2);
    ck_assert_uint_eq(check("BATCH=1..1024", &large, GIB), 1);
    ck_assert_uint_eq(check("BATCH=7..7", &small, GIB), 1);
}
END_TEST

/* Any program whose memory grows: the result is exact, and the runs are bounded. */
START_TEST(random_programs)
{
    srand(20);
    for (unsigned i = 0; i < unit_share(3000); i++) {
        const struct program program = {.fixed = rand() % 1000 * 1e7,
                                        .each = rand() % 1000 * 1e5,
                                        .square = rand() % 3 == 0 ? rand() % 100 * 1e3 : 0,
                                        .cached = 1 + rand() % 100 / 100.0};
        char text[60];
        snprintf(text, sizeof(text), "B=%d..%d+%d", rand() % 10, 10 + rand() % 5000,
                 1 + rand() % 9);
        ck_assert_uint_le(check(text, &program, (uint64_t)(1 + rand() % 100) * GIB), 40);
    }
}
END_TEST

START_TEST(peaks_of_another_gpu_save_runs)
{
    const struct program program = {.fixed = 2e9, .each = 180e6, .cached = 1.02};
    struct fit_values values = values_of("BATCH=1..1024");
    struct fit_search search;
    struct fit_peaks peaks;
    fit_search_begin(&search, &values, 15 * GIB);
    for (uint64_t value = 1; value < 512; value += 200)
        if (run(&program, value, 79 * GIB, &peaks))
            fit_search_hint(&search, value, peaks);
    ck_assert_uint_le(search_all(&search, &program), 4);
    ck_assert(active_of(&program, fit_value(&values, (size_t)search.fits)) <= 15 * GIB);
    ck_assert(active_of(&program, fit_value(&values, (size_t)search.fails)) > 15 * GIB);
}
END_TEST

START_TEST(every_value_of_a_list_is_tried)
{
    const struct program program = {.each = 1e9, .cached = 1};
    struct fit_values values = values_of("BATCH=8,16,32,64");
    struct fit_search search;
    fit_search_begin(&search, &values, 20 * GIB);
    ck_assert_uint_eq(search_all(&search, &program), 4);
    ck_assert_int_eq(search.fits, 1);
    ck_assert_int_eq(search.fails, 2);
}
END_TEST

/* Searches values of which each needs 10 bytes, and returns the number of runs. */
static unsigned search_flags(struct fit_search *search, const bool *fits)
{
    unsigned runs = 0;
    uint64_t tried = 0;
    size_t index;
    while (fit_search_next(search, &index)) {
        uint64_t bytes = 10 * fit_value(search->values, index);
        ck_assert_uint_eq(tried >> index & 1, 0);
        tried |= UINT64_C(1) << index;
        fit_search_tell(search, index, fits[index], (struct fit_peaks){bytes, bytes});
        runs++;
    }
    return runs;
}

/* 1, 14 and 13 are tried, and then down to 10; active memory would fit up to 14. */
START_TEST(values_beyond_the_limit_are_tried_if_active_memory_fits)
{
    static const bool fits[20] = {true, true, true, true, true, true, true, true, true, true};
    struct fit_values values = values_of("B=1..20");
    struct fit_search search;
    fit_search_begin(&search, &values, 145);
    unsigned runs = search_flags(&search, fits);
    ck_assert_int_eq(search.fits, 9);
    ck_assert_int_eq(search.fails, 10);
    for (int64_t beyond = 11; beyond <= 13; beyond++) {
        bool is_tried = false;
        for (size_t i = 0; i < runs; i++)
            is_tried = is_tried || search.told[i] == beyond;
        ck_assert(is_tried);
    }
    fit_search_begin(&search, &values, 105);
    search_flags(&search, fits);
    ck_assert_int_eq(search.fits, 9);
    for (size_t i = 0; i < search.told_count; i++)
        ck_assert_int_le(search.told[i], 10);
}
END_TEST

/* Runs in parallel may end in any order. */
START_TEST(a_lower_limit_found_late)
{
    struct fit_values values = values_of("B=1..100");
    struct fit_search search;
    fit_search_begin(&search, &values, 1000);
    fit_search_tell(&search, 9, true, (struct fit_peaks){100, 100});
    fit_search_tell(&search, 59, true, (struct fit_peaks){600, 600});
    fit_search_tell(&search, 49, false, (struct fit_peaks){0, 0});
    ck_assert_int_eq(search.fits, 9);
    ck_assert_int_eq(search.fails, 49);
}
END_TEST

static const struct {
    const char *text;
    size_t count;
    uint64_t last;
} good[] = {
    {"BATCH=1..1024", 1024, 1024}, {"b_2=8..100+8", 12, 96}, {"B=1..1000*2", 10, 512},
    {"B=3,5,80", 3, 80},           {"B=0..0", 1, 0},         {"B=4", 1, 4},
};

static const char *const bad[] = {
    "",         "BATCH",
    "=1..2",    "2B=1..2",
    "B=",       "B=1..",
    "B=..2",    "B=2..1",
    "B=1...2",  "B=1..2+0",
    "B=1..8*1", "B=0..8*2",
    "B=1..8+",  "B=8,4",
    "B=1,,2",   "B=1,2,",
    "B=4,4",    "B=-1..4",
    "B=1..4 ",  "B=1..4x2",
    "B=1.5",    "B=1..99999999999999999999",
};

START_TEST(values_are_parsed)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct fit_values values = values_of(good[i].text);
        ck_assert_uint_eq(values.count, good[i].count);
        ck_assert_uint_eq(fit_value(&values, values.count - 1), good[i].last);
        ck_assert_str_eq(values.text, strchr(good[i].text, '=') + 1);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct fit_values values;
        struct error err;
        ck_assert_msg(!fit_values_parse(bad[i], &values, &err), "%s", bad[i]);
        ck_assert_int_eq(err.status, STATUS_USAGE);
    }
}
END_TEST

TCase *fit_search_tests(void)
{
    TCase *tests = tcase_create("fit_search");
    tcase_add_test(tests, linear_memory_takes_few_runs);
    tcase_add_test(tests, quadratic_memory_is_found);
    tcase_add_test(tests, cached_memory_that_can_be_released_is_not_the_limit);
    tcase_add_test(tests, ends_of_the_range);
    tcase_add_test(tests, random_programs);
    tcase_add_test(tests, peaks_of_another_gpu_save_runs);
    tcase_add_test(tests, every_value_of_a_list_is_tried);
    tcase_add_test(tests, values_beyond_the_limit_are_tried_if_active_memory_fits);
    tcase_add_test(tests, a_lower_limit_found_late);
    tcase_add_test(tests, values_are_parsed);
    return tests;
}
