#include "base/idtable.h"

#include "unit/base/base.h"

static bool has(const struct idtable *table, uint32_t tag, uint32_t wanted)
{
    struct idprobe probe = idtable_probe(table, tag);
    uint32_t id;
    while (idtable_next(table, &probe, &id))
        if (id == wanted)
            return true;
    return false;
}

static void add(struct idtable *table, uint32_t tag, uint32_t id, struct budget *budget)
{
    struct error err;
    ck_assert(idtable_reserve(table, budget, &err));
    idtable_insert(table, tag, id);
}

START_TEST(empty_finds_nothing)
{
    struct idtable table = {0};
    ck_assert(!has(&table, 0, 0));
}
END_TEST

START_TEST(keeps_ids_through_growth)
{
    struct budget budget = {.limit = 1 << 20};
    struct idtable table = {0};
    for (uint32_t i = 0; i < 5000; i++)
        add(&table, i * 0x9e3779b9U, i, &budget);
    for (uint32_t i = 0; i < 5000; i++)
        ck_assert(has(&table, i * 0x9e3779b9U, i));
    ck_assert(!has(&table, 5000 * 0x9e3779b9U, 5000));
    ck_assert_uint_eq(budget.used, table.capacity * sizeof(struct idslot));
    idtable_release(&table, &budget);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(equal_tags_are_all_found)
{
    struct budget budget = {.limit = 1 << 20};
    struct idtable table = {0};
    for (uint32_t i = 0; i < 200; i++)
        add(&table, UINT32_MAX, i, &budget);
    add(&table, 0, IDTABLE_MAX_ID, &budget);
    for (uint32_t i = 0; i < 200; i++)
        ck_assert(has(&table, UINT32_MAX, i));
    ck_assert(!has(&table, UINT32_MAX, 200));
    ck_assert(has(&table, 0, IDTABLE_MAX_ID));
    idtable_release(&table, &budget);
}
END_TEST

START_TEST(over_budget_keeps_what_was)
{
    struct budget budget = {.limit = 64 * sizeof(struct idslot) + 8};
    struct idtable table = {0};
    struct error err = {0};
    uint32_t count = 0;
    for (; idtable_reserve(&table, &budget, &err); count++)
        idtable_insert(&table, count, count);
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_uint_gt(count, 32);
    for (uint32_t i = 0; i < count; i++)
        ck_assert(has(&table, i, i));
    idtable_release(&table, &budget);
}
END_TEST

static bool same_number(const void *items, uint32_t id, const void *wanted)
{
    return ((const int *)items)[id] == *(const int *)wanted;
}

START_TEST(find_looks_at_the_items)
{
    static const int numbers[] = {10, 20, 30};
    struct budget budget = {.limit = 1 << 20};
    struct idtable table = {0};
    struct error err = {0};
    uint32_t id;
    for (uint32_t i = 0; i < 3; i++) /* equal tags */
        ck_assert(idtable_add(&table, 7, i, &budget, &err));
    ck_assert(idtable_find(&table, 7, same_number, numbers, &numbers[1], &id));
    ck_assert_uint_eq(id, 1);
    ck_assert(!idtable_find(&table, 7, same_number, numbers, &(int){40}, &id));
    ck_assert(!idtable_find(&table, 8, same_number, numbers, &numbers[1], &id));
    idtable_release(&table, &budget);
    budget.limit = 8;
    ck_assert(!idtable_add(&table, 7, 0, &budget, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
}
END_TEST

TCase *idtable_tests(void)
{
    TCase *tests = tcase_create("idtable");
    tcase_add_test(tests, empty_finds_nothing);
    tcase_add_test(tests, keeps_ids_through_growth);
    tcase_add_test(tests, equal_tags_are_all_found);
    tcase_add_test(tests, over_budget_keeps_what_was);
    tcase_add_test(tests, find_looks_at_the_items);
    return tests;
}
