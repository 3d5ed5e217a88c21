#include "base/background.h"

#include "unit/base/base.h"

struct job {
    pthread_t caller;
    bool on_thread, fails;
    int runs;
};

static bool work(void *self, struct error *err)
{
    struct job *job = self;
    job->runs++;
    job->on_thread = !pthread_equal(pthread_self(), job->caller);
    return !job->fails || error_set(err, STATUS_LIMIT, "it failed");
}

START_TEST(work_is_done_once)
{
    struct job job = {.caller = pthread_self()};
    struct background background;
    struct error err;
    bool wanted = _i == 1;
    background_begin(&background, work, &job, wanted);
    ck_assert(background_end(&background, true, &err));
    ck_assert_int_eq(job.runs, 1);
    ck_assert_int_eq(job.on_thread, wanted);
}
END_TEST

START_TEST(its_error_is_reported)
{
    struct job job = {.caller = pthread_self(), .fails = true};
    struct background background;
    struct error err = {0};
    background_begin(&background, work, &job, _i == 1);
    ck_assert(!background_end(&background, true, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_str_eq(err.text, "it failed");
}
END_TEST

/* After an error of the caller's own, which stays. */
START_TEST(what_is_not_needed_reports_nothing)
{
    struct job job = {.caller = pthread_self(), .fails = true};
    struct background background;
    struct error err = {.text = "the caller's"};
    background_begin(&background, work, &job, _i == 1);
    ck_assert(background_end(&background, false, &err));
    ck_assert_int_eq(job.runs, _i == 1);
    ck_assert_str_eq(err.text, "the caller's");
}
END_TEST

TCase *background_tests(void)
{
    TCase *tests = tcase_create("background");
    tcase_add_loop_test(tests, work_is_done_once, 0, 2);
    tcase_add_loop_test(tests, its_error_is_reported, 0, 2);
    tcase_add_loop_test(tests, what_is_not_needed_reports_nothing, 0, 2);
    return tests;
}
