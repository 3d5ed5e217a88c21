/* Caches of keys and values in traces without stacks. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

static void expect(uint64_t addr, enum category category, enum reason reason)
{
    uint8_t why;
    enum category found = capture_category_why(&capture, addr, &why);
    ck_assert_msg(found == category, "%d: %s", (int)addr, category_name(found));
    ck_assert_msg(reason_of(why) == reason, "%d: %s", (int)addr, reason_name(why));
}

/* A pass of `layers` layers, without stacks. The result of each layer is replaced by that of the
 * next one, and its block of the cache by one of `size` bytes. */
static void token_without_stacks(uint64_t pass, uint64_t layers, uint64_t old, uint64_t size)
{
    uint64_t now = 100 * pass;
    born(now + 50, 2000, "");
    for (uint64_t layer = 0; layer < layers; layer++) {
        born(now + layer, size, "");
        if (old > 0)
            freed(now - 100 + layer, old, "");
        born(now + 51 + layer, 2000, "");
        freed(now + 50 + layer, 2000, "");
    }
    freed(now + 50 + layers, 2000, "");
}

/* A model, and 6 tokens. The first pass also makes blocks for cross-attention, which are freed at
 * the end. */
static void generate_without_stacks(uint64_t layers, uint64_t growth)
{
    for (uint64_t i = 0; i < 20; i++)
        born(2000 + i, 5000 + 100 * i, "");
    for (uint64_t i = 0; i < 4; i++)
        born(1000 + i, 3000, "");
    for (uint64_t pass = 1; pass < 7; pass++)
        token_without_stacks(pass, layers, pass > 1 ? 1000 + growth * (pass - 1) : 0,
                             1000 + growth * pass);
    for (uint64_t layer = 0; layer < layers; layer++)
        freed(600 + layer, 1000 + growth * 6, "");
    for (uint64_t i = 0; i < 4; i++)
        freed(1000 + i, 3000, "");
    born(3000, 40, "");
    freed(3000, 40, "");
    capture_load(&capture);
}

START_TEST(a_cache_that_grows_without_stacks)
{
    generate_without_stacks(4, 20);
    for (uint64_t addr = 200; addr < 204; addr++)
        expect(addr, CATEGORY_KV_CACHE, REASON_KV_CACHE_CHAIN);
    expect(600, CATEGORY_KV_CACHE, REASON_KV_CACHE_CHAIN);
    expect(1000, CATEGORY_KV_CACHE, REASON_KV_CACHE_BESIDE);
    ck_assert_int_ne(capture_category(&capture, 251), CATEGORY_KV_CACHE);
    ck_assert_int_ne(capture_category(&capture, 2000), CATEGORY_KV_CACHE);
}
END_TEST

/* Equal blocks that are no cache, such as two lists of results, or the states of a recurrent
 * network. */
START_TEST(what_is_replaced_without_stacks_may_be_no_cache)
{
    generate_without_stacks(_i == 0 ? 2 : 4, _i == 0 ? 20 : 0);
    for (uint64_t addr = 200; addr < 202; addr++)
        ck_assert_int_ne(capture_category(&capture, addr), CATEGORY_KV_CACHE);
    ck_assert_int_ne(capture_category(&capture, 1000), CATEGORY_KV_CACHE);
}
END_TEST

/* Beam search: the list of new blocks is complete before it replaces the list of the old ones, when
 * a pass concatenates them and when they are put in another order. The scores of each token are
 * collected, and freed with the cache. */
START_TEST(a_cache_that_lists_hold)
{
    const uint64_t layers = 12, tokens = 6;
    for (uint64_t i = 0; i < 20; i++)
        born(20000 + i, 5000 + 100 * i, "");
    for (uint64_t token = 0; token < tokens; token++) {
        uint64_t now = 100 * (token + 1), size = 1000 + 20 * token;
        for (uint64_t i = 0; token > 0 && i < layers; i++)
            born(now + 20 + i, size - 20, "");
        for (uint64_t i = 0; token > 0 && i < layers; i++)
            freed(now - 100 + i, size - 20, "");
        born(now + 50, 2000, "");
        for (uint64_t i = 0; i < layers; i++) {
            born(now + i, size, "");
            born(now + 51 + i, 2000, "");
            freed(now + 50 + i, 2000, "");
        }
        for (uint64_t i = 0; token > 0 && i < layers; i++)
            freed(now + 20 + i, size - 20, "");
        born(now + 40, 3000, "");
        freed(now + 50 + layers, 2000, "");
    }
    for (uint64_t i = 0; i < layers; i++)
        freed(100 * tokens + i, 1000 + 20 * (tokens - 1), "");
    for (uint64_t token = 0; token < tokens; token++)
        freed(100 * (token + 1) + 40, 3000, "");
    born(30000, 40, "");
    freed(30000, 40, "");
    capture_load(&capture);
    for (uint64_t i = 0; i < layers; i++) {
        expect(300 + i, CATEGORY_KV_CACHE, REASON_KV_CACHE_CHAIN);
        expect(320 + i, CATEGORY_KV_CACHE, REASON_KV_CACHE_CHAIN);
    }
    ck_assert_int_ne(capture_category(&capture, 140), CATEGORY_KV_CACHE);
    ck_assert_int_ne(capture_category(&capture, 351), CATEGORY_KV_CACHE);
}
END_TEST

TCase *category_chains_tests(void)
{
    TCase *tests = tcase_create("chains");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_cache_that_grows_without_stacks);
    tcase_add_test(tests, a_cache_that_lists_hold);
    tcase_add_loop_test(tests, what_is_replaced_without_stacks_may_be_no_cache, 0, 2);
    return tests;
}
