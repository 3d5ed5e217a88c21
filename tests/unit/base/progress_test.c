#include "base/progress.h"

#include <unistd.h>

#include "unit/base/base.h"

START_TEST(nothing_is_shown_but_on_a_terminal)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    struct progress progress;
    progress_begin(&progress, ends[1]);
    ck_assert(!progress.enabled);
    for (uint64_t done = 0; done < 1000; done++)
        progress_update(&progress, done, 1000);
    progress_end(&progress);
    close(ends[1]);
    char byte;
    ck_assert_int_eq(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}
END_TEST

/* The start is set back in time instead of waiting; a pipe replaces the terminal. */
START_TEST(the_line_is_wiped_at_the_end)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    struct progress progress;
    progress_begin(&progress, ends[1]);
    progress.enabled = true;
    progress.started_ns = -INT64_C(10000000000);
    progress_update(&progress, 500, 1000);
    ck_assert(progress.shown);
    progress_end(&progress);
    ck_assert(!progress.shown);
    close(ends[1]);
    char bytes[400];
    ssize_t size = read(ends[0], bytes, sizeof(bytes));
    ck_assert_int_gt(size, 2);
    ck_assert_int_eq(bytes[0], '\r');
    ck_assert_int_eq(bytes[size - 1], '\r');
    ck_assert_int_eq(bytes[size - 2], ' ');
    close(ends[0]);
}
END_TEST

TCase *progress_tests(void)
{
    TCase *tests = tcase_create("progress");
    tcase_add_test(tests, nothing_is_shown_but_on_a_terminal);
    tcase_add_test(tests, the_line_is_wiped_at_the_end);
    return tests;
}
