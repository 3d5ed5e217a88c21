/* Sets of blocks, against a sorted array. */
#include "analysis/replay/block_set.h"

#include <string.h>
#include <time.h>

#include "unit/analysis/analysis.h"

#define BLOCKS 3000

static struct memory_block blocks[BLOCKS];

static int compare(const struct memory_block *a, const struct memory_block *b)
{
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->addr > b->addr) - (a->addr < b->addr);
}

static int by_key(const void *a, const void *b)
{
    return compare(*(struct memory_block *const *)a, *(struct memory_block *const *)b);
}

static struct block_key key_of(struct memory_block *block)
{
    return (struct block_key){block->size, block->order, block};
}

static void check_equal(const struct block_set *set, struct memory_block **sorted, size_t count)
{
    struct set_place place = {0, 0}, back = {set->count, 0};
    for (size_t i = 0; i < count; i++, place = block_set_next(set, place))
        ck_assert_ptr_eq(block_set_at(set, place)->block, sorted[i]);
    ck_assert_ptr_null(block_set_at(set, place));
    for (size_t i = count; i-- > 0;) {
        ck_assert(block_set_before(set, &back));
        ck_assert_ptr_eq(block_set_at(set, back)->block, sorted[i]);
    }
    ck_assert(!block_set_before(set, &back));
}

static size_t lower_bound(struct memory_block **sorted, size_t count,
                          const struct memory_block *wanted)
{
    size_t at = 0;
    while (at < count && compare(sorted[at], wanted) < 0)
        at++;
    return at;
}

START_TEST(like_a_sorted_array)
{
    struct budget budget = {.limit = SIZE_MAX / 2};
    struct block_set set = {0};
    struct error err;
    struct memory_block *sorted[BLOCKS];
    bool in[BLOCKS] = {false};
    size_t count = 0;
    srand(11);
    for (size_t i = 0; i < BLOCKS; i++)
        blocks[i] = (struct memory_block){
            .size = 512 * (uint64_t)(rand() % 40), .order = (uint64_t)(rand() % 3), .addr = i};
    for (unsigned step = 0; step < 20000; step++) {
        size_t i = (size_t)rand() % BLOCKS;
        const struct block_key key = key_of(&blocks[i]);
        /* first more and more, in the end fewer */
        bool add = rand() % 20000 > (int)step;
        if (add && !in[i]) {
            ck_assert(block_set_add(&set, &key, &budget, &err));
            sorted[count++] = &blocks[i];
            in[i] = true;
        } else if (!add) {
            ck_assert(block_set_remove(&set, &key, &budget) == in[i]);
            for (size_t k = 0; in[i] && k < count; k++)
                if (sorted[k] == &blocks[i])
                    sorted[k--] = sorted[--count], in[i] = false;
        }
        if (step % 500 != 0)
            continue;
        qsort((void *)sorted, count, sizeof(sorted[0]), by_key);
        check_equal(&set, sorted, count);
        const struct memory_block wanted = {.size = 512 * (uint64_t)(rand() % 41), .order = 1};
        size_t at = lower_bound(sorted, count, &wanted);
        const struct block_key *found =
            block_set_at(&set, block_set_find(&set, wanted.size, wanted.order, wanted.addr));
        ck_assert_ptr_eq(found ? found->block : NULL, at < count ? sorted[at] : NULL);
    }
    block_set_release(&set, &budget);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(memory_is_limited)
{
    struct budget budget = {.limit = 2 * sizeof(struct block_chunk)};
    struct block_set set = {0};
    struct error err;
    bool ok = true;
    for (size_t i = 0; ok && i < BLOCKS; i++) {
        blocks[i] = (struct memory_block){.addr = i};
        const struct block_key key = key_of(&blocks[i]);
        ok = block_set_add(&set, &key, &budget, &err);
    }
    ck_assert(!ok);
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    block_set_release(&set, &budget);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

TCase *replay_block_set_tests(void)
{
    TCase *tests = tcase_create("replay block set");
    tcase_add_test(tests, like_a_sorted_array);
    tcase_add_test(tests, memory_is_limited);
    return tests;
}
