#include <stdlib.h>

#include "dryrun/core/space.h"
#include "unit/dryrun/dryrun.h"

START_TEST(test_first_fit)
{
    struct space space = {.base = 0x1000, .size = 0x1000};
    ck_assert_uint_eq(space_take(&space, 0x100, 0x100), 0x1000);
    ck_assert_uint_eq(space_take(&space, 0x200, 0x100), 0x1100);
    ck_assert_uint_eq(space_take(&space, 0x100, 0x100), 0x1300);
    ck_assert_uint_eq(space_give_back(&space, 0x1100), 0x200);
    ck_assert_uint_eq(space_take(&space, 0x300, 0x100), 0x1400); /* too large for the hole */
    ck_assert_uint_eq(space_take(&space, 0x80, 0x100), 0x1100);
    ck_assert_uint_eq(space_take(&space, 0x100, 0x100), 0x1200); /* 0x1180 is not aligned */
    ck_assert_uint_eq(space_take(&space, 0x901, 1), 0x0);
    ck_assert_uint_eq(space_take(&space, 0x900, 1), 0x1700);
    ck_assert_uint_eq(space_take(&space, 0x80, 1), 0x1180);
    ck_assert_uint_eq(space_take(&space, 1, 1), 0);
    space_release(&space);
}
END_TEST

START_TEST(test_limits)
{
    struct space space = {.base = 0x1000, .size = 0x1000};
    ck_assert_uint_eq(space_take(&space, 0, 1), 0);
    ck_assert_uint_eq(space_take(&space, 0x1001, 1), 0);
    ck_assert_uint_eq(space_take(&space, UINT64_MAX, 1), 0);
    ck_assert_uint_eq(space_take(&space, 0x1000, 0x10), 0x1000);
    ck_assert_uint_eq(space_give_back(&space, 0x1001), 0);
    ck_assert_uint_eq(space_give_back(&space, 0), 0);
    ck_assert_uint_eq(space_give_back(&space, 0x1000), 0x1000);
    ck_assert_uint_eq(space_give_back(&space, 0x1000), 0);
    space_release(&space);
}
END_TEST

START_TEST(test_find)
{
    struct space space = {.base = 0x1000, .size = 0x1000};
    ck_assert_uint_eq(space_take(&space, 0x100, 1), 0x1000);
    ck_assert(space_take_at(&space, 0x5000, 0x10)); /* registered memory lies anywhere */
    ck_assert_ptr_null(space_find(&space, 0xfff));
    ck_assert_uint_eq(space_find(&space, 0x10ff)->address, 0x1000);
    ck_assert_ptr_null(space_find(&space, 0x1100));
    ck_assert_uint_eq(space_find(&space, 0x500f)->size, 0x10);
    ck_assert(space_holds(&space, 0x1fff));
    ck_assert(!space_holds(&space, 0x2000));
    space_release(&space);
}
END_TEST

/* The same calls give the same addresses, and blocks never overlap. */
START_TEST(test_random_calls)
{
    struct space one = {.base = 1 << 20, .size = 1 << 20}, two = one;
    uint64_t held[64] = {0};
    srand(7);
    for (int i = 0; i < 5000; i++) {
        size_t slot = (size_t)rand() % 64;
        if (held[slot]) {
            ck_assert_uint_eq(space_give_back(&one, held[slot]), space_give_back(&two, held[slot]));
            held[slot] = 0;
            continue;
        }
        uint64_t size = (uint64_t)rand() % 40000 + 1, align = (uint64_t)1 << rand() % 12;
        held[slot] = space_take(&one, size, align);
        ck_assert_uint_eq(held[slot], space_take(&two, size, align));
        ck_assert_uint_eq(held[slot] % align, 0);
        for (size_t j = 1; j < one.count; j++)
            ck_assert_uint_le(one.taken[j - 1].address + one.taken[j - 1].size,
                              one.taken[j].address);
    }
    space_release(&one);
    space_release(&two);
}
END_TEST

TCase *space_tests(void)
{
    TCase *tests = tcase_create("space");
    tcase_add_test(tests, test_first_fit);
    tcase_add_test(tests, test_limits);
    tcase_add_test(tests, test_find);
    tcase_add_test(tests, test_random_calls);
    return tests;
}
