#include "solve/cost/cost_table.h"

#include <stdlib.h>
#include <string.h>

#include "solve/backend/backend.h"
#include "unit/devices/devices.h"
#include "unit/solve/brute.h"
#include "unit/solve/problems.h"
#include "unit/solve/solve.h"

static struct budget budget;

static void reset_budget(void)
{
    budget = (struct budget){.limit = 1 << 30};
}

static void check_layout(enum cost_layout layout, int32_t layers, int32_t slots)
{
    struct cost_problem problem = {.layers = layers, .slots = slots};
    struct cost_table table = {0};
    struct error err;
    ck_assert(cost_table_create(&table, &problem, layout, 0, &budget, &err));
    size_t cells = table.bytes / sizeof(int32_t);
    ck_assert_uint_eq(table.bytes, cost_table_bytes(&problem, layout));
    ck_assert_uint_eq(budget.used, table.bytes);
    memset(table.cells, 0, table.bytes);
    for (int32_t i = 0; i < layers; i++)
        for (int32_t j = i; j < layers; j++)
            for (int32_t m = 0; m <= slots; m++) {
                size_t at = cost_cell_index(&table, i, j, m);
                unit_assert(at < cells);
                unit_assert(table.cells[at] == 0);
                table.cells[at] = 1;
            }
    cost_table_release(&table, &budget);
    ck_assert_uint_eq(budget.used, 0);
}

START_TEST(every_cell_has_a_place_of_its_own)
{
    reset_budget();
    for (int32_t layers = 1; layers < 14; layers++)
        for (int32_t slots = 0; slots < 40; slots += 7) {
            check_layout(COST_ROWS, layers, slots);
            check_layout(COST_PANELS, layers, slots);
        }
}
END_TEST

START_TEST(memory_is_used_again_where_it_suffices)
{
    struct cost_problem large = {.layers = 20, .slots = 60}, small = {.layers = 20, .slots = 50};
    struct cost_table table = {0};
    struct error err;
    reset_budget();
    ck_assert(cost_table_create(&table, &large, COST_PANELS, 100, &budget, &err));
    ck_assert_uint_eq(table.room, cost_table_bytes(&large, COST_PANELS) + 100);
    int32_t *cells = table.cells;
    size_t room = table.room;
    ck_assert(cost_table_create(&table, &small, COST_ROWS, 0, &budget, &err));
    ck_assert_ptr_eq(table.cells, cells);
    ck_assert_uint_eq(table.bytes, cost_table_bytes(&small, COST_ROWS));
    ck_assert_int_eq(table.slots, 50);
    ck_assert_uint_eq(budget.used, room);
    ck_assert(cost_table_create(&table, &large, COST_PANELS, 101, &budget, &err));
    ck_assert_uint_eq(budget.used, room + 1);
    budget.limit = room + 1;
    ck_assert(!cost_table_create(&table, &large, COST_PANELS, 102, &budget, &err));
    ck_assert_ptr_null(table.cells);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(a_table_beyond_the_budget_is_refused)
{
    struct cost_problem problem = {.layers = COST_MAX_LAYERS, .slots = COST_MAX_SLOTS};
    struct cost_table table = {0};
    struct error err;
    reset_budget();
    ck_assert(!cost_table_create(&table, &problem, COST_ROWS, 0, &budget, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

/* Checks that the problem with one changed value is rejected with this status. */
static void check_refused(int32_t *value, int32_t to, enum status status,
                          const struct cost_problem *problem)
{
    struct error err = {0};
    int32_t was = *value;
    ck_assert(cost_problem_check(problem, &err));
    *value = to;
    ck_assert(!cost_problem_check(problem, &err));
    ck_assert_int_eq(err.status, status);
    *value = was;
}

START_TEST(problems_beyond_the_contract_are_refused)
{
    struct chance chance = {1};
    struct random_problem random;
    random_problem_fill(&random, &chance, 5, 9, 4, 4);
    struct cost_problem *problem = &random.problem;
    check_refused(&random.x[2], -1, STATUS_BAD_INPUT, problem);
    check_refused(&random.x[5], -1, STATUS_BAD_INPUT, problem);
    check_refused(&random.xbar[1], random.x[2] - 1, STATUS_BAD_INPUT, problem);
    check_refused(&random.ftmp[4], -1, STATUS_BAD_INPUT, problem);
    check_refused(&random.btmp[4], COST_MAX_SLOTS + 1, STATUS_LIMIT, problem);
    check_refused(&random.forward[3], -1, STATUS_BAD_INPUT, problem);
    check_refused(&random.forward[3], COST_INFINITE / 5, STATUS_LIMIT, problem);
    check_refused(&problem->layers, 0, STATUS_BAD_INPUT, problem);
    check_refused(&problem->slots, -1, STATUS_BAD_INPUT, problem);
    check_refused(&problem->slots, COST_MAX_SLOTS + 1, STATUS_LIMIT, problem);
}
END_TEST

/* Checks the first row of the last column for every amount of memory. */
static void check_against_brute(struct chance *chance, int32_t layers)
{
    struct random_problem random;
    struct cost_table table = {0};
    struct error err;
    random_problem_fill(&random, chance, layers, chance_in(chance, 3, 20), chance_in(chance, 0, 5),
                        chance_in(chance, 0, 9));
    struct backend_options options = {.budget = &budget};
    ck_assert(cost_problem_check(&random.problem, &err));
    ck_assert(cost_reference_solve(&random.problem, &table, 1, &options, &err));
    for (int32_t m = 0; m <= random.problem.slots; m += layers > 4 ? 4 : 1)
        ck_assert_int_eq(cost_at(&table, 0, layers - 1, m), brute_extra_time(&random.problem, m));
    cost_table_release(&table, &budget);
}

START_TEST(the_reference_finds_what_trying_all_schedules_finds)
{
    struct chance chance = {2};
    reset_budget();
    for (unsigned round = 0; round < unit_share(2000); round++)
        check_against_brute(&chance, chance_in(&chance, 1, 4));
    for (int round = 0; round < 60; round++)
        check_against_brute(&chance, chance_in(&chance, 5, 6));
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

TCase *cost_table_tests(void)
{
    TCase *tests = tcase_create("cost table");
    tcase_add_test(tests, every_cell_has_a_place_of_its_own);
    tcase_add_test(tests, memory_is_used_again_where_it_suffices);
    tcase_add_test(tests, a_table_beyond_the_budget_is_refused);
    tcase_add_test(tests, problems_beyond_the_contract_are_refused);
    tcase_add_test(tests, the_reference_finds_what_trying_all_schedules_finds);
    return tests;
}
