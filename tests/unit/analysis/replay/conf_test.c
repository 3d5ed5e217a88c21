/* PYTORCH_CUDA_ALLOC_CONF as torch 2.15 reads it. */
#include "analysis/replay/conf.h"

#include <stdio.h>
#include <string.h>

#include "unit/analysis/analysis.h"

#define MIB UINT64_C(1048576)

static struct allocator_settings parse(const char *text)
{
    struct allocator_settings settings;
    struct error err;
    ck_assert_msg(conf_parse(text, &settings, &err), "%s: %s", text, err.text);
    return settings;
}

START_TEST(every_key)
{
    struct allocator_settings settings =
        parse(" expandable_segments : True,max_split_size_mb:64,large_segment_size_mb:30,"
              "max_non_split_rounding_mb:40,garbage_collection_threshold:0.8,"
              "per_process_memory_fraction:0.5,pinned_num_register_threads:8,backend:native,");
    ck_assert(settings.rules.expandable_segments);
    ck_assert_uint_eq(settings.rules.max_split_size, 64 * MIB);
    ck_assert_uint_eq(settings.large_segment, 30 * MIB);
    ck_assert_uint_eq(settings.non_split_rounding, 40 * MIB);
    ck_assert_double_eq(settings.rules.gc_threshold, 0.8);
    ck_assert_double_eq(settings.memory_fraction, 0.5);
}
END_TEST

START_TEST(defaults)
{
    struct allocator_settings settings = parse("");
    char text[CONF_TEXT_SIZE];
    ck_assert_uint_eq(settings.rules.max_split_size, UINT64_MAX);
    ck_assert(!settings.rules.expandable_segments);
    ck_assert_str_eq(conf_text(text, &settings), "");
}
END_TEST

/* What torch.cuda.memory._snapshot() shows after the same text. */
static const struct {
    const char *text;
    uint64_t divisions[ALLOCATOR_DIVISIONS];
} intervals[] = {
    {"4", {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}},
    {"[256:1,512:2,1024:4,>:8]", {1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8}},
    {"[4:2,64:8]", {2, 2, 2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"[>:8]", {0, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8}},
};

START_TEST(divisions)
{
    char text[128], back[CONF_TEXT_SIZE];
    snprintf(text, sizeof(text), "roundup_power2_divisions:%s", intervals[_i].text);
    struct allocator_settings settings = parse(text);
    ck_assert_mem_eq(settings.rules.divisions, intervals[_i].divisions,
                     sizeof(intervals[_i].divisions));
    struct allocator_settings again = parse(conf_text(back, &settings));
    ck_assert_mem_eq(again.rules.divisions, intervals[_i].divisions,
                     sizeof(intervals[_i].divisions));
}
END_TEST

static const char *const refused[][2] = {
    {"expandable_segments:true", "expected 'True' or 'False' at index 2 but got 'true'"},
    {"expandable_segments", "expected ':' at index 1 but got ''"},
    {"expandable_segments:", "expandable_segments has no value"},
    {"max_split_size_mb:10", "CachingAllocator option max_split_size_mb too small, must be >= 20"},
    {"max_split_size_mb:x", "max_split_size_mb: invalid number 'x'"},
    {"max_split_size_mb:-5", "max_split_size_mb: invalid number '-5'"},
    {"max_split_size_mb=64",
     "Unrecognized key 'max_split_size_mb=64' in Accelerator allocator config"},
    {"roundup_power2_divisions:3", "For roundups, the divisions has to be power of 2"},
    {"roundup_power2_divisions:0", "For roundups, the divisions has to be power of 2"},
    {"roundup_power2_divisions:[3:1]", "For roundups, the intervals have to be power of 2"},
    {"roundup_power2_divisions:[256:3]",
     "For roundups, the divisions has to be power of 2 or 0 to disable roundup"},
    {"roundup_power2_divisions:[256:1", "roundup_power2_divisions: expected closing bracket ']'"},
    {"roundup_power2_divisions:[", "roundup_power2_divisions: invalid number ''"},
    {"garbage_collection_threshold:1",
     "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"},
    {"garbage_collection_threshold:nan", "garbage_collection_threshold: invalid number 'nan'"},
    {"per_process_memory_fraction:2",
     "per_process_memory_fraction is invalid, set it in [0.0, 1.0]"},
    {"large_segment_size_mb:10", "CachingAllocator option large_segment_size_mb must be > 10 MB"},
    {"large_segment_size_mb:40,max_non_split_rounding_mb:30",
     "CachingAllocator option max_non_split_rounding_mb too small, must be >= 40"},
    {"backend:foo", "Unknown allocator backend, options are native and cudaMallocAsync"},
    {"backend:cudaMallocAsync", "the driver's allocator (cudaMallocAsync) cannot be replayed"},
    {"expandable_segments_reserve:0.5", "the replay does not know expandable_segments_reserve"},
    {",", "Unrecognized key ',' in Accelerator allocator config"},
    {"expandable_segments:True max_split_size_mb:64",
     "expected 'True' or 'False' at index 2 but got 'Truemax_split_size_mb'"},
};

START_TEST(refusals)
{
    struct allocator_settings settings;
    struct error err;
    ck_assert_msg(!conf_parse(refused[_i][0], &settings, &err), "%s", refused[_i][0]);
    ck_assert_str_eq(err.text, refused[_i][1]);
    ck_assert_int_eq(err.status, STATUS_USAGE);
}
END_TEST

TCase *replay_conf_tests(void)
{
    TCase *tests = tcase_create("replay conf");
    tcase_add_test(tests, every_key);
    tcase_add_test(tests, defaults);
    tcase_add_loop_test(tests, divisions, 0, sizeof(intervals) / sizeof(intervals[0]));
    tcase_add_loop_test(tests, refusals, 0, sizeof(refused) / sizeof(refused[0]));
    return tests;
}
