/* Placements of random chains, with what only recorded layers have, against all placements. */
#include "solve/advice/advice.h"
#include "solve/chain/segment_cost.h"
#include "solve/dp/front.h"
#include "solve/dp/peak.h"
#include "unit/solve/chains.h"
#include "unit/solve/solve.h"

static struct budget budget = {.limit = 1 << 30};

/* Some results of each layer, part of which it saves anyway. */
static void add_option(struct chain *chain, struct chance *chance)
{
    struct error err;
    ck_assert(chain_add_option(chain, &budget, &err));
    struct chain_option *option = &chain->options[chain->option_count - 1];
    for (size_t i = 0; i < chain->layers; i++) {
        int64_t saved = chance_in(chance, 0, (int32_t)chain->xbar[i]);
        option->unsaved[i] = chance_in(chance, 0, 1) * chance_in(chance, 0, 20);
        option->kept[i] = saved + option->unsaved[i];
        option->late[i] = chance_in(chance, 0, 1) * chance_in(chance, 0, (int32_t)option->kept[i]);
        option->forward[i] = chance_in(chance, 0, (int32_t)chain->forward[i]);
        option->tail[i] = chance_in(chance, 0, (int32_t)option->forward[i]);
        option->reach[i] =
            (int64_t)i + chance_in(chance, 0, (int32_t)(chain->reach[i] - (int64_t)i));
    }
}

/* A random chain with what only recorded layers have. */
static struct chain recorded_chain(struct chance *chance, size_t layers)
{
    struct chain chain = random_chain(chance, layers, 100, 9, &budget);
    for (size_t i = 0; i < layers; i++) {
        int64_t rest = chance_in(chance, 0, (int32_t)chain.forward[i]);
        bool saves = chance_in(chance, 0, 3) > 0;
        chain.late[i] = i > 0 ? chance_in(chance, 0, (int32_t)chain.x[i]) : 0;
        chain.loose[i] = chance_in(chance, 0, (int32_t)chain.late[i]);
        if (i > 0 && chain.late[i] > 0) /* xbar no longer includes the output */
            chain.xbar[i - 1] = larger(chain.xbar[i - 1] - chain.late[i], 0);
        chain.far[i] = chance_in(chance, 0, 1) * chance_in(chance, 0, 40);
        chain.tail[i] = saves ? rest : chain.forward[i] + (i > 0 ? chain.tail[i - 1] : 0);
        chain.gradient[i] = chance_in(chance, 0, 60);
        chain.replaced[i] =
            chance_in(chance, 0, 1) * chance_in(chance, 0, (int32_t)chain.gradient[i]);
        chain.outer[i] = chance_in(chance, 0, (int32_t)chain.ftmp[i]);
        chain.over[i] = chance_in(chance, 0, 1) * chance_in(chance, 0, 40);
        chain.pinned[i] = chance_in(chance, 0, 1) * chance_in(chance, 0, (int32_t)chain.xbar[i]);
        chain.reach[i] = (int64_t)i + chance_in(chance, 0, (int32_t)(layers - i));
    }
    for (int32_t left = chance_in(chance, 0, 2); left > 0; left--)
        add_option(&chain, chance);
    return chain;
}

/* Every placement, by replay. */
struct tried {
    const struct chain *chain;
    struct placement placement;
    int64_t peaks[20];  /* the least, by the largest number of segments */
    int64_t times[200]; /* the least peak, by extra time */
    int64_t totals[20]; /* as peaks: the least total */
};

static void try_from(struct tried *tried, size_t i)
{
    const struct chain *chain = tried->chain;
    struct placement *placement = &tried->placement;
    struct error err;
    if (i == chain->layers) {
        struct replay_outcome outcome;
        ck_assert(placement_replay(placement, chain, &budget, &outcome, &err));
        for (size_t k = placement->count; k < 20; k++)
            if (outcome.peak_bytes < tried->peaks[k])
                tried->peaks[k] = outcome.peak_bytes;
        for (size_t k = placement->count; k < 20; k++)
            if (outcome.total_bytes < tried->totals[k])
                tried->totals[k] = outcome.total_bytes;
        for (int64_t t = outcome.extra_time; t < 200; t++)
            if (outcome.peak_bytes < tried->times[t])
                tried->times[t] = outcome.peak_bytes;
        return;
    }
    try_from(tried, i + 1);
    for (unsigned number = 0; number <= chain->option_count; number++) {
        size_t reach = chain_reach(chain, chain_option(chain, number), i);
        for (size_t end = i + 1; end <= reach; end++) {
            ck_assert(placement_add(placement, i, end, &budget, &err));
            placement->segments[placement->count - 1].option = number;
            try_from(tried, end);
            placement->count--;
        }
    }
}

static void try_all(struct tried *tried, const struct chain *chain)
{
    *tried = (struct tried){.chain = chain};
    for (size_t k = 0; k < 20; k++)
        tried->peaks[k] = tried->totals[k] = INT64_MAX;
    for (size_t t = 0; t < 200; t++)
        tried->times[t] = INT64_MAX;
    try_from(tried, 0);
    placement_release(&tried->placement, &budget);
}

START_TEST(placements_are_the_best_of_all)
{
    struct chance chance = {31};
    for (int round = 0; round < 300; round++) {
        struct chain chain = recorded_chain(&chance, (size_t)chance_in(&chance, 1, 6));
        struct tried tried;
        struct front front;
        struct error err;
        try_all(&tried, &chain);
        ck_assert_int_eq(tried.peaks[0], peak_without(&chain));
        for (size_t most = 0; most <= 7; most++) {
            struct placement placement = {0};
            int64_t peak;
            ck_assert(peak_place(&chain, most, &placement, &peak, &budget, &err));
            ck_assert_int_eq(peak, tried.peaks[most]);
            placement_release(&placement, &budget);
        }
        ck_assert(front_create(&front, &chain, &budget, &err));
        for (size_t i = 0; i < front.count; i++) {
            struct placement placement = {0};
            struct replay_outcome outcome;
            ck_assert(front_place(&front, &front.points[i], &placement, &budget, &err));
            ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
            ck_assert_int_eq(outcome.peak_bytes, front.points[i].peak_bytes);
            ck_assert_int_eq(outcome.extra_time, front.points[i].extra_time);
            ck_assert_int_eq(outcome.peak_bytes, tried.times[outcome.extra_time]);
            placement_release(&placement, &budget);
        }
        front_release(&front, &budget);
        chain_release(&chain, &budget);
    }
}
END_TEST

START_TEST(the_least_total_is_found)
{
    struct chance chance = {37};
    size_t larger_peaks = 0;
    for (int round = 0; round < 300; round++) {
        struct chain chain = recorded_chain(&chance, (size_t)chance_in(&chance, 1, 6)), counted;
        struct tried tried;
        struct front front;
        struct error err;
        try_all(&tried, &chain);
        ck_assert(chain_with_gradients(&counted, &chain, &budget, &err));
        for (size_t most = 0; most <= 7; most++) {
            struct placement placement = {0};
            int64_t total;
            ck_assert(peak_place(&counted, most, &placement, &total, &budget, &err));
            ck_assert_int_eq(total, tried.totals[most]);
            placement_release(&placement, &budget);
        }
        ck_assert(front_create(&front, &chain, &budget, &err));
        ck_assert(front_weigh_totals(&front, &budget, &err));
        ck_assert_int_eq(front.least.total_bytes, tried.totals[19]);
        larger_peaks += front.least.peak_bytes > front.points[0].peak_bytes;
        struct placement placement = {0};
        struct replay_outcome outcome;
        ck_assert(front_place(&front, &front.least, &placement, &budget, &err));
        ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
        ck_assert_int_eq(outcome.total_bytes, front.least.total_bytes);
        ck_assert_int_eq(outcome.peak_bytes, front.least.peak_bytes);
        ck_assert_int_eq(outcome.extra_time, front.least.extra_time);
        placement_release(&placement, &budget);
        front_release(&front, &budget);
        chain_drop_gradients(&counted, &budget);
        chain_release(&chain, &budget);
    }
    ck_assert_uint_gt(larger_peaks, 0);
}
END_TEST

START_TEST(points_with_a_larger_total_are_dropped)
{
    struct chance chance = {7};
    size_t dropped = 0;
    for (int round = 0; round < 100; round++) {
        struct chain chain = recorded_chain(&chance, (size_t)chance_in(&chance, 2, 7));
        struct front front;
        struct error err;
        ck_assert(front_create(&front, &chain, &budget, &err));
        int64_t least = front.points[0].peak_bytes;
        ck_assert(front_weigh_totals(&front, &budget, &err));
        dropped += front.points[0].peak_bytes > least;
        ck_assert_int_eq(front.points[front.count - 1].extra_time, 0);
        for (size_t i = 1; i < front.count; i++) {
            ck_assert_int_lt(front.points[i - 1].total_bytes, front.points[i].total_bytes);
            ck_assert_int_lt(front.points[i - 1].peak_bytes, front.points[i].peak_bytes);
        }
        front_release(&front, &budget);
        chain_release(&chain, &budget);
    }
    ck_assert_uint_gt(dropped, 0);
}
END_TEST

TCase *recorded_placement_tests(void)
{
    TCase *tests = tcase_create("recorded placements");
    tcase_add_test(tests, placements_are_the_best_of_all);
    tcase_add_test(tests, the_least_total_is_found);
    tcase_add_test(tests, points_with_a_larger_total_are_dropped);
    return tests;
}
