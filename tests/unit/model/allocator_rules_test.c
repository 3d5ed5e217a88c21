/* Rounding as the allocator does it. */
#include "model/allocator_rules.h"

#include "unit/model/model.h"

#define MIB (UINT64_C(1) << 20)

START_TEST(blocks_are_multiples_of_512)
{
    struct allocator_rules rules = {.max_split_size = UINT64_MAX};
    ck_assert_uint_eq(allocator_round(&rules, 0), 512);
    ck_assert_uint_eq(allocator_round(&rules, 1), 512);
    ck_assert_uint_eq(allocator_round(&rules, 512), 512);
    ck_assert_uint_eq(allocator_round(&rules, 513), 1024);
    ck_assert_uint_eq(allocator_round(&rules, UINT64_MAX), UINT64_MAX);
}
END_TEST

START_TEST(divisions_of_powers_of_two)
{
    struct allocator_rules rules = {.max_split_size = UINT64_MAX};
    for (int i = 0; i < ALLOCATOR_DIVISIONS; i++)
        rules.divisions[i] = 4;
    ck_assert_uint_eq(allocator_round(&rules, 1200), 1536); /* too small for it */
    ck_assert_uint_eq(allocator_round(&rules, 1200 * 1024), 1280 * 1024);
    ck_assert_uint_eq(allocator_round(&rules, 1 * MIB), 1 * MIB);
    ck_assert_uint_eq(allocator_round(&rules, 7 * MIB + 1), 8 * MIB);
    ck_assert_uint_eq(allocator_round(&rules, 5 * MIB), 5 * MIB);
    rules.divisions[2] = 0; /* requests of 4 to 8 MiB */
    ck_assert_uint_eq(allocator_round(&rules, 7 * MIB + 1), 7 * MIB + 512);
    rules.divisions[15] = UINT64_MAX;
    ck_assert_uint_eq(allocator_round(&rules, UINT64_MAX), UINT64_MAX);
}
END_TEST

START_TEST(segments_by_request)
{
    ck_assert_uint_eq(allocator_segment_size(512), 2 * MIB);
    ck_assert_uint_eq(allocator_segment_size(1 * MIB), 2 * MIB);
    ck_assert_uint_eq(allocator_segment_size(1 * MIB + 512), 20 * MIB);
    ck_assert_uint_eq(allocator_segment_size(10 * MIB - 512), 20 * MIB);
    ck_assert_uint_eq(allocator_segment_size(10 * MIB), 10 * MIB);
    ck_assert_uint_eq(allocator_segment_size(11 * MIB), 12 * MIB);
    ck_assert_uint_eq(allocator_segment_size(UINT64_MAX), UINT64_MAX);
}
END_TEST

TCase *allocator_rules_tests(void)
{
    TCase *tests = tcase_create("allocator_rules");
    tcase_add_test(tests, blocks_are_multiples_of_512);
    tcase_add_test(tests, divisions_of_powers_of_two);
    tcase_add_test(tests, segments_by_request);
    return tests;
}
