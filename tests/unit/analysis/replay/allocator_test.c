/* The model of PyTorch's allocator, against what the allocator itself did, and with many blocks. */
#include "analysis/replay/allocator.h"

#include <stdio.h>

#include "analysis/replay/conf.h"
#include "base/buffer.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/replay/torch_programs.h"

#define MIB UINT64_C(1048576)

/* Made by random programs on the libraries of these versions: pools, streams, expandable segments,
 * garbage collection, limits, all settings of the allocator. */
static const char *const recorded[] = {"torch-2.1.txt", "torch-2.8.txt", "torch-2.12.txt",
                                       "torch-2.15.txt"};

START_TEST(like_torch)
{
    const char *srcdir = getenv("srcdir");
    struct buffer path = BUFFER_INIT;
    struct torch_programs result;
    buffer_printf(&path, "%s/tests/unit/analysis/replay/%s", srcdir ? srcdir : ".", recorded[_i]);
    ck_assert_msg(torch_programs_run(path.bytes, &result), "%s", path.bytes);
    ck_assert_msg(result.differing == 0, "%s: %s", recorded[_i], result.first);
    ck_assert_uint_eq(result.programs, 20);
    ck_assert_uint_gt(result.calls, 1500);
    buffer_release(&path);
}
END_TEST

static const struct allocator_place place = {.stream = 0};
static const struct allocator_places places = {&place, 1, 1};

static struct allocator *create(const char *conf, uint64_t capacity, struct budget *budget)
{
    struct allocator_settings settings;
    struct error err;
    const struct allocator_device device = {capacity, UINT64_C(80) << 30, CAPACITY_NONE};
    ck_assert(conf_parse(conf, &settings, &err));
    return allocator_create(&settings, &device, TIE_ADDRESS, &places, NULL, budget, &err);
}

/* A million free blocks at once, unless only a share of the cases is wanted. */
#define MANY 2000000

/* Every second of many blocks is freed, and then all. With a sorted array, each free would move
 * megabytes. */
START_TEST(many_free_blocks)
{
    struct budget budget = {.limit = SIZE_MAX / 2};
    struct error err;
    struct allocator *allocator = create("", CAPACITY_NONE, &budget);
    size_t many = unit_share(MANY);
    struct memory_block **blocks = calloc(many, sizeof(*blocks));
    for (size_t i = 0; i < many; i++)
        unit_assert(allocator_malloc(allocator, 0, 512 + 512 * (i * 7919 % 500), &blocks[i], &err));
    uint64_t reserved = allocator_totals(allocator)->reserved;
    for (size_t first = 0; first < 2; first++)
        for (size_t i = first; i < many; i += 2)
            unit_assert(allocator_free_completed(allocator, &blocks[i], &err));
    ck_assert_uint_eq(allocator_totals(allocator)->reserved, reserved);
    ck_assert_uint_eq(allocator_totals(allocator)->allocated, 0);
    ck_assert(allocator_empty_cache(allocator, &err));
    ck_assert_uint_eq(allocator_totals(allocator)->reserved, 0);
    allocator_destroy(allocator);
    free(blocks);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(out_of_memory)
{
    struct budget budget = {.limit = SIZE_MAX / 2};
    struct error err;
    struct allocator *allocator = create("expandable_segments:True", 100 * MIB, &budget);
    struct memory_block *block, *small;
    ck_assert(allocator_malloc(allocator, 0, 1, &small, &err));
    ck_assert(allocator_malloc(allocator, 0, 101 * MIB, &block, &err));
    ck_assert_ptr_null(block);
    ck_assert_uint_eq(allocator_totals(allocator)->ooms, 1);
    ck_assert_uint_eq(allocator_totals(allocator)->retries, 1);
    ck_assert(allocator_malloc(allocator, 0, UINT64_MAX, &block, &err));
    ck_assert_ptr_null(block);
    ck_assert(allocator_malloc(allocator, 0, 79 * MIB, &block, &err));
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_eq(allocator_totals(allocator)->peak_reserved, 82 * MIB);
    allocator_destroy(allocator);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(budget_is_kept)
{
    struct budget budget = {.limit = 300000};
    struct error err;
    struct allocator *allocator = create("", CAPACITY_NONE, &budget);
    struct memory_block *block;
    bool ok = true;
    for (unsigned i = 0; ok && i < 100000; i++)
        ok = allocator_malloc(allocator, 0, 512, &block, &err);
    ck_assert(!ok);
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    allocator_destroy(allocator);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

TCase *replay_allocator_tests(void)
{
    TCase *tests = tcase_create("replay allocator");
    tcase_add_loop_test(tests, like_torch, 0, sizeof(recorded) / sizeof(recorded[0]));
    tcase_add_test(tests, many_free_blocks);
    tcase_add_test(tests, out_of_memory);
    tcase_add_test(tests, budget_is_kept);
    return tests;
}
