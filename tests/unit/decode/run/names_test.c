#include "decode/run/names.h"

#include "decode/run/rows.h"
#include "unit/decode/run/run.h"

static void check_kind(const char *path, enum run_file_kind kind, const char *middle)
{
    struct text found = {"", 0};
    ck_assert_msg(run_file_kind(path, &found) == kind, "%s", path);
    ck_assert_msg(text_equals(found, middle), "%s: %.*s", path, (int)found.size, found.bytes);
}

START_TEST(kinds)
{
    check_kind("a/rank_12_memory_stats.yaml", RUN_FILE_STATS, "12");
    check_kind("rank_0_memory_stats.pickle.gz", RUN_FILE_STATS, "0");
    check_kind("/b/fsdp_mem_rank_1_training_step_2.log", RUN_FILE_TABLES, "1_training_step_2");
    check_kind("cuda_alloc_rank_0.training_step.2.end.pickle", RUN_FILE_SNAPSHOT,
               "0.training_step.2.end");
    check_kind("rank_0_memory_stats.yaml/other", RUN_FILE_OTHER, "");
    check_kind("a/host.12.pt.trace.json.gz", RUN_FILE_TRACE, "host.12.pt");
    check_kind("trace.json", RUN_FILE_TRACE, "");
    check_kind("trace_rank_1.json", RUN_FILE_TRACE, "_rank_1");
    check_kind("a/profile.txt.gz", RUN_FILE_TEXT, "profile");
    check_kind("a/trace.json.txt.md", RUN_FILE_OTHER, "");
    check_kind("rank__memory_stats.yaml", RUN_FILE_OTHER, "");
    check_kind("", RUN_FILE_OTHER, "");
}
END_TEST

START_TEST(ranks)
{
    uint32_t rank = 77;
    ck_assert(run_tables_rank("x/fsdp_mem_rank_31_training_step_2.log.gz", &rank));
    ck_assert_uint_eq(rank, 31);
    ck_assert(run_tables_rank("fsdp_mem_rank_5.log", &rank));
    ck_assert_uint_eq(rank, 5);
    ck_assert(!run_tables_rank("fsdp_mem_rank_x_training_step_2.log", &rank));
    ck_assert(!run_tables_rank("fsdp_mem_rank_4294967295_a_2.log", &rank));
    ck_assert(!run_tables_rank("fsdp_mem_rank_99999999999999999999_a_2.log", &rank));
    ck_assert(!run_tables_rank("rank_0_memory_stats.yaml", &rank));
    ck_assert_uint_eq(rank, 5);
}
END_TEST

TCase *run_names_tests(void)
{
    TCase *tests = tcase_create("names");
    tcase_add_test(tests, kinds);
    tcase_add_test(tests, ranks);
    return tests;
}
