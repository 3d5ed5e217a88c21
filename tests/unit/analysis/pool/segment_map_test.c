/* The order and contents of segments, at the dump and at a moment. */
#include "analysis/pool/segment_map.h"

#include <string.h>

#include "unit/analysis/analysis.h"

#define MIB (UINT64_C(1) << 20)

static struct snapshot *snapshot;
static struct timeline *timeline;
static struct segment_map map;
static struct error err;

static void teardown(void)
{
    segment_map_release(&map);
    timeline_destroy(timeline);
    snapshot_destroy(snapshot);
    timeline = NULL;
    snapshot = NULL;
}

static void load(const char *json)
{
    struct load_options options = {0};
    snapshot = snapshot_load_memory(json, strlen(json), &options, &err);
    ck_assert_ptr_nonnull(snapshot);
    timeline = timeline_build(snapshot, 0, &err);
    ck_assert_ptr_nonnull(timeline);
}

/* Two pools; the small one is first in the file. */
#define SMALL                                                                                      \
    "{\"device\":0,\"address\":4096,\"total_size\":2097152,\"stream\":0,\"segment_type\":"         \
    "\"small\","                                                                                   \
    "\"blocks\":[{\"address\":4096,\"size\":512,\"requested_size\":4,\"state\":\"active_"          \
    "allocated\"},"                                                                                \
    "{\"address\":4608,\"size\":1024,\"requested_size\":0,\"state\":\"inactive\"}]}"
#define LARGE(address, size, first, state)                                                         \
    "{\"device\":0,\"address\":" #address ",\"total_size\":" #size                                 \
    ",\"stream\":0,\"segment_type\":\"large\",\"blocks\":[{\"address\":" #address                  \
    ",\"size\":" #first ",\"requested_size\":0,\"state\":\"" state "\"}]}"

START_TEST(pools_and_segments_come_by_size)
{
    load("{\"segments\":[" SMALL "," LARGE(20971520, 20971520, 20971520, "inactive") "," LARGE(
        104857600, 41943040, 41943040, "active_pending_free") "],\"device_traces\":[[]]}");
    ck_assert(segment_map_make(&map, timeline, MAP_DUMP, &err));
    ck_assert_uint_eq(map.segment_count, 3);
    ck_assert_uint_eq(map.pools.count, 2);
    ck_assert_uint_eq(map.segments[0].size, 40 * MIB);
    ck_assert_uint_eq(map.segments[1].size, 20 * MIB);
    ck_assert(map.segments[1].is_empty);
    ck_assert_uint_eq(map.segments[2].pool, 1);
    ck_assert(map.pools.items[1].key.is_small);
    ck_assert_uint_eq(map.spans[map.segments[0].first_span].state, SPAN_PENDING);
    ck_assert_uint_eq(map.empty_segments, 1);
    ck_assert_uint_eq(map.empty_bytes, 20 * MIB);
    ck_assert_uint_eq(map.largest_segment, 1);
    ck_assert_uint_eq(map.spans[map.largest_span].size, 20 * MIB);
    ck_assert(map.spans[map.largest_span].is_releasable);
    ck_assert(!map.spans[map.largest_span].after_graph);
}
END_TEST

START_TEST(what_no_block_tells_is_kept_apart)
{
    load("{\"segments\":[" SMALL "],\"device_traces\":[[]]}");
    ck_assert(segment_map_make(&map, timeline, MAP_DUMP, &err));
    ck_assert_uint_eq(map.span_count, 3);
    ck_assert_uint_eq(map.segments[0].size, 2 * MIB);
    ck_assert_uint_eq(map.untold_bytes, 2 * MIB - 1536);
    ck_assert_uint_eq(map.spans[2].state, SPAN_UNTOLD);
    ck_assert_uint_eq(map.spans[map.largest_span].size, 1024);
    ck_assert(!map.spans[map.largest_span].is_releasable);
    ck_assert_uint_eq(map.bytes, 2 * MIB);
}
END_TEST

START_TEST(what_a_graph_keeps_is_told)
{
    load("{\"segments\":[{\"device\":0,\"address\":20971520,\"total_size\":20971520,\"stream\":0,"
         "\"segment_pool_id\":[0,3],\"segment_type\":\"large\",\"blocks\":[{\"address\":20971520,"
         "\"size\":20971520,\"requested_size\":0,\"state\":\"inactive\"}]}],"
         "\"device_traces\":[[]]}");
    ck_assert(segment_map_make(&map, timeline, MAP_DUMP, &err));
    ck_assert(map.spans[map.largest_span].is_releasable);
    ck_assert(map.spans[map.largest_span].after_graph);
}
END_TEST

START_TEST(a_moment_has_the_blocks_of_then)
{
    load("{\"segments\":[" LARGE(
        20971520, 20971520, 20971520,
        "inactive") "],\"device_traces\":[["
                    "{\"action\":\"segment_alloc\",\"addr\":20971520,\"size\":20971520,\"stream\":"
                    "0},"
                    "{\"action\":\"alloc\",\"addr\":20971520,\"size\":4194304,\"stream\":0},"
                    "{\"action\":\"free_requested\",\"addr\":20971520,\"size\":4194304,\"stream\":"
                    "0},"
                    "{\"action\":\"free_completed\",\"addr\":20971520,\"size\":4194304,\"stream\":"
                    "0}]]}");
    ck_assert(segment_map_make(&map, timeline, 1, &err));
    ck_assert_uint_eq(map.span_count, 2);
    ck_assert_uint_eq(map.spans[0].size, 4 * MIB);
    ck_assert_uint_eq(map.spans[0].state, SPAN_ALLOCATED);
    ck_assert_uint_eq(map.spans[map.largest_span].size, 16 * MIB);
    segment_map_release(&map);
    ck_assert(segment_map_make(&map, timeline, -1, &err)); /* before the segment */
    ck_assert_uint_eq(map.segment_count, 0);
    ck_assert_uint_eq(map.largest_span, NO_HOLE);
}
END_TEST

TCase *segment_map_tests(void)
{
    TCase *tests = tcase_create("segment map");
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, pools_and_segments_come_by_size);
    tcase_add_test(tests, what_no_block_tells_is_kept_apart);
    tcase_add_test(tests, what_a_graph_keeps_is_told);
    tcase_add_test(tests, a_moment_has_the_blocks_of_then);
    return tests;
}
