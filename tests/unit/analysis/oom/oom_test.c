/* The verdict on an out-of-memory event, and its words. */
#include "analysis/oom/words.h"

#include <string.h>

#include "unit/analysis/analysis.h"

#define MIB (UINT64_C(1) << 20)

static struct allocator_rules rules;
static struct oom_row row;

/* A request for 40 MiB on a device that is full, with 10 MiB of holes in its pool. */
static void setup(void)
{
    rules = (struct allocator_rules){.is_known = true, .max_split_size = UINT64_MAX};
    row = (struct oom_row){
        .requested_bytes = 40 * MIB,
        .segment_bytes = 40 * MIB,
        .device_free_bytes = 1 * MIB,
        .at = {.active_bytes = 100 << 20,
               .allocated_bytes = 100 << 20,
               .reserved_bytes = 110 << 20},
        .layout = {.is_known = true,
                   .inactive_bytes = 10 * MIB,
                   .pool_bytes = 10 * MIB,
                   .largest_bytes = 10 * MIB},
        .stack = STACK_NONE,
    };
}

static void judge(const char *doubt, enum oom_verdict verdict, const char *sentence,
                  const char *next)
{
    row.verdict = oom_choose_verdict(&row);
    oom_write_sentences(&row, &rules, doubt, &(struct oom_question){.unit = UNIT_AUTO});
    ck_assert_str_eq(oom_verdict_name(row.verdict), oom_verdict_name(verdict));
    ck_assert_msg(strstr(row.sentence, sentence) != NULL, "\"%s\" is not in \"%s\"", sentence,
                  row.sentence);
    ck_assert_msg(strstr(row.next, next) != NULL, "\"%s\" is not in \"%s\"", next, row.next);
}

START_TEST(too_much_in_use)
{
    judge(NULL, OOM_SHORTAGE,
          "100.00 MiB are in use, and the 1.00 MiB free on the device plus 10.00 MiB", "");
}
END_TEST

START_TEST(a_shortage_names_what_holds_most)
{
    char label[] = "model.py:39 forward";
    struct oom_site site = {
        .bytes = 90 << 20, .count = 3, .category = CATEGORY_ACTIVATION, .label = label};
    row.categories[0].category = CATEGORY_ACTIVATION;
    row.categories[0].bytes = 95 << 20;
    row.category_count = 1;
    row.sites = &site;
    row.site_count = 1;
    judge(NULL, OOM_SHORTAGE, "a true shortage", "the largest category is activation (95.00 MiB)");
    judge(NULL, OOM_SHORTAGE, "", "else torch.inference_mode()");
    oom_write_sentences(&row, &rules, NULL, &(struct oom_question){.trains = true});
    ck_assert_ptr_null(strstr(row.next, "inference_mode"));
    ck_assert_ptr_nonnull(strstr(row.next, "torch.utils.checkpoint"));
    judge(NULL, OOM_SHORTAGE, "a true shortage", "torch.utils.checkpoint");
    judge(NULL, OOM_SHORTAGE, "a true shortage", "model.py:39 forward (activation, 90.00 MiB)");
    row.categories[0].category = CATEGORY_UNKNOWN;
    strcpy(label, "(no stack recorded)");
    judge(NULL, OOM_SHORTAGE, "a true shortage", "record the history from the start");
}
END_TEST

START_TEST(enough_in_pieces)
{
    row.layout.pool_bytes = row.layout.inactive_bytes = 39 * MIB;
    judge(NULL, OOM_FRAGMENTATION,
          "39.00 MiB unused in the pool's segments would be enough together, "
          "but the largest hole is only 10.00 MiB",
          "expandable_segments:True");
    rules.expandable_segments = true;
    judge(NULL, OOM_FRAGMENTATION, "fragmentation", "is already on");
    row.layout.pool_bytes--;
    row.layout.inactive_bytes--;
    judge(NULL, OOM_SHORTAGE, "a true shortage", "");
}
END_TEST

/* Nearly all that is reserved is in use: the next request would fail, too. */
START_TEST(pieces_that_are_few)
{
    char label[] = "model.py:39 forward";
    struct oom_site site = {
        .bytes = 900 << 20, .count = 3, .category = CATEGORY_ACTIVATION, .label = label};
    row.at = (struct moment){.active_bytes = 960 << 20, .reserved_bytes = 1000 << 20};
    row.layout.inactive_bytes = row.layout.pool_bytes = 40 * MIB;
    row.categories[0].category = CATEGORY_ACTIVATION;
    row.categories[0].bytes = 950 << 20;
    row.category_count = 1;
    row.sites = &site;
    row.site_count = 1;
    judge(NULL, OOM_FRAGMENTATION, "fragmentation",
          "expandable_segments:True before the first CUDA call, but that gains at most 40.00 MiB; "
          "the largest category is activation (950.00 MiB)");
    row.at.reserved_bytes = 800 << 20;
    judge(NULL, OOM_FRAGMENTATION, "fragmentation", "before the first CUDA call");
    ck_assert_ptr_null(strstr(row.next, "gains"));
}
END_TEST

START_TEST(what_pins_is_named)
{
    char label[] = "log.py:7 keep";
    struct pin_row pin = {
        .segments = 3, .block_bytes = 6 * MIB, .pinned_bytes = 54 * MIB, .label = label};
    row.layout.pool_bytes = row.layout.inactive_bytes = 54 * MIB;
    row.pinned = (struct pin_rows){.items = &pin, .count = 1};
    judge(NULL, OOM_FRAGMENTATION, "",
          "3 blocks of log.py:7 keep, 6.00 MiB in all, keep 54.00 MiB");
    pin.segments = 1;
    judge(NULL, OOM_FRAGMENTATION, "", "1 block of log.py:7 keep, 6.00 MiB, keeps 54.00 MiB");
}
END_TEST

/* The unused memory of pools, in MiB. pool() adds one. */
static struct pool_row pools[8];
static size_t pool_count;

static void pool(uint64_t id, int64_t stream, bool is_small, uint64_t split, uint64_t whole)
{
    pools[pool_count++] =
        (struct pool_row){.key = {.pool = {0, id}, .stream = stream, .is_small = is_small},
                          .inactive_split_bytes = split * MIB,
                          .releasable_bytes = whole * MIB};
}

/* Judges the pools added since the last call, with 10 MiB of holes in the request's own pool. */
static void judge_elsewhere(const char *sentence, const char *next)
{
    struct pool_rows rows = {.items = pools, .count = pool_count};
    row.layout.elsewhere_bytes = 0;
    for (size_t i = 0; i < pool_count; i++)
        if (!pool_key_equal(&pools[i].key, &row.key))
            row.layout.elsewhere_bytes += pools[i].inactive_split_bytes + pools[i].releasable_bytes;
    row.layout.inactive_bytes = row.layout.elsewhere_bytes + row.layout.pool_bytes;
    oom_find_elsewhere(&rows, &row.key, &row.layout.elsewhere);
    judge(NULL, OOM_OTHER_POOL, sentence, next);
    pool_count = 0;
}

START_TEST(free_on_another_stream)
{
    pool(0, 7, false, 20, 30);
    pool(0, 0, false, 10, 0);
    pool(0, 7, true, 0, 2);
    pool(0, 8, false, 0, 0);
    judge_elsewhere("52.00 MiB lie unused in the default pool of stream 0x7; the largest hole in "
                    "the pool of this request is 10.00 MiB",
                    "allocate on a single stream");
    pool(0, 7, false, 20, 0);
    pool(0, 9, false, 30, 0);
    pool(0, 7, true, 1, 0);
    judge_elsewhere("51.00 MiB lie unused in the pools of 2 other streams, of which stream 0x9 "
                    "has the most, 30.00 MiB; ",
                    "allocate on a single stream");
}
END_TEST

START_TEST(free_in_private_pools)
{
    pool(3, 5, false, 0, 50);
    judge_elsewhere("50.00 MiB lie unused in private pool (0, 3) of a CUDA graph; ",
                    "delete that CUDA graph once it is no longer needed");
    pool(1, 0, false, 0, 20);
    pool(2, 5, true, 0, 2);
    pool(3, 5, false, 20, 0);
    pool(2, 5, false, 10, 8);
    judge_elsewhere(
        "cannot use it: 60.00 MiB lie unused in 3 private pools of CUDA graphs, 20.00 MiB "
        "each; the largest hole in the pool of this request is 10.00 MiB",
        "share one pool");
    pool(1, 0, false, 0, 20);
    pool(2, 0, false, 0, 21);
    row.layout.largest_bytes = row.layout.pool_bytes = 0;
    judge_elsewhere("41.00 MiB lie unused in 2 private pools of CUDA graphs, of which (0, 2) has "
                    "the most, 21.00 MiB; the pool of this request has no hole",
                    "share one pool");
}
END_TEST

START_TEST(free_in_pools_of_several_kinds)
{
    /* that of the stream is the largest, but most of all lies in the others */
    pool(0, 7, false, 0, 30);
    pool(1, 0, false, 0, 20);
    pool(2, 0, false, 0, 20);
    pool(0, 0, true, 1, 0);
    judge_elsewhere("of 71.00 MiB unused in other pools, 40.00 MiB lie in 2 private pools of CUDA "
                    "graphs, 20.00 MiB each; ",
                    "share one pool");
    pool(0, 0, true, 30, 1);
    pool(0, 7, false, 0, 30);
    judge_elsewhere("31.00 MiB lie in the default pool, for requests up to 1 MiB; ",
                    "expandable_segments:True");
    pool(0, 0, true, 50, 0);
    rules.expandable_segments = true;
    judge_elsewhere("50.00 MiB lie unused in the default pool, for requests up to 1 MiB",
                    "is already on");
    ck_assert_ptr_null(strstr(row.next, "set PYTORCH"));
}
END_TEST

START_TEST(free_but_not_for_a_graph)
{
    row.key = (struct pool_key){.pool = {0, 4}, .stream = 5};
    pool(4, 5, false, 10, 0);
    pool(0, 0, false, 20, 20);
    pool(0, 0, true, 10, 0);
    judge_elsewhere("50.00 MiB lie unused in the default pool of stream 0; ",
                    "before the capture begins");
    pool(0, 0, false, 0, 25);
    pool(0, 5, false, 25, 0);
    judge_elsewhere("50.00 MiB lie unused in the default pools of 2 streams, 25.00 MiB each; ",
                    "before the capture begins");
    pool(4, 6, false, 50, 0);
    judge_elsewhere("50.00 MiB lie unused in private pool (0, 4) of a CUDA graph of stream 0x6; ",
                    "allocate on a single stream");
}
END_TEST

static void want(uint64_t bytes)
{
    row.requested_bytes = row.segment_bytes = bytes;
}

START_TEST(held_by_others)
{
    want(1500 * MIB);
    row.device_bytes = 1700 * MIB;
    row.other_bytes = 1499 * MIB;
    judge(NULL, OOM_OTHER_PROCESS, "1.46 GiB of the device's 1.66 GiB are held by other",
          "nvidia-smi");
    row.other_bytes = 1498 * MIB; /* would not have been enough */
    judge(NULL, OOM_SHORTAGE, "", "");
}
END_TEST

/* What others have taken since more memory was known to be there includes no CUDA context. */
START_TEST(taken_by_others)
{
    row.device_is_least = true;
    row.device_bytes = 150 * MIB;
    row.other_bytes = 39 * MIB;
    judge(NULL, OOM_OTHER_PROCESS, "at least 39.00 MiB of the device's memory (150.00 MiB or more)",
          "nvidia-smi");
    row.other_bytes = 38 * MIB;
    judge(NULL, OOM_SHORTAGE, "", "");
}
END_TEST

/* A CUDA context, and the like, takes up to a GiB, or a 20th of the device. */
START_TEST(held_by_the_context)
{
    want(20 * MIB);
    row.layout.largest_bytes = row.layout.pool_bytes = row.layout.inactive_bytes = 0;
    row.device_bytes = 8 * 1024 * MIB;
    row.other_bytes = 1024 * MIB;
    judge(NULL, OOM_SHORTAGE, "", "");
    row.other_bytes = 1025 * MIB;
    judge(NULL, OOM_OTHER_PROCESS, "", "");
    row.device_bytes = 40 * 1024 * MIB;
    judge(NULL, OOM_SHORTAGE, "", "");
    row.other_bytes = 2049 * MIB;
    judge(NULL, OOM_OTHER_PROCESS, "", "");
}
END_TEST

/* What is held outside may be no other process. */
START_TEST(what_to_do_without_others)
{
    char label[] = "model.py:39 forward";
    struct oom_site site = {
        .bytes = 90 << 20, .count = 3, .category = CATEGORY_ACTIVATION, .label = label};
    row.device_bytes = 1700 * MIB;
    row.other_bytes = 1500 * MIB;
    judge(NULL, OOM_OTHER_PROCESS, "", "stop or move them");
    ck_assert_ptr_null(strstr(row.next, "if there are none"));
    row.categories[0].category = CATEGORY_ACTIVATION;
    row.categories[0].bytes = 95 << 20;
    row.category_count = 1;
    row.sites = &site;
    row.site_count = 1;
    judge(NULL, OOM_OTHER_PROCESS, "",
          "; if there are none, the largest category is activation (95.00 MiB); to reduce it");
}
END_TEST

START_TEST(not_allowed)
{
    row.device_free_bytes = 40 * MIB;
    judge(NULL, OOM_PROCESS_LIMIT, "had 40.00 MiB free, enough for the segment of 40.00 MiB",
          "set_per_process_memory_fraction");
}
END_TEST

START_TEST(not_known)
{
    row.layout = (struct oom_layout){.is_known = false};
    judge("the tea leaves are wet", OOM_SHORTAGE, "", ""); /* no layout could have been enough */
    row.at.reserved_bytes = 139 << 20;
    judge("the tea leaves are wet", OOM_UNKNOWN, "up to 39.00 MiB", "record again");
    judge("the tea leaves are wet", OOM_UNKNOWN, "not known: the tea leaves are wet", "");
    row.layout.after_range = true;
    judge("the tea leaves are wet", OOM_UNKNOWN, "", "without --range");
}
END_TEST

START_TEST(a_hole_that_would_have_served)
{
    row.layout.pool_bytes = row.layout.inactive_bytes = row.layout.largest_bytes = 40 * MIB;
    judge(NULL, OOM_UNKNOWN, "a hole of 40.00 MiB in the pool of this request was large enough",
          "");
    row.layout.unsure_bytes = 1; /* it may have been smaller */
    judge(NULL, OOM_FRAGMENTATION, "", "");
}
END_TEST

START_TEST(sizes_beyond_all_bounds)
{
    row.requested_bytes = row.segment_bytes = UINT64_MAX;
    row.device_free_bytes = UINT64_MAX - 1;
    row.at.reserved_bytes = INT64_MIN;
    judge(NULL, OOM_FRAGMENTATION, "fragmentation", "");
    row.layout.is_known = false;
    judge("no", OOM_SHORTAGE, "a true shortage", "");
}
END_TEST

TCase *oom_tests(void)
{
    TCase *tests = tcase_create("oom");
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, too_much_in_use);
    tcase_add_test(tests, a_shortage_names_what_holds_most);
    tcase_add_test(tests, enough_in_pieces);
    tcase_add_test(tests, pieces_that_are_few);
    tcase_add_test(tests, what_pins_is_named);
    tcase_add_test(tests, free_on_another_stream);
    tcase_add_test(tests, free_in_private_pools);
    tcase_add_test(tests, free_in_pools_of_several_kinds);
    tcase_add_test(tests, free_but_not_for_a_graph);
    tcase_add_test(tests, held_by_others);
    tcase_add_test(tests, taken_by_others);
    tcase_add_test(tests, held_by_the_context);
    tcase_add_test(tests, what_to_do_without_others);
    tcase_add_test(tests, not_allowed);
    tcase_add_test(tests, not_known);
    tcase_add_test(tests, a_hole_that_would_have_served);
    tcase_add_test(tests, sizes_beyond_all_bounds);
    return tests;
}
