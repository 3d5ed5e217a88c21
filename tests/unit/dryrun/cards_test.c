#include "dryrun/core/cards.h"

#include <string.h>

#include "unit/dryrun/dryrun.h"

START_TEST(test_find)
{
    ck_assert_str_eq(card_find("t4")->product, "Tesla T4");
    ck_assert_ptr_eq(card_find("h100"), cards);
    ck_assert_ptr_null(card_find("H100"));
    ck_assert_ptr_null(card_find(""));
}
END_TEST

START_TEST(test_table)
{
    for (const struct card *card = cards; card->name; card++) {
        ck_assert_ptr_eq(card_find(card->name), card);
        ck_assert_uint_gt(card->bytes, (uint64_t)1 << 33);
        ck_assert_int_ge(card->major, 7);
        ck_assert_int_gt(card->multiprocessors, 0);
        ck_assert_int_le(card->shared_optin, card->shared);
        ck_assert_int_gt(card->memory_clock, 0);
    }
}
END_TEST

TCase *cards_tests(void)
{
    TCase *tests = tcase_create("cards");
    tcase_add_test(tests, test_find);
    tcase_add_test(tests, test_table);
    return tests;
}
