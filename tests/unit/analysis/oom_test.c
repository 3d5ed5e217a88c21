/* The verdict on an out-of-memory event, and its words. */
#include "analysis/oom.h"

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
    oom_judge(&row, &rules, doubt, UNIT_AUTO);
    ck_assert_str_eq(oom_verdict_name(row.verdict), oom_verdict_name(verdict));
    ck_assert_msg(strstr(row.sentence, sentence) != NULL, "\"%s\" is not in \"%s\"", sentence,
                  row.sentence);
    ck_assert_msg(strstr(row.next, next) != NULL, "\"%s\" is not in \"%s\"", next, row.next);
}

START_TEST(too_much_in_use)
{
    judge(NULL, OOM_SHORTAGE,
          "100.00 MiB are in use, and 1.00 MiB free on the device with 10.00 MiB", "");
}
END_TEST

START_TEST(a_shortage_names_what_holds_most)
{
    char label[] = "model.py:39 forward";
    struct oom_site site = {90 << 20, 3, CATEGORY_ACTIVATION, label};
    row.categories[0].category = CATEGORY_ACTIVATION;
    row.categories[0].bytes = 95 << 20;
    row.category_count = 1;
    row.sites = &site;
    row.site_count = 1;
    judge(NULL, OOM_SHORTAGE, "a true shortage", "most is activation (95.00 MiB)");
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
          "39.00 MiB unused in the pool's segments are enough, but the "
          "largest hole is 10.00 MiB",
          "expandable_segments:True");
    rules.expandable_segments = true;
    judge(NULL, OOM_FRAGMENTATION, "fragmentation", "is on already");
    row.layout.pool_bytes--;
    row.layout.inactive_bytes--;
    judge(NULL, OOM_SHORTAGE, "a true shortage", "");
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

START_TEST(free_elsewhere)
{
    row.layout.inactive_bytes = 60 * MIB;
    row.layout.elsewhere_bytes = 50 * MIB;
    row.layout.elsewhere = (struct pool_key){.stream = 7};
    judge(NULL, OOM_OTHER_POOL,
          "the default pool of stream 7; the largest hole of its own pool is "
          "10.00 MiB",
          "allocate on one stream");
    row.layout.elsewhere = (struct pool_key){.pool = {0, 3}};
    judge(NULL, OOM_OTHER_POOL, "private pool (0, 3) of a CUDA graph", "share one pool");
    row.key.pool[1] = 4;
    row.layout.elsewhere = (struct pool_key){.stream = 0};
    judge(NULL, OOM_OTHER_POOL, "the default pool", "empty_cache() before the capture");
    row.key.pool[1] = 0;
    row.layout.elsewhere = (struct pool_key){.is_small = true};
    judge(NULL, OOM_OTHER_POOL, "the default pool, for requests up to 1 MiB",
          "expandable_segments:True");
    rules.expandable_segments = true;
    judge(NULL, OOM_OTHER_POOL, "the default pool, for requests up to 1 MiB", "is on already");
    ck_assert_ptr_null(strstr(row.next, "set PYTORCH"));
}
END_TEST

START_TEST(held_by_others)
{
    row.device_bytes = 150 * MIB;
    row.other_bytes = 39 * MIB;
    judge(NULL, OOM_OTHER_PROCESS, "39.00 MiB of the device's 150.00 MiB are held by other",
          "nvidia-smi");
    row.device_is_least = true;
    judge(NULL, OOM_OTHER_PROCESS, "at least 39.00 MiB of the device's memory (150.00 MiB or more)",
          "nvidia-smi");
    row.other_bytes = 38 * MIB; /* would not have been enough */
    judge(NULL, OOM_SHORTAGE, "", "");
    row.requested_bytes = 2 * MIB;
    row.segment_bytes = 20 * MIB;
    row.layout.largest_bytes = row.layout.pool_bytes = row.layout.inactive_bytes = 0;
    row.device_bytes = 100 * MIB;
    row.other_bytes = 5 * MIB; /* no more than a CUDA context takes */
    judge(NULL, OOM_SHORTAGE, "", "");
    row.other_bytes = 6 * MIB;
    judge(NULL, OOM_OTHER_PROCESS, "", "");
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
    judge(NULL, OOM_UNKNOWN, "a hole of 40.00 MiB in its own pool would have served", "");
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
    tcase_add_test(tests, what_pins_is_named);
    tcase_add_test(tests, free_elsewhere);
    tcase_add_test(tests, held_by_others);
    tcase_add_test(tests, not_allowed);
    tcase_add_test(tests, not_known);
    tcase_add_test(tests, a_hole_that_would_have_served);
    tcase_add_test(tests, sizes_beyond_all_bounds);
    return tests;
}
