/* Conclusions from runs. */
#include "analysis/fit/summary.h"

#include "unit/analysis/analysis.h"

static struct fit *make(const struct fit_run *runs, size_t count, struct fit_summary *summary)
{
    struct error err;
    struct fit *fit = fit_create(1 << 20, &err);
    ck_assert_ptr_nonnull(fit);
    ck_assert(fit_add_gpu(fit, &(struct fit_gpu){.name = "t4", .memory_bytes = 16}, &err));
    for (size_t i = count; i-- > 0;)
        ck_assert(fit_add_run(fit, &fit->gpus[0], &runs[i], &err));
    fit_summarize(&fit->gpus[0], summary);
    return fit;
}

#define RUN(value_, result_, active_, reserved_)                                                   \
    {                                                                                              \
        .value = value_, .result = FIT_##result_, .has_peaks = true, .active_bytes = active_,      \
        .reserved_bytes = reserved_                                                                \
    }

START_TEST(monotone_runs)
{
    const struct fit_run runs[] = {RUN(1, FITS, 10, 12), RUN(2, FITS, 11, 12),
                                   RUN(3, OUT_OF_MEMORY, 9, 9), RUN(8, OUT_OF_MEMORY, 1, 1)};
    struct fit_summary summary;
    struct fit *fit = make(runs, 4, &summary);
    ck_assert_uint_eq(summary.largest->value, 2);
    ck_assert_uint_eq(summary.limit->value, 3);
    ck_assert_ptr_null(summary.fits_again.low);
    ck_assert_ptr_null(summary.active_falls.low);
    ck_assert_ptr_null(summary.reserved_falls.low);
    fit_destroy(fit);
}
END_TEST

START_TEST(runs_that_are_not_monotone)
{
    const struct fit_run runs[] = {RUN(1, FITS, 10, 12),        RUN(2, FITS, 11, 11),
                                   RUN(3, OUT_OF_MEMORY, 9, 9), RUN(4, FITS, 7, 14),
                                   RUN(5, OUT_OF_MEMORY, 9, 9), RUN(6, FITS, 8, 15)};
    struct fit_summary summary;
    struct fit *fit = make(runs, 6, &summary);
    ck_assert_uint_eq(summary.largest->value, 2);
    ck_assert_uint_eq(summary.limit->value, 3);
    ck_assert_uint_eq(summary.fits_again.low->value, 3);
    ck_assert_uint_eq(summary.fits_again.high->value, 6);
    ck_assert_uint_eq(summary.active_falls.low->value, 2);
    ck_assert_uint_eq(summary.active_falls.high->value, 4);
    ck_assert_uint_eq(summary.reserved_falls.high->value, 2);
    fit_destroy(fit);
}
END_TEST

START_TEST(only_larger_values_fit)
{
    const struct fit_run runs[] = {RUN(1, OUT_OF_MEMORY, 10, 12), RUN(2, FITS, 9, 9)};
    struct fit_summary summary;
    struct fit *fit = make(runs, 2, &summary);
    ck_assert_ptr_null(summary.largest);
    ck_assert_uint_eq(summary.limit->value, 1);
    ck_assert_uint_eq(summary.fits_again.high->value, 2);
    fit_destroy(fit);
}
END_TEST

START_TEST(nothing_fits)
{
    const struct fit_run runs[] = {RUN(1, OUT_OF_MEMORY, 10, 12)};
    struct fit_summary summary;
    struct fit *fit = make(runs, 1, &summary);
    ck_assert_ptr_null(summary.largest);
    ck_assert_uint_eq(summary.limit->value, 1);
    fit_destroy(fit);
}
END_TEST

TCase *fit_summary_tests(void)
{
    TCase *tests = tcase_create("fit_summary");
    tcase_add_test(tests, monotone_runs);
    tcase_add_test(tests, runs_that_are_not_monotone);
    tcase_add_test(tests, only_larger_values_fit);
    tcase_add_test(tests, nothing_fits);
    return tests;
}
