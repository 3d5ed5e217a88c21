/* Pools, pinned memory, and possible savings by settings, of handwritten dumps. */
#include "analysis/pool/fragmentation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/report.h"
#include "unit/analysis/analysis.h"

#define MIB (UINT64_C(1) << 20)

static struct buffer segments;
static const char *settings;
static struct snapshot *snapshot;
static struct timeline *timeline;
static struct site_table *sites;
static struct device_report *report;

static void setup(void)
{
    segments = (struct buffer)BUFFER_INIT;
    settings = "";
    snapshot = NULL;
    timeline = NULL;
    sites = NULL;
    report = NULL;
}

static void teardown(void)
{
    device_report_destroy(report);
    site_table_destroy(sites);
    timeline_destroy(timeline);
    snapshot_destroy(snapshot);
    buffer_release(&segments);
}

/* `blocks`: sizes in KiB, those in use with a + before them: "+512 1536". */
static void segment(const char *kind, uint64_t address, const char *more, const char *blocks)
{
    uint64_t at = address;
    struct buffer list = BUFFER_INIT;
    while (*blocks) {
        bool active = *blocks == '+';
        char *end;
        uint64_t size = strtoull(blocks + active, &end, 10) * 1024;
        buffer_printf(&list,
                      "%s{\"address\":%llu,\"size\":%llu,\"requested_size\":%llu,\"state\":\"%s\","
                      "\"frames\":[{\"name\":\"keep\",\"filename\":\"/a/log.py\",\"line\":7}]}",
                      list.size ? "," : "", (unsigned long long)at, (unsigned long long)size,
                      (unsigned long long)(size - 100), active ? "active_allocated" : "inactive");
        at += size;
        blocks = end + strspn(end, " ");
    }
    buffer_printf(&segments,
                  "%s{\"device\":0,\"address\":%llu,\"total_size\":%llu,\"stream\":0,"
                  "\"segment_type\":\"%s\",\"segment_pool_id\":[0,0]%s,\"frames\":[],"
                  "\"blocks\":[%s]}",
                  segments.size ? "," : "", (unsigned long long)address,
                  (unsigned long long)(at - address), kind, more, list.bytes);
    buffer_release(&list);
}

static const struct fragmentation *look(void)
{
    struct buffer json = BUFFER_INIT;
    struct load_options load = {0};
    struct report_options options = {.top = 10};
    struct error err;
    buffer_printf(&json, "{\"segments\":[%s],\"device_traces\":[[]],\"allocator_settings\":{%s}}",
                  segments.bytes, settings);
    snapshot = snapshot_load_memory(json.bytes, json.size, &load, &err);
    buffer_release(&json);
    ck_assert_ptr_nonnull(snapshot);
    timeline = timeline_build(snapshot, 0, &err);
    sites = site_table_create(snapshot->symbols, &err);
    ck_assert(timeline && sites);
    report = device_report_build(timeline, sites, &options, &err);
    ck_assert_ptr_nonnull(report);
    return &report->fragmentation;
}

START_TEST(pools_are_told_apart)
{
    segment("large", 0x10000000, "", "+4096 16384");
    segment("large", 0x20000000, "", "20480");
    segment("large", 0x30000000, ",\"stream\":5", "+20480");
    segment("large", 0x40000000, ",\"segment_pool_id\":[0,2]", "20480");
    segment("small", 0x50000000, "", "+1 1023 +4 1020");
    const struct pool_rows *pools = &look()->dump.pools;
    ck_assert_uint_eq(pools->count, 4);
    const struct pool_row *row = &pools->items[0];
    ck_assert(!row->key.is_small && row->key.stream == 0 && row->key.pool[1] == 0);
    ck_assert_uint_eq(row->segments, 2);
    ck_assert_uint_eq(row->reserved_bytes, 40 * MIB);
    ck_assert_uint_eq(row->active_bytes, 4 * MIB);
    ck_assert_uint_eq(row->requested_bytes, 4 * MIB - 100);
    ck_assert_uint_eq(row->inactive_split_bytes, 16 * MIB);
    ck_assert_uint_eq(row->releasable_bytes, 20 * MIB);
    ck_assert_uint_eq(row->after_graphs_bytes, 0);
    ck_assert_uint_eq(row->largest_hole_bytes, 20 * MIB);
    row = &pools->items[2]; /* of a CUDA graph, which keeps it */
    ck_assert(pool_key_is_private(&row->key));
    ck_assert_uint_eq(row->releasable_bytes, 20 * MIB);
    ck_assert_uint_eq(row->after_graphs_bytes, 20 * MIB);
    ck_assert_uint_eq(pools->total.after_graphs_bytes, 20 * MIB);
    row = &pools->items[3];
    ck_assert(row->key.is_small);
    ck_assert_uint_eq(row->active_bytes, 5 * 1024);
    ck_assert_uint_eq(row->inactive_split_bytes, 2043 * 1024);
    ck_assert_uint_eq(pools->total.reserved_bytes, timeline->state.reserved_bytes);
    ck_assert_uint_eq(pools->total.active_bytes, timeline->state.active_bytes);
    ck_assert_uint_eq(pools->total.inactive_split_bytes + pools->total.releasable_bytes,
                      timeline->state.inactive_bytes);
}
END_TEST

START_TEST(expandable_pages_are_releasable)
{
    /* 20 MiB pages; the hole from 4 to 56 MiB covers the one from 20 to 40 MiB */
    segment("large", 0x10000000, ",\"is_expandable\":true", "+4096 53248 +4096");
    const struct pool_row *row = &look()->dump.pools.items[0];
    ck_assert_uint_eq(row->releasable_bytes, 20 * MIB);
    ck_assert_uint_eq(row->inactive_split_bytes, 32 * MIB);
}
END_TEST

START_TEST(a_block_alone_pins_its_segment)
{
    segment("large", 0x10000000, "", "+2048 18432");
    segment("large", 0x20000000, "", "10240 +2048 8192");
    segment("large", 0x30000000, "", "+6144 14336");       /* not that small */
    segment("large", 0x40000000, "", "+2048 16384 +2048"); /* not alone */
    segment("large", 0x50000000, ",\"is_expandable\":true", "+2048 18432");
    segment("large", 0x60000000, ",\"segment_pool_id\":[3,0]", "+2048 18432"); /* of a graph */
    const struct pin_rows *pinned = &look()->pinned;
    ck_assert_uint_eq(pinned->count, 1);
    ck_assert_uint_eq(pinned->segments, 2);
    ck_assert_uint_eq(pinned->pinned_bytes, 36 * MIB);
    ck_assert_uint_eq(pinned->items[0].block_bytes, 4 * MIB);
    ck_assert_str_eq(pinned->items[0].label, "log.py:7 keep");
}
END_TEST

START_TEST(expandable_segments_could_save_what_is_stuck)
{
    for (uint64_t i = 1; i <= 4; i++)
        segment("large", i << 28, "", "+4096 16384");
    segment("large", 9u << 28, "", "20480"); /* given back anyway */
    const struct advice *advice = look()->dump.advice;
    /* 16 MiB in one page of 20 */
    ck_assert_uint_eq(advice[SETTING_EXPANDABLE_SEGMENTS].would_save_bytes, 60 * MIB);
    ck_assert(!advice[SETTING_EXPANDABLE_SEGMENTS].in_force);
    ck_assert_uint_eq(advice[SETTING_MAX_SPLIT_SIZE].would_save_bytes, 0);
    ck_assert_uint_eq(advice[SETTING_GC_THRESHOLD].would_save_bytes, 20 * MIB);
    ck_assert(!advice[SETTING_ROUNDUP_DIVISIONS].is_derivable);
}
END_TEST

START_TEST(splitting_of_large_segments_could_be_limited)
{
    segment("large", 0x10000000, "", "+4096 61440");
    ck_assert_uint_eq(look()->dump.advice[SETTING_MAX_SPLIT_SIZE].would_save_bytes, 60 * MIB);
}
END_TEST

START_TEST(settings_in_force_are_known)
{
    settings = "\"expandable_segments\":true,\"max_split_size\":134217728,"
               "\"garbage_collection_threshold\":0.8,"
               "\"roundup_power2_divisions\":{\"1\":4,\"2\":4}";
    segment("large", 0x10000000, "", "+1280 19200"); /* 1280 KiB - 100 B, as a division has it */
    const struct advice *advice = look()->dump.advice;
    for (int i = 0; i < SETTING_COUNT; i++)
        ck_assert_msg(advice[i].in_force, "%s", advice[i].setting);
    ck_assert_uint_eq(advice[SETTING_MAX_SPLIT_SIZE].would_save_bytes, 0);
    ck_assert_uint_eq(advice[SETTING_ROUNDUP_DIVISIONS].would_save_bytes, 0);
}
END_TEST

START_TEST(many_pools_end_in_a_remainder)
{
    char more[64];
    for (unsigned i = 0; i < POOL_ROWS_MOST + 10; i++) {
        snprintf(more, sizeof(more), ",\"stream\":%u", i);
        segment("small", (uint64_t)(i + 1) << 28, more, "+1 2047");
    }
    const struct pool_rows *pools = &look()->dump.pools;
    uint64_t sum = 0;
    ck_assert_uint_eq(pools->count, POOL_ROWS_MOST);
    for (size_t i = 0; i < pools->count; i++)
        sum += pools->items[i].reserved_bytes;
    ck_assert_uint_eq(sum, timeline->state.reserved_bytes);
    ck_assert_uint_eq(pools->items[POOL_ROWS_MOST - 1].pools, 11);
    ck_assert_uint_eq(pools->total.pools, POOL_ROWS_MOST + 10);
}
END_TEST

TCase *fragmentation_tests(void)
{
    TCase *tests = tcase_create("fragmentation");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, pools_are_told_apart);
    tcase_add_test(tests, expandable_pages_are_releasable);
    tcase_add_test(tests, a_block_alone_pins_its_segment);
    tcase_add_test(tests, expandable_segments_could_save_what_is_stuck);
    tcase_add_test(tests, splitting_of_large_segments_could_be_limited);
    tcase_add_test(tests, settings_in_force_are_known);
    tcase_add_test(tests, many_pools_end_in_a_remainder);
    return tests;
}
