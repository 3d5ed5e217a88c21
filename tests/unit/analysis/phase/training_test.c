/* Traces without stacks, of which some layers look like passes: do they train? */
#include "analysis/phase/phases.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define WEIGHT  4000u
#define RESULT  5000u
#define LAYERS  6u
#define RESULTS 7u
#define CALLS   3u

static void weights(void)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, WEIGHT << i, "");
}

/* Results pile up, and go in the reverse order while others are made. `left` blocks stay at `at`,
 * ..., of the sizes of the weights from `first` on. */
static void pass(uint64_t at, unsigned left, unsigned first)
{
    for (unsigned i = 0; i < RESULTS; i++)
        born(100 + i, RESULT + i);
    for (unsigned i = RESULTS; i-- > 0;) {
        if (i < left)
            born(at + i, WEIGHT << (first + i));
        born(200 + i, RESULT + 20 + i);
        freed(100 + i, RESULT + i);
        freed(200 + i, RESULT + 20 + i);
    }
}

static void drop(unsigned left)
{
    for (unsigned i = 0; i < left; i++)
        freed(300 + i, WEIGHT << i);
}

static bool has_backward(void)
{
    struct phases phases;
    struct error err;
    capture_load(&capture);
    ck_assert(phases_build(&phases, capture.timeline, capture.sites, &err));
    bool found = phases_have(&phases, PHASE_BACKWARD);
    phases_release(&phases);
    return found;
}

START_TEST(gradients_of_weights_show_training)
{
    weights();
    for (unsigned i = 0; i < CALLS; i++) {
        pass(300, LAYERS - 1, 0);
        drop(LAYERS - 1);
    }
    ck_assert(has_backward());
}
END_TEST

/* Two caches have the sizes of small weights by chance. */
START_TEST(caches_are_a_small_part_of_the_weights)
{
    weights();
    for (unsigned i = 0; i < CALLS; i++) {
        pass(300, 2, 0);
        drop(2);
    }
    ck_assert(!has_backward());
}
END_TEST

/* Adapters are as small, but backward() begins with the gradient of the loss by itself. */
START_TEST(a_scalar_root_shows_training)
{
    weights();
    for (unsigned i = 0; i < CALLS; i++) {
        for (unsigned k = 0; k < RESULTS; k++)
            born(400 + k, RESULT + k);
        born(90, 4);
        pass(300, 2, 0);
        for (unsigned k = RESULTS; k-- > 0;) {
            born(500 + k, RESULT + 40 + k);
            freed(400 + k, RESULT + k);
            freed(500 + k, RESULT + 40 + k);
        }
        freed(90, 4);
        drop(2);
    }
    ck_assert(has_backward());
}
END_TEST

/* Caches that stay are no weights, although the caches of later calls have their sizes. */
START_TEST(caches_that_stay_are_no_weights)
{
    weights();
    for (unsigned i = 0; i < CALLS; i++)
        pass(300 + 10 * i, 2, LAYERS);
    for (unsigned i = 0; i < 2 * LAYERS * RESULTS * CALLS; i++) {
        born(100, RESULT);
        freed(100, RESULT);
    }
    ck_assert(!has_backward());
}
END_TEST

TCase *phase_training_tests(void)
{
    TCase *tests = tcase_create("programs that train");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, gradients_of_weights_show_training);
    tcase_add_test(tests, caches_are_a_small_part_of_the_weights);
    tcase_add_test(tests, a_scalar_root_shows_training);
    tcase_add_test(tests, caches_that_stay_are_no_weights);
    return tests;
}
