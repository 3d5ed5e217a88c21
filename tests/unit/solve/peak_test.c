#include "solve/dp/peak.h"

#include "solve/advice/advice.h"
#include "solve/dp/front.h"
#include "unit/solve/chains.h"
#include "unit/solve/solve.h"

static struct budget budget = {.limit = 1 << 30};

/* The least peak over all placements, by number of segments or by time. */
struct wanted {
    int64_t by_count[12], least;
    struct {
        int64_t peak, time;
    } all[1 << 13];
    size_t all_count;
};

static void try_all(const struct chain *chain, struct wanted *wanted)
{
    unsigned n = (unsigned)chain->layers;
    wanted->all_count = 0;
    wanted->least = INT64_MAX;
    for (unsigned k = 0; k < 12; k++)
        wanted->by_count[k] = INT64_MAX;
    for (unsigned cuts = 1; cuts < 1U << n; cuts += 2)
        for (unsigned wrapped = cuts;; wrapped = (wrapped - 1) & cuts) {
            int64_t peak = account_peak(chain, cuts, wrapped);
            unsigned count = account_count(chain, cuts, wrapped);
            for (unsigned k = count; k < 12; k++)
                wanted->by_count[k] = peak < wanted->by_count[k] ? peak : wanted->by_count[k];
            wanted->least = peak < wanted->least ? peak : wanted->least;
            wanted->all[wanted->all_count].peak = peak;
            wanted->all[wanted->all_count++].time = account_extra_time(chain, cuts, wrapped);
            if (wrapped == 0)
                break;
        }
}

static void bits_of(const struct placement *placement, unsigned *cuts, unsigned *wrapped)
{
    *cuts = 1;
    *wrapped = 0;
    for (size_t k = 0; k < placement->count; k++) {
        *cuts |= 1U << placement->segments[k].first | 1U << placement->segments[k].end;
        *wrapped |= 1U << placement->segments[k].first;
    }
}

/* Checks the values of a placement by the test's own account and by replay. */
static void check_placement(const struct chain *chain, const struct placement *placement,
                            int64_t peak, int64_t time)
{
    unsigned cuts, wrapped;
    struct replay_outcome outcome;
    struct error err;
    bits_of(placement, &cuts, &wrapped);
    ck_assert_int_eq(account_peak(chain, cuts, wrapped), peak);
    ck_assert(placement_replay(placement, chain, &budget, &outcome, &err));
    ck_assert_int_eq(outcome.peak_bytes, peak);
    ck_assert_int_eq(outcome.extra_time, account_extra_time(chain, cuts, wrapped));
    if (time >= 0)
        ck_assert_int_eq(outcome.extra_time, time);
}

static void check_place(const struct chain *chain, size_t most, int64_t wanted)
{
    struct placement placement = {0};
    struct error err;
    int64_t peak;
    ck_assert(peak_place(chain, most, &placement, &peak, &budget, &err));
    ck_assert_int_eq(peak, wanted);
    ck_assert_uint_le(placement.count, most);
    check_placement(chain, &placement, peak, -1);
    placement_release(&placement, &budget);
}

static int64_t least_time(const struct wanted *wanted, int64_t bytes)
{
    int64_t time = INT64_MAX;
    for (size_t i = 0; i < wanted->all_count; i++)
        if (wanted->all[i].peak <= bytes && wanted->all[i].time < time)
            time = wanted->all[i].time;
    return time;
}

/* Checks that every point is attained and is the best for its memory, and that no point is missing.
 */
static void check_front(const struct chain *chain, const struct wanted *wanted)
{
    struct front front;
    struct error err;
    ck_assert(front_create(&front, chain, &budget, &err));
    ck_assert_int_eq(front.points[0].peak_bytes, wanted->least);
    ck_assert_int_eq(front.points[front.count - 1].extra_time, 0);
    ck_assert_int_le(front.points[front.count - 1].peak_bytes, peak_without(chain));
    for (size_t i = 0; i < front.count; i++) {
        const struct front_point *point = &front.points[i];
        struct placement placement = {0};
        ck_assert(front_place(&front, point, &placement, &budget, &err));
        check_placement(chain, &placement, point->peak_bytes, point->extra_time);
        placement_release(&placement, &budget);
        ck_assert_int_eq(point->extra_time, least_time(wanted, point->peak_bytes));
        if (i > 0) {
            ck_assert_int_gt(point->peak_bytes, point[-1].peak_bytes);
            ck_assert_int_lt(point->extra_time, point[-1].extra_time);
            ck_assert_int_eq(point[-1].extra_time, least_time(wanted, point->peak_bytes - 1));
        }
    }
    ck_assert_ptr_null(front_within(&front, wanted->least - 1));
    ck_assert_ptr_eq(front_within(&front, front.points[0].peak_bytes), &front.points[0]);
    front_release(&front, &budget);
}

START_TEST(placements_are_the_best_of_all)
{
    static struct wanted wanted;
    struct chance chance = {11};
    for (unsigned round = 0; round < unit_share(10000); round++) {
        size_t layers = (size_t)chance_in(&chance, 1, round % 50 == 0 ? 8 : 5);
        struct chain chain = random_chain(&chance, layers, chance_in(&chance, 0, 40),
                                          chance_in(&chance, 0, 30), &budget);
        try_all(&chain, &wanted);
        ck_assert_int_eq(peak_without(&chain), wanted.by_count[0]);
        for (size_t k = 0; k <= layers; k++)
            check_place(&chain, k, wanted.by_count[k]);
        check_front(&chain, &wanted);
        chain_release(&chain, &budget);
    }
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

/* In a placement of n layers at most n - 1 choices lose up to a slot each. */
static void check_rounded_front(const struct chain *chain, const struct wanted *wanted)
{
    int64_t whole = chain_forward_time(chain), slot = whole / FRONT_LEAST_SLOTS + 1;
    struct front front;
    struct error err;
    ck_assert(front_create(&front, chain, &budget, &err));
    ck_assert_int_eq(front.points[0].peak_bytes, wanted->least);
    ck_assert_int_eq(front.points[front.count - 1].extra_time, 0);
    for (size_t i = 0; i < front.count; i++) {
        const struct front_point *point = &front.points[i];
        struct placement placement = {0};
        ck_assert(front_place(&front, point, &placement, &budget, &err));
        check_placement(chain, &placement, point->peak_bytes, point->extra_time);
        placement_release(&placement, &budget);
        if (i > 0) {
            ck_assert_int_gt(point->peak_bytes, point[-1].peak_bytes);
            ck_assert_int_lt(point->extra_time, point[-1].extra_time);
        }
    }
    for (size_t i = 0; i < wanted->all_count; i++) {
        int64_t bytes = wanted->all[i].peak;
        const struct front_point *point = front_within(&front, bytes);
        ck_assert_int_le(point->extra_time, least_time(wanted, bytes) +
                                                (int64_t)chain->layers * slot +
                                                whole / FRONT_TOLD_APART);
    }
    front_release(&front, &budget);
}

START_TEST(fronts_of_any_times_miss_little)
{
    static struct wanted wanted;
    struct chance chance = {15};
    for (unsigned round = 0; round < unit_share(300); round++) {
        size_t layers = (size_t)chance_in(&chance, 1, 8);
        struct chain chain =
            random_chain(&chance, layers, chance_in(&chance, 0, 1000), 1 << 28, &budget);
        try_all(&chain, &wanted);
        check_rounded_front(&chain, &wanted);
        chain_release(&chain, &budget);
    }
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

/* Each of these layers takes about as long as a slot, so rounding could make many of them seem to
 * take no time. The shares are a little above the optimum's. */
START_TEST(short_layers_are_not_for_nothing)
{
    struct chance chance = {16};
    size_t layers = unit_share(600) + 400; /* the time grows with the cube */
    struct chain chain = random_chain(&chance, layers, 1000, 1 << 20, &budget);
    struct front front;
    struct error err;
    for (size_t i = 0; i < chain.layers; i++) {
        chain.x[i + 1] = chance_in(&chance, 1000, 3000);
        chain.xbar[i] = chain.x[i + 1] + chance_in(&chance, 3000, 9000);
        chain.ftmp[i] = chain.btmp[i] = 0;
        chain.forward[i] = chance_in(&chance, 10000, 90000);
    }
    ck_assert(front_create(&front, &chain, &budget, &err));
    int64_t whole = chain_forward_time(&chain), without = peak_without(&chain);
    ck_assert_int_eq(front_within(&front, without)->extra_time, 0);
    ck_assert_int_lt(front_within(&front, without * 9 / 10)->extra_time, whole * 45 / 1000);
    ck_assert_int_lt(front_within(&front, without / 2)->extra_time, whole * 352 / 1000);
    front_release(&front, &budget);
    chain_release(&chain, &budget);
}
END_TEST

START_TEST(long_chains_keep_their_promises)
{
    struct chance chance = {12};
    for (unsigned round = 0; round < unit_share(20); round++) {
        struct chain chain =
            random_chain(&chance, (size_t)chance_in(&chance, 50, 300), 1 << 30, 1 << 20, &budget);
        struct front front;
        struct error err;
        int64_t peak;
        struct placement least = {0};
        ck_assert(front_create(&front, &chain, &budget, &err));
        ck_assert(peak_place(&chain, chain.layers, &least, &peak, &budget, &err));
        ck_assert_int_eq(peak, front.points[0].peak_bytes);
        ck_assert_int_le(peak, peak_without(&chain));
        ck_assert_int_eq(front.points[front.count - 1].extra_time, 0);
        ck_assert_int_le(front.points[front.count - 1].peak_bytes, peak_without(&chain));
        for (size_t i = 0; i < front.count; i += 7) {
            struct placement placement = {0};
            struct replay_outcome outcome;
            ck_assert(front_place(&front, &front.points[i], &placement, &budget, &err));
            ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
            ck_assert_int_eq(outcome.peak_bytes, front.points[i].peak_bytes);
            ck_assert_int_eq(outcome.extra_time, front.points[i].extra_time);
            placement_release(&placement, &budget);
        }
        placement_release(&least, &budget);
        front_release(&front, &budget);
        chain_release(&chain, &budget);
    }
}
END_TEST

START_TEST(knees_are_inner_points)
{
    struct chance chance = {13};
    struct chain chain = random_chain(&chance, 60, 100, 1, &budget);
    for (size_t i = 0; i < 60; i++)
        chain.forward[i] = 1;
    struct front front;
    struct error err;
    ck_assert(front_create(&front, &chain, &budget, &err));
    bool marks[1001];
    size_t count = 0;
    front_knees(&front, marks, 3);
    for (size_t i = 0; i < front.count; i++)
        count += marks[i];
    ck_assert_uint_ge(count, 1);
    ck_assert_uint_le(count, 3);
    ck_assert(!marks[0] && !marks[front.count - 1]);
    front_release(&front, &budget);
    chain_release(&chain, &budget);
}
END_TEST

START_TEST(too_many_layers_are_refused)
{
    struct chance chance = {14};
    struct chain chain = random_chain(&chance, FRONT_MOST_LAYERS + 1, 10, 10, &budget);
    struct front front;
    struct error err;
    ck_assert(!front_create(&front, &chain, &budget, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    chain_release(&chain, &budget);
}
END_TEST

START_TEST(even_segments_cover_the_chain)
{
    struct error err;
    for (size_t n = 1; n < 40; n++) {
        struct placement placement = {0};
        struct chain chain;
        ck_assert(chain_create(&chain, n, &budget, &err));
        ck_assert(placement_even(&placement, &chain, &budget, &err));
        chain_release(&chain, &budget);
        size_t done = 0;
        for (size_t k = 0; k < placement.count; k++) {
            ck_assert_uint_eq(placement.segments[k].first, done);
            ck_assert_uint_gt(placement.segments[k].end, done);
            done = placement.segments[k].end;
        }
        ck_assert_uint_eq(done, n);
        placement_release(&placement, &budget);
    }
}
END_TEST

/* Checks that all memory is released, wherever memory runs out. */
START_TEST(comparisons_give_back_what_they_took)
{
    struct chance chance = {38};
    struct problem problem = {.chain = random_chain(&chance, 1500, 9, 50, &budget)};
    struct comparison_point points[COMPARISON_POINTS];
    size_t failures = 0;
    for (size_t limit = 0;; limit += 256) {
        struct budget little = {.limit = limit};
        struct error err;
        bool ok = advise_comparison(&problem, points, &little, &err);
        ck_assert_uint_eq(little.used, 0);
        if (ok)
            break;
        failures++;
    }
    ck_assert_uint_gt(failures, 10);
    chain_release(&problem.chain, &budget);
}
END_TEST

TCase *peak_tests(void)
{
    TCase *tests = tcase_create("peak");
    tcase_add_test(tests, placements_are_the_best_of_all);
    tcase_add_test(tests, fronts_of_any_times_miss_little);
    tcase_add_test(tests, short_layers_are_not_for_nothing);
    tcase_add_test(tests, long_chains_keep_their_promises);
    tcase_add_test(tests, knees_are_inner_points);
    tcase_add_test(tests, too_many_layers_are_refused);
    tcase_add_test(tests, even_segments_cover_the_chain);
    tcase_add_test(tests, comparisons_give_back_what_they_took);
    return tests;
}
