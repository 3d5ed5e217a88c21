#include "solve/choice/choice.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "solve/cpu/variant.h"
#include "unit/devices/devices.h"
#include "unit/solve/problems.h"
#include "unit/solve/solve.h"

#define LARGEST_BATCH 3

static bool same(const struct cost_table *a, const struct cost_table *b)
{
    for (int32_t j = 0; j < a->layers; j++)
        for (int32_t i = 0; i <= j; i++)
            for (int32_t m = 0; m <= a->slots; m++)
                if (cost_at(a, i, j, m) != cost_at(b, i, j, m))
                    return false;
    return a->layers == b->layers && a->slots == b->slots;
}

static void check_batch(const struct backend *backend, struct chance *chance, size_t count,
                        unsigned threads)
{
    static struct random_problem random[LARGEST_BATCH];
    struct cost_problem problems[LARGEST_BATCH];
    struct cost_table tables[LARGEST_BATCH] = {0}, wanted[LARGEST_BATCH] = {0};
    struct budget budget = {.limit = 1 << 30};
    struct backend_options options = {.threads = threads, .budget = &budget};
    struct error err;
    for (size_t k = 0; k < count; k++) {
        random_problem_fill(&random[k], chance, chance_in(chance, 1, 40), chance_in(chance, 0, 120),
                            chance_in(chance, 0, 20), chance_in(chance, 0, 1000));
        problems[k] = random[k].problem;
    }
    ck_assert(cost_reference_solve(problems, wanted, count, &options, &err));
    ck_assert_msg(backend->solve(problems, tables, count, &options, &err), "%s: %s", backend->name,
                  err.text);
    for (size_t k = 0; k < count; k++) {
        ck_assert(same(&tables[k], &wanted[k]));
        cost_table_release(&tables[k], &budget);
        cost_table_release(&wanted[k], &budget);
    }
    ck_assert_uint_eq(budget.used, 0);
}

/* True if there is a device. A driver may abort the process, as PoCL does where it finds no /sys,
 * so another process asks first, as in the program. */
static bool is_available(const struct backend *backend)
{
    struct backend_place place;
    int status;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(backend->available(&place) ? 0 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        fprintf(stderr, "%s is left out: its driver aborts\n", backend->name);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && backend->available(&place);
}

START_TEST(every_back_end_gives_the_table_of_the_reference)
{
    struct chance chance = {3};
    for (size_t b = 0; backends[b]; b++) {
        if (!is_available(backends[b]))
            continue;
        for (unsigned round = 0; round < unit_share(60); round++)
            check_batch(backends[b], &chance, (size_t)chance_in(&chance, 1, LARGEST_BATCH),
                        round % 4);
    }
}
END_TEST

static void check_variant(const struct cpu_variant *variant, const struct cost_problem *problem,
                          unsigned threads, const struct cost_table *wanted, struct budget *budget)
{
    struct cost_table table = {0};
    struct error err;
    ck_assert(cpu_solve_with(variant, problem, &table, 1, threads, NULL, budget, &err));
    ck_assert_msg(same(&table, wanted), "%s, %d layers, %d slots, %u threads", variant->name,
                  problem->layers, problem->slots, threads);
    cost_table_release(&table, budget);
}

/* Checks the table of every variant that the processor supports. */
static void check_problem(const struct cost_problem *problem, unsigned threads)
{
    struct cost_table wanted = {0};
    struct budget budget = {.limit = 1 << 30};
    struct backend_options options = {.budget = &budget};
    struct error err;
    ck_assert(cost_problem_check(problem, &err));
    ck_assert(cost_reference_solve(problem, &wanted, 1, &options, &err));
    for (size_t k = 0; k < cpu_variant_count; k++)
        if (cpu_variants[k].supported())
            check_variant(&cpu_variants[k], problem, threads, &wanted, &budget);
    cost_table_release(&wanted, &budget);
    ck_assert_uint_eq(budget.used, 0);
}

/* Checks a random problem with times up to `time`. */
static void check_random(struct chance *chance, int32_t layers, int32_t slots, int32_t time,
                         unsigned threads)
{
    static struct random_problem random;
    random_problem_fill(&random, chance, layers, slots, chance_in(chance, 0, 1 + slots / 6),
                        chance_in(chance, 0, time));
    check_problem(&random.problem, threads);
}

/* Sizes near multiples of strips, blocks and spans, and more threads than strips. */
START_TEST(every_cpu_variant_gives_the_table_of_the_reference)
{
    struct chance chance = {5};
    for (int32_t layers = 1; layers < 20; layers++)
        check_random(&chance, layers, layers * 5 % 37, 1000, 1);
    for (unsigned i = 0; i < unit_share(7); i++) {
        unsigned threads = 7 - i;
        check_random(&chance, 90, 47 + (int32_t)threads, 1000, threads);
        check_random(&chance, 128, 100, 1000, threads);
    }
    /* Values as large as possible, so that bounds could overflow, and values so small that many
     * are equal. */
    for (unsigned i = 0; i < unit_share(20); i++) {
        int32_t layers = 87 - 3 * (int32_t)i;
        int32_t most = COST_INFINITE / layers / layers - 1;
        check_random(&chance, layers, layers * 3, most, 1);
        check_random(&chance, layers, layers * 3, 1, 1);
    }
}
END_TEST

/* Chains whose bounds are extremely tight, loose or far apart: all costs are zero, all layers are
 * equal, tensors take no slot or more slots than there are, one layer has all the time, or as much
 * as the check accepts. */
START_TEST(every_cpu_variant_gives_the_table_of_extreme_chains)
{
    static struct random_problem random;
    static const int32_t sizes[] = {0, 1, 2, 40, 5000, COST_MAX_SLOTS / 2};
    struct chance chance = {7};
    for (unsigned pick = 0; pick < unit_share(36); pick++) {
        unsigned round = pick * 13 % 36; /* each of 36 once; the first three have all times */
        int32_t layers = chance_in(&chance, 20, 75), size = sizes[round % 6];
        int32_t most = COST_INFINITE / layers / layers - 1;
        int32_t time = (const int32_t[]){0, 1, most}[round / 12];
        random_problem_fill(&random, &chance, layers, chance_in(&chance, 100, 200), size, time);
        for (int32_t i = 0; i < layers && round % 12 >= 6; i++) { /* all layers are equal */
            random.x[i + 1] = random.x[0];
            random.xbar[i] = random.x[0] + (size > 0);
            random.ftmp[i] = random.btmp[i] = random.ftmp[0];
            random.forward[i] = random.forward[0];
        }
        if (round % 4 == 3) {
            for (int32_t i = 0; i < layers; i++)
                random.forward[i] = 0;
            random.forward[chance_in(&chance, 0, layers - 1)] = most * layers;
        }
        check_problem(&random.problem, 1 + round % 3);
    }
}
END_TEST

START_TEST(the_best_variant_is_supported)
{
    ck_assert(cpu_best_variant()->supported());
    ck_assert(cpu_variants[cpu_variant_count - 1].supported());
}
END_TEST

START_TEST(a_batch_beyond_the_budget_leaves_nothing)
{
    struct chance chance = {4};
    static struct random_problem random;
    random_problem_fill(&random, &chance, 40, 100, 5, 5);
    struct cost_problem problems[] = {random.problem, random.problem};
    for (size_t b = 0; backends[b]; b++) {
        struct cost_table tables[2] = {0};
        struct budget budget = {.limit = cost_table_bytes(&random.problem, COST_ROWS) * 3 / 2};
        struct backend_options options = {.budget = &budget};
        struct error err = {0};
        if (!is_available(backends[b]))
            continue;
        ck_assert(!backends[b]->solve(problems, tables, 2, &options, &err));
        ck_assert_int_eq(err.status, STATUS_LIMIT);
        ck_assert_uint_eq(budget.used, 0);
    }
}
END_TEST

/* Each thread needs its own memory: if it is short, fewer threads fill the same table. */
START_TEST(memory_for_one_thread_is_enough)
{
    static struct random_problem random;
    struct chance chance = {9};
    struct backend_options options = {.threads = 16};
    struct cost_table tables[2] = {0};
    struct error err;
    random_problem_fill(&random, &chance, 90, 300, 40, 1000);
    size_t least = backend_cpu_bytes(90, 300);
    struct budget budgets[] = {{.limit = least}, {.limit = (size_t)1 << 30}};
    for (size_t k = 0; k < 2; k++) {
        options.budget = &budgets[k];
        ck_assert(backend_cpu.solve(&random.problem, &tables[k], 1, &options, &err));
    }
    ck_assert_uint_le(tables[0].room, least);
    ck_assert_uint_gt(tables[1].room, least);
    ck_assert(same(&tables[0], &tables[1]));
    for (size_t k = 0; k < 2; k++)
        cost_table_release(&tables[k], &budgets[k]);
    struct budget less = {.limit = least / 2};
    options.budget = &less;
    ck_assert(!backend_cpu.solve(&random.problem, &tables[0], 1, &options, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
}
END_TEST

START_TEST(names_find_back_ends)
{
    ck_assert_ptr_eq(backend_find("cpu"), &backend_cpu);
    ck_assert_ptr_eq(backends[0], &backend_cpu);
    ck_assert_ptr_null(backend_find("abacus"));
}
END_TEST

START_TEST(small_problems_stay_on_the_cpu)
{
    struct cost_problem problem = {.layers = 20, .slots = 100};
    ck_assert_ptr_eq(backend_choose(&problem, 1, 1), &backend_cpu);
}
END_TEST

TCase *backend_tests(void)
{
    TCase *tests = tcase_create("backend");
    tcase_add_test(tests, every_back_end_gives_the_table_of_the_reference);
    tcase_add_test(tests, every_cpu_variant_gives_the_table_of_the_reference);
    tcase_add_test(tests, every_cpu_variant_gives_the_table_of_extreme_chains);
    tcase_add_test(tests, the_best_variant_is_supported);
    tcase_add_test(tests, a_batch_beyond_the_budget_leaves_nothing);
    tcase_add_test(tests, memory_for_one_thread_is_enough);
    tcase_add_test(tests, names_find_back_ends);
    tcase_add_test(tests, small_problems_stay_on_the_cpu);
    return tests;
}
