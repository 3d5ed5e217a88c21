#include "solve/dp/front.h"
#include "solve/dp/peak.h"
#include "solve/problem/problem.h"
#include "unit/solve/chains.h"
#include "unit/solve/solve.h"

static struct budget budget = {.limit = 1 << 30};

static void add_shared(struct chain *chain, int64_t bytes, uint32_t maker, const uint32_t *readers,
                       uint32_t count)
{
    struct error err;
    struct chain_shared shared = {bytes, maker, (uint32_t)chain->reader_count, count};
    ck_assert(vec_push(chain->shared, chain->shared_count, chain->shared_capacity, &budget, &err,
                       shared));
    for (uint32_t k = 0; k < count; k++)
        ck_assert(vec_push(chain->shared_readers, chain->reader_count, chain->reader_capacity,
                           &budget, &err, readers[k]));
    chain->xbar[maker] += bytes;
    chain->pinned[maker] += bytes;
}

/* Layer 0 makes 50 bytes, which layers 1 to 3 read. Each of the others keeps 10. */
static struct chain make_chain(int64_t last_forward, int64_t first_backward)
{
    static const uint32_t readers[] = {1, 2, 3};
    struct chain chain;
    struct error err;
    ck_assert(chain_create(&chain, 5, &budget, &err));
    for (size_t i = 1; i < 5; i++)
        chain.xbar[i] = 10;
    chain.ftmp[4] = last_forward;
    chain.btmp[0] = first_backward;
    add_shared(&chain, 50, 0, readers, 3);
    return chain;
}

static int64_t peak_of(const struct chain *chain, size_t count, const size_t *layers)
{
    struct placement placement = {0};
    struct replay_outcome outcome;
    struct error err;
    for (size_t k = 0; k < count; k++)
        ck_assert(placement_add(&placement, layers[k], layers[k] + 1, &budget, &err));
    ck_assert(placement_replay(&placement, chain, &budget, &outcome, &err));
    placement_release(&placement, &budget);
    return outcome.peak_bytes;
}

START_TEST(what_is_shared_is_held_once)
{
    struct chain chain = make_chain(100, 0);
    ck_assert_int_eq(peak_of(&chain, 0, NULL), 140); /* read for the last time before */
    ck_assert_int_eq(peak_of(&chain, 1, (const size_t[]){2}), 180);
    ck_assert_int_eq(peak_of(&chain, 2, (const size_t[]){1, 2}), 170);
    ck_assert_int_eq(peak_of(&chain, 3, (const size_t[]){1, 2, 3}), 160);
    ck_assert_int_eq(peak_of(&chain, 1, (const size_t[]){0}), 140); /* its maker does not hold it */
    ck_assert_int_eq(peak_of(&chain, 2, (const size_t[]){0, 2}), 180);
    chain_release(&chain, &budget);
}
END_TEST

START_TEST(what_is_shared_goes_with_its_first_holder)
{
    struct chain chain = make_chain(0, 120);
    ck_assert_int_eq(peak_of(&chain, 0, NULL), 120);
    ck_assert_int_eq(peak_of(&chain, 2, (const size_t[]){1, 3}), 120);
    chain_release(&chain, &budget);
}
END_TEST

/* Replays check plans, so solvers must not promise less. */
START_TEST(solvers_give_upper_bounds)
{
    struct chance chance = {5};
    size_t less = 0;
    for (int round = 0; round < 300; round++) {
        size_t layers = (size_t)chance_in(&chance, 4, 9);
        struct chain chain = random_chain(&chance, layers, 100, 9, &budget);
        struct placement placement = {0};
        struct replay_outcome outcome;
        struct error err;
        uint32_t readers[] = {0, 0, 0};
        uint32_t maker = (uint32_t)chance_in(&chance, 0, (int32_t)layers - 4);
        for (uint32_t k = 0; k < 3; k++)
            readers[k] = maker + 1 + k;
        add_shared(&chain, chance_in(&chance, 1, 90), maker, readers, 3);
        int64_t peak;
        ck_assert(peak_place(&chain, layers, &placement, &peak, &budget, &err));
        ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
        ck_assert_int_le(outcome.peak_bytes, peak);
        less += outcome.peak_bytes < peak;
        placement_release(&placement, &budget);
        chain_release(&chain, &budget);
    }
    ck_assert_uint_gt(less, 0);
}
END_TEST

#define ROW(name, leaf, peak, reads, saves)                                                        \
    "{\"module_name\":\"" name                                                                     \
    "\",\"module_params\":0,\"allocated\":0,\"reserved\":0,\"all_gathered\":0,"                    \
    "\"cumul_all_gathered\":0,\"event\":{\"memory_diff\":0,\"memory_activations\":0},"             \
    "\"is_forward\":true,\"is_leaf\":" leaf                                                        \
    ",\"plain\":true,\"follows\":false,\"peak_bytes\":" peak ",\"reads\":[" reads                  \
    "],\"saves\":[" saves "]},"
#define BACKWARD                                                                                   \
    "{\"module_name\":\"e\",\"module_params\":0,\"allocated\":0,\"reserved\":0,"                   \
    "\"all_gathered\":0,\"cumul_all_gathered\":0,"                                                 \
    "\"event\":{\"memory_diff\":0,\"memory_activations\":0},\"is_forward\":false,"                 \
    "\"peak_bytes\":140}"

/* Storage 0 of m is read by c, d and e; 1 only by c and d. Nothing saves them. */
static const char features[] =
    "{\"schema\":\"memsnap.layer-trace/1\",\"traces\":[" ROW("m", "true", "13", "", "")
        ROW("b", "true", "23", "", "2") ROW("c", "true", "33", "0,1", "3")
            ROW("d", "true", "43", "0,1", "4") ROW("e", "true", "50", "0", "5") BACKWARD
    "],\"storages\":[[8,0],[5,0],[10,1],[10,2],[10,3],[10,4]]}";

START_TEST(many_readers_make_it_shared)
{
    const struct cuts leaves = {.kind = CUT_LEAVES};
    struct problem problem;
    struct error err;
    struct layer_trace *trace =
        layer_trace_load_memory(features, sizeof(features) - 1, 1 << 20, &err);
    ck_assert_msg(trace != NULL, "%s", err.text);
    ck_assert(problem_create(&problem, trace, &leaves, SIZE_MAX, &budget, &err));
    const struct chain *chain = &problem.chain;
    static const int64_t far[] = {0, 0, 5, 5, 0};
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(chain->far[i], far[i]);
    ck_assert_uint_eq(chain->shared_count, 1);
    ck_assert_int_eq(chain->shared[0].bytes, 8);
    ck_assert_uint_eq(chain->shared[0].maker, 0);
    ck_assert_uint_eq(chain->shared[0].readers, 3);
    for (uint32_t k = 0; k < 3; k++)
        ck_assert_uint_eq(chain->shared_readers[k], k + 2);
    ck_assert_int_eq(chain->xbar[0], 8);
    ck_assert_int_eq(chain->pinned[0], 8);
    ck_assert_int_eq(chain->ftmp[3], 5);   /* 43 - 8 - 30 */
    ck_assert_int_eq(chain->btmp[4], 100); /* 140 - 40: gone by then */
    ck_assert_int_eq(problem.no_checkpoint_bytes, 140);
    ck_assert_int_eq(problem.no_checkpoint_total_bytes, 140);
    problem_release(&problem, &budget);
    layer_trace_destroy(trace);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

TCase *shared_tests(void)
{
    TCase *tests = tcase_create("shared");
    tcase_add_test(tests, what_is_shared_is_held_once);
    tcase_add_test(tests, what_is_shared_goes_with_its_first_holder);
    tcase_add_test(tests, solvers_give_upper_bounds);
    tcase_add_test(tests, many_readers_make_it_shared);
    return tests;
}
