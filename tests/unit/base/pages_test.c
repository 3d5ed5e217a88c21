#include "base/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "unit/base/base.h"

static void fill(uint8_t *block, size_t from, size_t to)
{
    for (size_t i = from; i < to; i += 509)
        block[i] = (uint8_t)(i * 31 >> 4);
}

static bool holds(const uint8_t *block, size_t to)
{
    for (size_t i = 0; i < to; i += 509)
        if (block[i] != (uint8_t)(i * 31 >> 4))
            return false;
    return true;
}

/* From small to mapped, from mapped to larger, and back down; the contents are kept. */
START_TEST(contents_survive_every_move)
{
    static const size_t sizes[] = {509 * 2,
                                   509 * 1000,
                                   PAGES_HUGE / 509 * 509,
                                   PAGES_HUGE + 509,
                                   PAGES_HUGE * 7 + 509,
                                   PAGES_HUGE * 7 + 1018,
                                   PAGES_HUGE * 40,
                                   509 * 3};
    uint8_t *block = NULL;
    size_t filled = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t kept = filled < sizes[i] ? filled : sizes[i];
        block = pages_resize(block, sizes[i]);
        ck_assert_ptr_nonnull(block);
        ck_assert_uint_eq((uintptr_t)block % 16, 0);
        ck_assert(holds(block, kept));
        filled = sizes[i] / 509 * 509;
        fill(block, 0, filled);
    }
    pages_free(block);
}
END_TEST

START_TEST(impossible_sizes_leave_the_block)
{
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 15};
    for (size_t size = 509; size <= PAGES_HUGE * 2; size += PAGES_HUGE + 509) {
        uint8_t *block = pages_resize(NULL, size);
        ck_assert_ptr_nonnull(block);
        fill(block, 0, size);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            ck_assert_ptr_null(pages_resize(block, sizes[i]));
        ck_assert(holds(block, size));
        pages_free(block);
    }
    pages_free(NULL);
}
END_TEST

TCase *pages_tests(void)
{
    TCase *tests = tcase_create("pages");
    tcase_add_test(tests, contents_survive_every_move);
    tcase_add_test(tests, impossible_sizes_leave_the_block);
    return tests;
}
