#define _GNU_SOURCE /* RTLD_NEXT */
#include "solve/dp/rotor.h"

#include <dlfcn.h>
#include <pthread.h>

#include "solve/dp/front.h"
#include "solve/dp/peak.h"
#include "solve/dp/rotor_batch.h"
#include "unit/solve/brute.h"
#include "unit/solve/chains.h"
#include "unit/solve/problems.h"
#include "unit/solve/solve.h"

static struct budget budget = {.limit = 1 << 30};
static unsigned threads_started;

/* In place of the C library's, which it calls. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *),
                   void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    threads_started++;
    return create(thread, attributes, work, argument);
}

static int64_t best_time(const struct chain *chain, int64_t bytes)
{
    struct random_problem problem = {.problem = {.layers = (int32_t)chain->layers}};
    for (size_t i = 0; i <= chain->layers; i++)
        problem.x[i] = (int32_t)chain->x[i];
    for (size_t i = 0; i < chain->layers; i++) {
        problem.xbar[i] = (int32_t)chain->xbar[i];
        problem.ftmp[i] = (int32_t)chain->ftmp[i];
        problem.btmp[i] = (int32_t)chain->btmp[i];
        problem.forward[i] = (int32_t)chain->forward[i];
    }
    problem.problem.x = problem.x;
    problem.problem.xbar = problem.xbar;
    problem.problem.ftmp = problem.ftmp;
    problem.problem.btmp = problem.btmp;
    problem.problem.forward = problem.forward;
    return brute_extra_time(&problem.problem, (int32_t)bytes);
}

static struct rotor_plan solve_one(const struct chain *chain, int64_t bytes, size_t slots)
{
    struct rotor_plan plan;
    struct rotor_report report;
    struct rotor_options options = {.backend = &backend_cpu, .slots = slots};
    struct error err = {0};
    ck_assert_msg(rotor_solve(chain, &bytes, 1, &options, &plan, &report, &budget, &err), "%s",
                  err.text);
    return plan;
}

/* Checks that the plan's values match its own schedule, and that it fits the budget. */
static void check_plan(const struct chain *chain, const struct rotor_plan *plan, int64_t bytes)
{
    struct replay_outcome outcome;
    struct error err;
    ck_assert(schedule_replay(&plan->schedule, chain, &budget, &outcome, &err));
    ck_assert_int_eq(outcome.peak_bytes, plan->peak_bytes);
    ck_assert_int_eq(outcome.extra_time, plan->extra_time);
    ck_assert_int_le(plan->peak_bytes, bytes);
}

static void check_exact(struct chance *chance, size_t layers)
{
    struct chain chain =
        random_chain(chance, layers, chance_in(chance, 0, 6), chance_in(chance, 0, 9), &budget);
    int64_t bytes = chance_in(chance, 0, 40), time = best_time(&chain, bytes);
    struct rotor_plan plan = solve_one(&chain, bytes, 64);
    ck_assert(plan.exact);
    ck_assert_int_eq(plan.feasible, time < COST_INFINITE);
    if (plan.feasible) {
        check_plan(&chain, &plan, bytes);
        ck_assert_int_eq(plan.extra_time, time);
    }
    rotor_plan_release(&plan, &budget);
    chain_release(&chain, &budget);
}

START_TEST(plans_are_the_best_of_all_persistent_schedules)
{
    struct chance chance = {31};
    for (unsigned round = 0; round < unit_share(9900); round++)
        check_exact(&chance, (size_t)chance_in(&chance, 1, 4));
    for (unsigned round = 0; round < unit_share(100); round++)
        check_exact(&chance, (size_t)chance_in(&chance, 5, 6));
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

/* A plan in rounded slots, too, fits its budget in bytes. If a plan with one level of checkpoints
 * fits with some room to spare, this one does, too. */
START_TEST(plans_in_coarse_slots_keep_to_the_budget)
{
    struct chance chance = {32};
    for (int round = 0; round < 60; round++) {
        struct chain chain =
            random_chain(&chance, (size_t)chance_in(&chance, 2, 60), 1 << 28, 1 << 24, &budget);
        struct front front;
        struct error err;
        ck_assert(front_create(&front, &chain, &budget, &err));
        int64_t bytes = front.points[front.count / 2].peak_bytes / 100 * 125;
        struct rotor_plan plan = solve_one(&chain, bytes, 200);
        ck_assert(!plan.exact);
        ck_assert(plan.feasible);
        check_plan(&chain, &plan, bytes);
        rotor_plan_release(&plan, &budget);
        front_release(&front, &budget);
        chain_release(&chain, &budget);
    }
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(the_least_plan_is_the_least)
{
    struct chance chance = {33};
    for (unsigned round = 0; round < unit_share(300); round++) {
        struct chain chain = random_chain(&chance, (size_t)chance_in(&chance, 1, 4),
                                          chance_in(&chance, 1, 9), 5, &budget);
        struct rotor_options options = {.backend = &backend_cpu, .slots = 400};
        struct rotor_plan plan;
        struct rotor_report report;
        struct error err;
        ck_assert(rotor_least(&chain, &options, &plan, &report, &budget, &err));
        ck_assert(plan.feasible);
        check_plan(&chain, &plan, plan.peak_bytes);
        /* Replay has no gradient before the backward pass, so a plan may take less than the table
         * says, but never less than the optimum, which always includes one. */
        if (plan.peak_bytes > 0) {
            struct rotor_plan below = solve_one(&chain, plan.peak_bytes - 1, 400);
            ck_assert(!below.feasible);
            rotor_plan_release(&below, &budget);
        }
        rotor_plan_release(&plan, &budget);
        chain_release(&chain, &budget);
    }
}
END_TEST

/* The points take less memory than one level can. No point dominates another, and none is faster
 * than the best plan with all of the memory. */
START_TEST(the_nested_front_goes_on_below)
{
    struct chance chance = {35};
    size_t points = 0;
    for (unsigned round = 0; round < unit_share(100); round++) {
        struct chain chain =
            random_chain(&chance, (size_t)chance_in(&chance, 1, 40), 9, 50, &budget);
        struct rotor_front nested;
        struct front front;
        struct error err;
        ck_assert(front_create(&front, &chain, &budget, &err));
        int64_t below = front.points[0].peak_bytes;
        ck_assert(rotor_front_find(&chain, below, 1, &nested, &budget, &err));
        for (size_t i = 0; i < nested.count; i++) {
            struct rotor_point point = nested.points[i];
            int64_t next = i + 1 < nested.count ? nested.points[i + 1].peak_bytes : below;
            ck_assert_int_lt(point.peak_bytes, next);
            if (i > 0)
                ck_assert_int_lt(point.extra_time, nested.points[i - 1].extra_time);
            struct rotor_plan plan = solve_one(&chain, below, 2000);
            ck_assert(plan.feasible);
            ck_assert_int_le(plan.extra_time, point.extra_time);
            ck_assert_uint_gt(point.checkpoints, 0);
            points++;
            rotor_plan_release(&plan, &budget);
        }
        front_release(&front, &budget);
        chain_release(&chain, &budget);
    }
    ck_assert_uint_gt(points, unit_share(100));
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(a_front_is_found_by_as_many_threads_as_told)
{
    struct chance chance = {37};
    struct chain chain = random_chain(&chance, 100, 1 << 20, 50, &budget);
    struct rotor_front front;
    struct error err;
    for (unsigned threads = 1; threads <= 3; threads++) {
        threads_started = 0;
        ck_assert(rotor_front_find(&chain, peak_without(&chain), threads, &front, &budget, &err));
        ck_assert_uint_gt(front.count, 0);
        ck_assert_uint_eq(threads_started, threads - 1); /* the caller works, too */
    }
    chain_release(&chain, &budget);
}
END_TEST

START_TEST(a_front_beyond_the_budget_is_empty)
{
    struct chance chance = {36};
    struct chain chain = random_chain(&chance, 100, 1 << 20, 50, &budget);
    struct budget little = {.limit = 1000};
    struct rotor_front nested = {.count = 1};
    struct error err;
    ck_assert(rotor_front_find(&chain, 1 << 22, 0, &nested, &little, &err));
    ck_assert_uint_eq(nested.count, 0);
    ck_assert_uint_eq(little.used, 0);
    chain_release(&chain, &budget);
}
END_TEST

/* Checks that a search with more slots than memory allows uses the largest number allowed. */
static void check_limited(size_t layers, size_t slots, size_t bytes, enum rotor_limit limit)
{
    struct chance chance = {38};
    struct chain chain = random_chain(&chance, layers, 1 << 28, 1 << 20, &budget);
    struct budget little = {.limit = bytes};
    struct rotor_options options = {.backend = &backend_cpu, .slots = slots};
    struct rotor_report report, again;
    struct rotor_plan plan, same;
    struct error err;
    int64_t within = peak_without(&chain) / 2;
    ck_assert(rotor_solve(&chain, &within, 1, &options, &plan, &report, &little, &err));
    ck_assert_int_eq(report.limit, limit);
    ck_assert(plan.feasible);
    check_plan(&chain, &plan, within);
    if (limit != ROTOR_NO_LIMIT) {
        ck_assert_uint_lt(report.slots, slots);
        ck_assert_uint_gt(report.slots, slots / 100);
        options.slots = report.slots;
    }
    rotor_plan_release(&plan, &little);
    ck_assert(rotor_solve(&chain, &within, 1, &options, &same, &again, &little, &err));
    ck_assert_int_eq(again.limit, ROTOR_NO_LIMIT);
    ck_assert_int_eq(same.slot_bytes, plan.slot_bytes);
    rotor_plan_release(&same, &little);
    ck_assert_uint_eq(little.used, 0);
    chain_release(&chain, &budget);
}

START_TEST(slots_are_limited_by_memory)
{
    check_limited(30, 20000, (size_t)4 << 20, ROTOR_LIMIT_MEMORY);
    check_limited(30, 20000, (size_t)1 << 30, ROTOR_NO_LIMIT);
}
END_TEST

START_TEST(slots_are_limited_by_time)
{
    struct chance chance = {39};
    struct chain chain = random_chain(&chance, ROTOR_MOST_LAYERS, 1 << 28, 1 << 20, &budget);
    struct budget plenty = {.limit = (size_t)1 << 40};
    struct rotor_batch batch = {.chain = &chain, .count = 1, .budget = &plenty};
    struct error err;
    int64_t within = peak_without(&chain) / 2;
    ck_assert(rotor_batch_prepare(&batch, &within, 100000, &err));
    ck_assert_int_eq(batch.limit, ROTOR_LIMIT_TIME);
    ck_assert_uint_gt(batch.slots, 1000);
    ck_assert_uint_lt(batch.slots, 10000);
    ck_assert_uint_le((size_t)batch.problems[0].slots, batch.slots + batch.slots / 8);
    rotor_batch_release(&batch);
    ck_assert_uint_eq(plenty.used, 0);
    chain_release(&chain, &budget);
}
END_TEST

START_TEST(several_budgets_are_answered_as_each_alone)
{
    struct chance chance = {34};
    struct chain chain = random_chain(&chance, 30, 1000, 50, &budget);
    int64_t whole = 0, budgets[4];
    for (size_t i = 0; i < 30; i++)
        whole += chain.xbar[i];
    for (int k = 0; k < 4; k++)
        budgets[k] = whole * (k + 1) / 5;
    struct rotor_options options = {.slots = 150};
    struct rotor_plan plans[4];
    struct rotor_report report;
    struct error err;
    ck_assert(rotor_solve(&chain, budgets, 4, &options, plans, &report, &budget, &err));
    ck_assert_ptr_eq(report.backend, &backend_cpu);
    for (int k = 0; k < 4; k++) {
        struct rotor_plan alone = solve_one(&chain, budgets[k], 150);
        ck_assert_int_eq(alone.feasible, plans[k].feasible);
        ck_assert_int_eq(alone.peak_bytes, plans[k].peak_bytes);
        ck_assert_int_eq(alone.extra_time, plans[k].extra_time);
        rotor_plan_release(&alone, &budget);
        rotor_plan_release(&plans[k], &budget);
    }
    chain_release(&chain, &budget);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

static bool fail_to_solve(const struct cost_problem *problems, struct cost_table *tables,
                          size_t count, const struct backend_options *options, struct error *err)
{
    (void)problems, (void)tables, (void)count, (void)options;
    return error_set(err, STATUS_IO, "the device caught fire");
}

START_TEST(a_device_that_fails_is_replaced_by_the_cpu)
{
    struct chance chance = {35};
    struct chain chain = random_chain(&chance, 5, 10, 5, &budget);
    struct backend burning = {.name = "burning", .solve = fail_to_solve};
    struct rotor_options options = {.backend = &burning};
    struct rotor_plan plan;
    struct rotor_report report;
    struct error err;
    int64_t bytes = 1000;
    ck_assert(rotor_solve(&chain, &bytes, 1, &options, &plan, &report, &budget, &err));
    ck_assert(plan.feasible);
    ck_assert_ptr_eq(report.backend, &backend_cpu);
    ck_assert_str_eq(report.device_error.text, "burning: the device caught fire");
    rotor_plan_release(&plan, &budget);
    chain_release(&chain, &budget);
}
END_TEST

TCase *rotor_tests(void)
{
    TCase *tests = tcase_create("rotor");
    tcase_add_test(tests, plans_are_the_best_of_all_persistent_schedules);
    tcase_add_test(tests, plans_in_coarse_slots_keep_to_the_budget);
    tcase_add_test(tests, the_least_plan_is_the_least);
    tcase_add_test(tests, the_nested_front_goes_on_below);
    tcase_add_test(tests, a_front_is_found_by_as_many_threads_as_told);
    tcase_add_test(tests, a_front_beyond_the_budget_is_empty);
    tcase_add_test(tests, slots_are_limited_by_memory);
    tcase_add_test(tests, slots_are_limited_by_time);
    tcase_add_test(tests, several_budgets_are_answered_as_each_alone);
    tcase_add_test(tests, a_device_that_fails_is_replaced_by_the_cpu);
    return tests;
}
