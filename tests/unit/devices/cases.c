#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/sandbox/device_process.h"
#include "commands/sandbox/sandbox.h"
#include "solve/backend/device.h"
#include "unit/devices/devices.h"
#include "unit/solve/problems.h"
#include "unit/unit.h"

#define LARGEST_BATCH 5
#define LEAST_ROUNDS  10 /* so many that some chains are neither easy nor hopeless */

static const struct backend *tested;
static unsigned rounds, every;
static struct random_problem random_problems[LARGEST_BATCH];

/* Around the edges of blocks, of chunks of slots, and of the room that a row has. */
static const int32_t edges[] = {1,
                                2,
                                DEVICE_TILE - 1,
                                DEVICE_TILE,
                                DEVICE_TILE + 1,
                                DEVICE_SLOTS - 1,
                                DEVICE_SLOTS,
                                DEVICE_SLOTS + 1,
                                3 * DEVICE_TILE - 1,
                                3 * DEVICE_TILE,
                                3 * DEVICE_TILE + 1,
                                2 * DEVICE_SLOTS,
                                100};

static int32_t an_edge(struct chance *chance)
{
    return edges[chance_in(chance, 0, sizeof(edges) / sizeof(edges[0]) - 1)];
}

static void check_same(const struct cost_table *found, const struct cost_table *wanted)
{
    for (int32_t j = 0; j < wanted->layers; j++)
        for (int32_t i = 0; i <= j; i++)
            for (int32_t m = 0; m <= wanted->slots; m++) {
                int32_t a = cost_at(found, i, j, m), b = cost_at(wanted, i, j, m);
                if (a != b)
                    ck_abort_msg("%d layers, %d slots: H(%d, %d, %d) is %d, not %d", wanted->layers,
                                 wanted->slots, i, j, m, a, b);
            }
}

/* Returns how many of the tables have both finite and infinite entries for the whole chain. */
static unsigned check_batch(const struct cost_problem *problems, size_t count)
{
    struct cost_table tables[LARGEST_BATCH] = {0}, wanted[LARGEST_BATCH] = {0};
    struct budget budget = {.limit = 1 << 30};
    struct backend_options options = {.threads = 1, .budget = &budget};
    struct error err;
    unsigned mixed = 0;
    ck_assert(cost_reference_solve(problems, wanted, count, &options, &err));
    ck_assert_msg(tested->solve(problems, tables, count, &options, &err), "%s", err.text);
    for (size_t k = 0; k < count; k++) {
        int32_t last = problems[k].layers - 1;
        check_same(&tables[k], &wanted[k]);
        mixed += cost_at(&tables[k], 0, last, 0) == COST_INFINITE &&
                 cost_at(&tables[k], 0, last, problems[k].slots) < COST_INFINITE;
        cost_table_release(&tables[k], &budget);
        cost_table_release(&wanted[k], &budget);
    }
    ck_assert_uint_eq(budget.used, 0);
    return mixed;
}

START_TEST(random_chains_have_the_tables_of_the_reference)
{
    struct chance chance = {11};
    struct cost_problem problems[LARGEST_BATCH];
    unsigned mixed = 0, all = 0;
    for (unsigned round = 0; round < rounds; round++) {
        size_t count = 1 + round % LARGEST_BATCH;
        for (size_t k = 0; k < count; k++) {
            int32_t layers = an_edge(&chance), slots = an_edge(&chance) - 1;
            random_problem_fill(&random_problems[k], &chance, layers, slots,
                                chance_in(&chance, 0, 12), chance_in(&chance, 0, 1000));
            problems[k] = random_problems[k].problem;
        }
        mixed += check_batch(problems, count);
        all += (unsigned)count;
    }
    /* else the chains say little */
    ck_assert_uint_gt(mixed, all / 10);
}
END_TEST

START_TEST(every_pair_of_edges_has_the_table_of_the_reference)
{
    struct chance chance = {12};
    const size_t count = sizeof(edges) / sizeof(edges[0]);
    for (size_t pair = 0; pair < count * count; pair += every) {
        int32_t layers = edges[pair / count], slots = edges[pair % count] - 1;
        random_problem_fill(&random_problems[0], &chance, layers, slots, 4, 100);
        check_batch(&random_problems[0].problem, 1);
    }
}
END_TEST

START_TEST(the_largest_times_do_not_overflow)
{
    struct chance chance = {13};
    int32_t layers = 2 * DEVICE_TILE + 1;
    struct error err;
    random_problem_fill(&random_problems[0], &chance, layers, 40, 3, 0);
    for (int32_t i = 0; i < layers; i++)
        random_problems[0].forward[i] = (COST_INFINITE / layers - 1) / layers;
    ck_assert(cost_problem_check(&random_problems[0].problem, &err));
    ck_assert_uint_eq(check_batch(&random_problems[0].problem, 1), 1);
}
END_TEST

START_TEST(a_batch_beyond_the_budget_leaves_nothing)
{
    struct chance chance = {14};
    random_problem_fill(&random_problems[0], &chance, 40, 100, 5, 5);
    size_t table = cost_table_bytes(&random_problems[0].problem, COST_ROWS);
    struct cost_problem problems[] = {random_problems[0].problem, random_problems[0].problem};
    for (size_t limit = 0; limit <= 2 * table; limit += table / 2) {
        struct cost_table tables[2] = {0};
        struct budget budget = {.limit = limit};
        struct backend_options options = {.budget = &budget};
        struct error err = {0};
        ck_assert(!tested->solve(problems, tables, 2, &options, &err));
        ck_assert_int_eq(err.status, STATUS_LIMIT);
        ck_assert_uint_eq(budget.used, 0);
    }
}
END_TEST

/* Its process does all that the sandbox forbids. A process of its own for the test too, which is to
 * come before this one has opened anything. */
static void solve_in_sandbox(void)
{
    struct chance chance = {15};
    struct cost_problem problems[2];
    struct cost_table tables[2] = {0}, wanted[2] = {0};
    struct budget budget = {.limit = 1 << 28};
    struct backend_options options = {.budget = &budget};
    struct backend_place place;
    struct error err = {.text = "not there"};
    for (size_t k = 0; k < 2; k++) {
        random_problem_fill(&random_problems[k], &chance, 40 + (int32_t)k, 60, 5, 100);
        problems[k] = random_problems[k].problem;
    }
    device_process_start();
    sandbox_enter(NULL);
    bool ok = tested->available(&place) && tested->solve(problems, tables, 2, &options, &err) &&
              cost_reference_solve(problems, wanted, 2, &options, &err);
    if (!ok)
        printf("in the sandbox: %s, %s\n", place.what, err.text);
    for (size_t k = 0; ok && k < 2; k++) {
        size_t cells = (size_t)problems[k].layers * ((size_t)problems[k].layers + 1) / 2;
        ok = tables[k].stride == wanted[k].stride;
        for (size_t cell = 0; ok && cell < cells; cell++)
            ok = memcmp(tables[k].cells + cell * tables[k].stride,
                        wanted[k].cells + cell * tables[k].stride,
                        ((size_t)problems[k].slots + 1) * sizeof(int32_t)) == 0;
    }
    fflush(stdout);
    _exit(ok ? EXIT_SUCCESS : EXIT_FAILURE);
}

static bool works_in_sandbox(void)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        solve_in_sandbox();
    bool passed = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    printf("in the sandbox: %s\n", passed ? "the same tables" : "FAILED");
    return passed;
}

static bool is_there(const struct backend *backend, struct backend_place *place)
{
    device_process_start();
    bool there = backend->available(place);
    return device_process_stop() && there;
}

int device_run(const struct backend *backend, unsigned random_rounds, unsigned every_pair)
{
    struct backend_place place;
    if (!is_there(backend, &place)) {
        printf("skipped: %s: %s\n", backend->name, place.what);
        return 77;
    }
    printf("%s: %s\n", backend->name, place.what);
    fflush(stdout); /* before cases are forked */
    tested = backend;
    bool passed = works_in_sandbox();
    bool is_share = unit_share(random_rounds) < random_rounds;
    rounds = is_share && random_rounds > LEAST_ROUNDS ? LEAST_ROUNDS : random_rounds;
    every = is_share ? 5 * every_pair : every_pair;
    Suite *suite = suite_create(backend->name);
    TCase *cases = tcase_create("device");
    tcase_set_timeout(cases, 300);
    tcase_add_test(cases, random_chains_have_the_tables_of_the_reference);
    tcase_add_test(cases, every_pair_of_edges_has_the_table_of_the_reference);
    tcase_add_test(cases, the_largest_times_do_not_overflow);
    tcase_add_test(cases, a_batch_beyond_the_budget_leaves_nothing);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    /* A driver's handles do not survive a fork. */
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 && passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
