/* Caches of keys and values that grow with their sequences, and those of requests that are done. */
#include <stdio.h>
#include <string.h>

#include "analysis/growth/growth.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_report.h"

#define PACKAGES "/venv/lib/python3.12/site-packages/"
#define UPDATE                                                                                     \
    CPP("at::_ops::cat::call(x)")                                                                  \
    "," PY("update", PACKAGES "transformers/cache_utils.py",                                       \
           136) "," PY("forward", "/home/u/net.py", 7) "," CALL "," SCRIPT

enum { REQUESTS = 5, TOKENS = 4, CACHE = 1000 };

static uint64_t address(unsigned request, unsigned token)
{
    return 10000 + 100 * (uint64_t)request + token;
}

static uint64_t size(unsigned token)
{
    return CACHE + 10 * (uint64_t)token;
}

/* A pass for each token, which replaces the cache of its request by a larger one. A request begins
 * when the program has dropped the cache of the one before, or keeps it. */
static bool stores_scores; /* each pass, of 50 bytes, in a list */

#define SCORES CPP("at::_ops::_to_copy::call(x)") "," PY("sample", "/home/u/serve.py", 5) "," SCRIPT

static const struct growth *generate(unsigned requests, bool keeps)
{
    for (unsigned pass = 0; pass < requests * TOKENS; pass++) {
        unsigned request = pass / TOKENS, token = pass % TOKENS;
        char name[32];
        snprintf(name, sizeof(name), "ProfilerStep#%u", pass);
        capture.time_us++;
        capture_annotate(&capture, "START", name, 0);
        if (token == 0 && request > 0 && !keeps)
            capture_free(&capture, address(request - 1, TOKENS - 1), size(TOKENS - 1), SCRIPT);
        capture_event(&capture, "alloc", address(request, token), size(token), UPDATE);
        if (token > 0)
            capture_free(&capture, address(request, token - 1), size(token - 1), UPDATE);
        if (stores_scores)
            capture_alloc(&capture, 50, SCORES);
        capture.time_us++;
        capture_annotate(&capture, "END", name, 0);
    }
    make_report(0);
    return &report->growth;
}

enum { DRAFTED = 3, ROUNDS = 4, FIRST_OF_TARGET = 50 };

/* Makes the cache of a model longer by a token. */
static void extend(unsigned request, unsigned first, unsigned token)
{
    capture_event(&capture, "alloc", address(request, first + token), size(token), UPDATE);
    if (token > 0)
        capture_free(&capture, address(request, first + token - 1), size(token - 1), UPDATE);
}

/* A small model drafts tokens, and a large one checks them in one pass, whose cache stays as it is
 * meanwhile. */
static const struct growth *speculate(bool keeps)
{
    for (unsigned pass = 0; pass < REQUESTS * ROUNDS * DRAFTED; pass++) {
        unsigned request = pass / (ROUNDS * DRAFTED), token = pass % (ROUNDS * DRAFTED);
        char name[32];
        snprintf(name, sizeof(name), "ProfilerStep#%u", pass);
        capture.time_us++;
        capture_annotate(&capture, "START", name, 0);
        extend(request, 0, token);
        if (token % DRAFTED == 0)
            extend(request, FIRST_OF_TARGET, token / DRAFTED);
        if (token == ROUNDS * DRAFTED - 1 && !keeps) {
            capture_free(&capture, address(request, token), size(token), SCRIPT);
            capture_free(&capture, address(request, FIRST_OF_TARGET + ROUNDS - 1), size(ROUNDS - 1),
                         SCRIPT);
        }
        capture.time_us++;
        capture_annotate(&capture, "END", name, 0);
    }
    make_report(0);
    return &report->growth;
}

START_TEST(caches_of_two_models)
{
    bool keeps = _i == 0;
    const struct growth *growth = speculate(keeps);
    const struct finding *finding = report_finding(report, FINDING_GROWTH);
    ck_assert_int_eq(growth_leaking_bytes(growth) > 0, keeps);
    ck_assert_int_eq(finding != NULL, keeps);
    if (keeps)
        ck_assert_int_eq(finding->save_bytes,
                         (REQUESTS - 1) * (int64_t)(size(ROUNDS * DRAFTED - 1) + size(ROUNDS - 1)));
}
END_TEST

START_TEST(a_cache_grows_with_its_sequence)
{
    const struct growth *growth = generate(1, false);
    ck_assert_uint_eq(growth->growing, growth->in_use);
    ck_assert_int_eq(growth_leaking_bytes(growth), 0);
    ck_assert_int_eq(growth->save_bytes, 0);
    ck_assert_ptr_null(report_finding(report, FINDING_GROWTH));
}
END_TEST

START_TEST(caches_of_earlier_requests)
{
    const struct growth *growth = generate(REQUESTS, true);
    const struct finding *finding = report_finding(report, FINDING_GROWTH);
    ck_assert_uint_eq(growth->growing, 1);
    ck_assert_uint_eq(growth->in_use, 0);
    ck_assert_int_gt(growth_leaking_bytes(growth), 0);
    ck_assert_ptr_nonnull(strstr(finding->next, "caches of earlier requests are still there"));
    ck_assert_ptr_nonnull(strstr(finding->what, "of requests that are done stays allocated"));
    /* the last one is in use */
    ck_assert_int_eq(finding->save_bytes, (REQUESTS - 1) * (int64_t)size(TOKENS - 1));
    ck_assert(finding->at_least);
}
END_TEST

START_TEST(caches_that_are_dropped)
{
    const struct growth *growth = generate(REQUESTS, false);
    ck_assert_int_eq(growth_leaking_bytes(growth), 0);
    ck_assert_ptr_null(report_finding(report, FINDING_GROWTH));
}
END_TEST

/* A model that makes a cache in training, too, and whose outputs a list keeps. */
START_TEST(caches_of_training_steps)
{
    enum { STEPS = 6 };
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t saved = capture_alloc(&capture, 100, STACK_FORWARD);
        capture_alloc(&capture, CACHE, UPDATE);
        uint64_t gradient = capture_alloc(&capture, 100, STACK_BACKWARD);
        capture_free(&capture, saved, 100, STACK_BACKWARD);
        capture_free(&capture, capture_alloc(&capture, 1, STACK_STEP), 1, STACK_STEP);
        capture_free(&capture, gradient, 100, SCRIPT);
    }
    make_report(0);
    const struct growth *growth = &report->growth;
    ck_assert_int_eq(growth->rows[0].category, CATEGORY_KV_CACHE);
    ck_assert_int_eq(growth->rows[0].fit.kind, GROWTH_GROWING);
    ck_assert_uint_eq(growth->in_use, 0);
    ck_assert_int_eq(growth->most_bytes, STEPS * CACHE);
}
END_TEST

/* Of the caches of requests that are done, none is needed. Of the scores, the request that runs may
 * need its own. */
START_TEST(scores_of_a_request_that_is_not_done)
{
    stores_scores = _i == 1;
    const struct growth *growth = generate(REQUESTS, true);
    stores_scores = false;
    ck_assert_int_gt(growth->save_bytes, 0);
    ck_assert_int_eq(growth->may_be_needed, _i == 1);
}
END_TEST

TCase *kept_caches_tests(void)
{
    TCase *tests = tcase_create("kept_caches");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, caches_of_training_steps);
    tcase_add_test(tests, a_cache_grows_with_its_sequence);
    tcase_add_test(tests, caches_of_earlier_requests);
    tcase_add_loop_test(tests, caches_of_two_models, 0, 2);
    tcase_add_test(tests, caches_that_are_dropped);
    tcase_add_loop_test(tests, scores_of_a_request_that_is_not_done, 0, 2);
    return tests;
}
