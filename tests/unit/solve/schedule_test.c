#include "solve/chain/schedule.h"

#include "unit/solve/solve.h"

static struct budget budget = {.limit = 1 << 20};

/* Two layers: x = 100, 10, 1; xbar = 12, 3; ftmp = 5, 6; btmp = 7, 20; forward times 2, 3. */
static struct chain two_layers(void)
{
    struct chain chain;
    struct error err;
    ck_assert(chain_create(&chain, 2, &budget, &err));
    chain.x[0] = 100, chain.x[1] = 10, chain.x[2] = 1;
    chain.xbar[0] = 12, chain.xbar[1] = 3;
    chain.ftmp[0] = 5, chain.ftmp[1] = 6;
    chain.btmp[0] = 7, chain.btmp[1] = 20;
    chain.forward[0] = 2, chain.forward[1] = 3;
    return chain;
}

static bool replay(const struct operation *operations, size_t count, struct replay_outcome *outcome)
{
    struct chain chain = two_layers();
    struct schedule schedule = {0};
    struct error err = {0};
    for (size_t i = 0; i < count; i++)
        ck_assert(schedule_add(&schedule, operations[i].kind, operations[i].layer, &budget, &err));
    bool ok = schedule_replay(&schedule, &chain, &budget, outcome, &err);
    ck_assert(ok || err.status == STATUS_IO);
    schedule_release(&schedule, &budget);
    chain_release(&chain, &budget);
    ck_assert_uint_eq(budget.used, 0);
    return ok;
}

#define REPLAY(outcome, ...)                                                                       \
    replay((struct operation[]){__VA_ARGS__},                                                      \
           sizeof((struct operation[]){__VA_ARGS__}) / sizeof(struct operation), outcome)

START_TEST(bytes_are_those_of_a_count_by_hand)
{
    struct replay_outcome outcome;
    ck_assert(REPLAY(&outcome, {RUN_AND_KEEP, 0, 0}, {RUN_AND_KEEP, 1, 0}, {RUN_BACKWARD, 1, 0},
                     {RUN_BACKWARD, 0, 0}));
    ck_assert_int_eq(outcome.peak_bytes, 12 + 3 + 1 + 20);
    ck_assert_int_eq(outcome.extra_time, 0);

    ck_assert(REPLAY(&outcome, {RUN_AND_STORE, 0, 0}, {RUN_AND_KEEP, 1, 0}, {RUN_BACKWARD, 1, 0},
                     {RUN_AND_KEEP, 0, 0}, {RUN_BACKWARD, 0, 0}));
    ck_assert_int_eq(outcome.peak_bytes, 10 + 3 + 1 + 20);
    ck_assert_int_eq(outcome.extra_time, 2);

    ck_assert(REPLAY(&outcome, {RUN_FORWARD, 0, 0}, {RUN_FORWARD, 1, 0}, {RUN_AND_KEEP, 0, 0},
                     {RUN_AND_KEEP, 1, 0}, {RUN_BACKWARD, 1, 0}, {RUN_BACKWARD, 0, 0}));
    ck_assert_int_eq(outcome.peak_bytes, 12 + 3 + 1 + 20);
    ck_assert_int_eq(outcome.extra_time, 5);
}
END_TEST

START_TEST(what_cannot_run_is_no_schedule)
{
    struct replay_outcome outcome = {-1, -1, -1};
    ck_assert(!REPLAY(&outcome, {RUN_AND_KEEP, 1, 0}));
    ck_assert(!REPLAY(&outcome, {RUN_AND_KEEP, 2, 0}));
    ck_assert(!REPLAY(&outcome, {RUN_AND_KEEP, 0, 0}, {RUN_AND_KEEP, 0, 0}));
    ck_assert(!REPLAY(&outcome, {RUN_FORWARD, 0, 0}, {RUN_AND_KEEP, 1, 0}));
    ck_assert(!REPLAY(&outcome, {RUN_AND_KEEP, 0, 0}, {RUN_BACKWARD, 0, 0}));
    ck_assert(!REPLAY(&outcome, {RUN_AND_KEEP, 0, 0}, {RUN_AND_KEEP, 1, 0}, {RUN_BACKWARD, 0, 0}));
    ck_assert(!REPLAY(&outcome, {RUN_AND_KEEP, 0, 0}, {RUN_AND_KEEP, 1, 0}, {RUN_BACKWARD, 1, 0}));
    ck_assert(!REPLAY(&outcome, {RUN_AND_STORE, 0, 0}, {RUN_AND_STORE, 1, 0}));
    ck_assert_int_eq(outcome.peak_bytes, -1);
}
END_TEST

TCase *schedule_tests(void)
{
    TCase *tests = tcase_create("schedule");
    tcase_add_test(tests, bytes_are_those_of_a_count_by_hand);
    tcase_add_test(tests, what_cannot_run_is_no_schedule);
    return tests;
}
