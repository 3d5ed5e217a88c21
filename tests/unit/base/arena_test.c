#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "unit/base/base.h"

#define PIECES 5000

/* Mostly small, some larger than a chunk. */
static size_t size_of(size_t piece)
{
    return piece % 97 == 0 ? 5000 + piece : piece % 50;
}

START_TEST(pieces_are_aligned_apart_and_lasting)
{
    struct budget budget = {.limit = 64 << 20};
    struct error err = {0};
    struct arena arena;
    static unsigned char *pieces[PIECES];
    arena_init(&arena, &budget);
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] = arena_alloc(&arena, size_of(i), &err);
        ck_assert_ptr_nonnull(pieces[i]);
        ck_assert_uint_eq((uintptr_t)pieces[i] % 8, 0);
        memset(pieces[i], (int)(i % 251), size_of(i));
    }
    size_t overwritten = 0;
    for (size_t i = 0; i < PIECES; i++)
        for (size_t at = 0; at < size_of(i); at++)
            overwritten += pieces[i][at] != i % 251;
    ck_assert_uint_eq(overwritten, 0);
    ck_assert_uint_gt(budget.used, 0);
    arena_release(&arena);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(a_large_piece_does_not_waste_the_chunk)
{
    struct budget budget = {.limit = 64 << 20};
    struct error err = {0};
    struct arena arena;
    arena_init(&arena, &budget);
    char *first = arena_alloc(&arena, 8, &err);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 3 << 20, &err));
    char *second = arena_alloc(&arena, 8, &err);
    ck_assert_ptr_eq(second, first + 8);
    arena_release(&arena);
}
END_TEST

START_TEST(the_first_piece_may_be_large)
{
    struct budget budget = {.limit = 64 << 20};
    struct error err = {0};
    struct arena arena;
    arena_init(&arena, &budget);
    char *piece = arena_alloc(&arena, 5 << 20, &err);
    ck_assert_ptr_nonnull(piece);
    memset(piece, 1, 5 << 20);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 100, &err));
    arena_release(&arena);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(over_budget_is_refused_and_what_was_stays)
{
    struct budget budget = {.limit = 10000};
    struct error err = {0};
    struct arena arena;
    arena_init(&arena, &budget);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 100, &err));
    size_t used = budget.used;
    ck_assert_ptr_null(arena_alloc(&arena, 20000, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_ptr_null(arena_alloc(&arena, SIZE_MAX, &err));
    ck_assert_uint_eq(budget.used, used);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 100, &err));
    arena_release(&arena);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(a_released_arena_can_be_used_again)
{
    struct budget budget = {.limit = 1 << 20};
    struct error err = {0};
    struct arena arena;
    arena_init(&arena, &budget);
    arena_release(&arena);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 0, &err));
    arena_release(&arena);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 1, &err));
    arena_release(&arena);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

TCase *arena_tests(void)
{
    TCase *tests = tcase_create("arena");
    tcase_add_test(tests, pieces_are_aligned_apart_and_lasting);
    tcase_add_test(tests, a_large_piece_does_not_waste_the_chunk);
    tcase_add_test(tests, the_first_piece_may_be_large);
    tcase_add_test(tests, over_budget_is_refused_and_what_was_stays);
    tcase_add_test(tests, a_released_arena_can_be_used_again);
    return tests;
}
