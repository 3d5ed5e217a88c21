#include "model/addrmap.h"

#include <string.h>

#include "unit/model/model.h"
#include "unit/model/random_script.h"

#define ADDRESSES 700
#define STEPS     200000

static struct budget budget;
static struct addrmap map;
static struct error err;

static void create(void)
{
    budget = (struct budget){.limit = 1 << 20};
    addrmap_init(&map, &budget);
}

static void destroy(void)
{
    addrmap_release(&map);
    ck_assert_uint_eq(budget.used, 0);
}

static struct addrmap_slot *put(uint64_t addr)
{
    struct addrmap_slot *slot;
    unit_assert(addrmap_put(&map, addr, &slot, &err));
    return slot;
}

START_TEST(finds_what_was_put)
{
    ck_assert_ptr_null(addrmap_find(&map, 0));
    struct addrmap_slot *slot = put(0);
    ck_assert_uint_eq(slot->tag, 0);
    slot->tag = 7;
    slot->value = 42;
    put(UINT64_MAX)->tag = 1;
    ck_assert_uint_eq(map.count, 2);
    ck_assert_uint_eq(put(0)->value, 42);
    ck_assert_ptr_null(addrmap_find(&map, 1));
    addrmap_remove(&map, addrmap_find(&map, 0));
    ck_assert_ptr_null(addrmap_find(&map, 0));
    ck_assert_ptr_nonnull(addrmap_find(&map, UINT64_MAX));
}
END_TEST

START_TEST(follows_a_plain_array)
{
    static uint32_t model[ADDRESSES]; /* 0: absent */
    struct dice dice = dice_init(1);
    size_t count = 0;
    for (uint32_t step = 1; step <= STEPS; step++) {
        /* Waves: the table fills up and empties again. */
        uint64_t at = dice_roll(&dice, ADDRESSES);
        bool add = dice_roll(&dice, 10) < (step / 5000 % 2 ? 3u : 7u);
        struct addrmap_slot *slot = addrmap_find(&map, at * 512);
        if ((slot != NULL) != (model[at] != 0) || (slot && slot->value != model[at]))
            ck_abort_msg("step %u: address %llu differs", step, (unsigned long long)at);
        if (add && !slot) {
            slot = put(at * 512);
            *slot = (struct addrmap_slot){slot->addr, 0, step, 1};
            model[at] = step;
            count++;
        } else if (!add && slot) {
            addrmap_remove(&map, slot);
            model[at] = 0;
            count--;
        }
        if (map.count != count)
            ck_abort_msg("step %u: %zu entries, not %zu", step, map.count, count);
    }
    for (size_t at = 0; at < ADDRESSES; at++)
        ck_assert_int_eq(addrmap_find(&map, at * 512) != NULL, model[at] != 0);
}
END_TEST

START_TEST(keeps_to_its_budget)
{
    struct addrmap_slot *slot;
    uint64_t addr = 0;
    while (addrmap_put(&map, addr, &slot, &err)) {
        slot->tag = 1;
        addr++;
    }
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_uint_gt(addr, 8000);
    ck_assert_uint_eq(map.count, addr);
    ck_assert_ptr_nonnull(addrmap_find(&map, addr - 1));
}
END_TEST

TCase *addrmap_tests(void)
{
    TCase *tests = tcase_create("addrmap");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, finds_what_was_put);
    tcase_add_test(tests, follows_a_plain_array);
    tcase_add_test(tests, keeps_to_its_budget);
    return tests;
}
