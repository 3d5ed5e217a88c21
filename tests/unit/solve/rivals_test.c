/* At the peak of a well-known placement, the front never has more recomputation than it. */
#include "solve/dp/front.h"
#include "solve/dp/sum.h"
#include "unit/solve/chains.h"
#include "unit/solve/solve.h"

static struct budget budget = {.limit = 1 << 30};
static size_t contests; /* placements whose peak the front cannot reach without recomputation */

/* A transformer: equal blocks between an embedding and a head, which differ from them. */
static struct chain chain_of_blocks(struct chance *chance, size_t layers, int32_t time)
{
    struct chain chain = random_chain(chance, layers, 1 << 20, time, &budget);
    for (size_t i = 2; i + 1 < layers; i++) {
        chain.x[i] = chain.x[1];
        chain.xbar[i - 1] = chain.x[1] + (1 << 20);
        chain.ftmp[i - 1] = chain.ftmp[1];
        chain.btmp[i - 1] = chain.btmp[1];
        chain.forward[i - 1] = chain.forward[1];
    }
    return chain;
}

/* Checks the front against a placement, and releases the placement. */
static void check_rival(const struct front *front, struct placement *rival, const char *name)
{
    struct replay_outcome outcome;
    struct error err;
    ck_assert(placement_replay(rival, front->chain, &budget, &outcome, &err));
    const struct front_point *point = front_within(front, outcome.peak_bytes);
    ck_assert_ptr_nonnull(point);
    ck_assert_msg(point->extra_time <= outcome.extra_time,
                  "%s of %zu layers: time %lld, the front has %lld", name, front->chain->layers,
                  (long long)outcome.extra_time, (long long)point->extra_time);
    contests += point->extra_time > 0;
    placement_release(rival, &budget);
}

static void check_every(const struct front *front, size_t length)
{
    struct placement rival = {0};
    struct error err;
    size_t layers = front->chain->layers;
    for (size_t first = 0; first < layers; first += length) {
        size_t end = first + length < layers ? first + length : layers;
        ck_assert(placement_add(&rival, first, end, &budget, &err));
    }
    check_rival(front, &rival, "every few layers");
}

static void check_even(const struct front *front)
{
    struct placement rival = {0};
    struct error err;
    ck_assert(placement_even(&rival, front->chain, &budget, &err));
    check_rival(front, &rival, "sqrt(n)");
}

static void check_fairscale(const struct front *front, size_t cuts)
{
    const struct chain *chain = front->chain;
    struct placement rival = {0};
    struct sum_answer answer;
    struct error err;
    size_t first = 0;
    ck_assert(sum_place(chain->xbar, chain->layers, cuts, &answer, &budget, &err));
    for (size_t k = 0; k <= answer.count; k++) {
        size_t end = k < answer.count ? answer.cuts[k] : chain->layers;
        if (end > first)
            ck_assert(placement_add(&rival, first, end, &budget, &err));
        first = end;
    }
    sum_release(&answer, &budget);
    check_rival(front, &rival, "FairScale");
}

static void check_chain(struct chain *chain)
{
    struct front front;
    struct error err;
    ck_assert(front_create(&front, chain, &budget, &err));
    for (size_t length = 1; length <= 4 && length <= chain->layers; length++)
        check_every(&front, length);
    check_even(&front);
    for (size_t cuts = 1; cuts <= 8 && cuts < chain->layers; cuts++)
        check_fairscale(&front, cuts);
    front_release(&front, &budget);
    chain_release(chain, &budget);
}

START_TEST(the_front_is_never_slower_on_random_chains)
{
    struct chance chance = {51};
    contests = 0;
    for (unsigned round = 0; round < unit_share(200); round++) {
        size_t layers = (size_t)chance_in(&chance, 2, 60);
        struct chain chain = random_chain(&chance, layers, 1 << 20, 1 << 20, &budget);
        check_chain(&chain);
    }
    ck_assert_uint_gt(contests, unit_share(200) * 5);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(the_front_is_never_slower_on_equal_blocks)
{
    struct chance chance = {52};
    contests = 0;
    for (unsigned round = 0; round < unit_share(200); round++) {
        size_t layers = (size_t)chance_in(&chance, 4, 60);
        struct chain chain = chain_of_blocks(&chance, layers, 1 << 20);
        check_chain(&chain);
    }
    ck_assert_uint_gt(contests, unit_share(200) * 5);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

TCase *rivals_tests(void)
{
    TCase *tests = tcase_create("rivals");
    tcase_add_test(tests, the_front_is_never_slower_on_random_chains);
    tcase_add_test(tests, the_front_is_never_slower_on_equal_blocks);
    return tests;
}
