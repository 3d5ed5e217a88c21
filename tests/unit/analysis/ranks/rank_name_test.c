/* Ranks by the names of files. */
#include "analysis/ranks/rank_name.h"

#include "unit/analysis/analysis.h"

static const struct {
    const char *path, *pattern;
    int64_t rank;
} cases[] = {
    {"rank3.pickle", NULL, 3},
    {"run/rank_12.pickle", NULL, 12},
    {"run/Rank-7.json.gz", NULL, 7},
    {"cuda_alloc_rank_3_step_20.pickle", NULL, 3},
    {"snapshot_rank=5.pickle", NULL, 5},
    {"rank3/snapshot.pickle", NULL, 3},
    {"rank3/node1/snapshot_1.pickle", NULL, 3},
    {"run_5/rank_2/rank_4.pickle", NULL, 4},
    {"local_rank2/x_rank9.pickle", NULL, 9},
    {"rank1_local_rank_0.pickle", NULL, 1},
    {"snapshot_3.pickle", NULL, 3},
    {"snapshot-15.pickle.gz", NULL, 15},
    {"snapshot_step_100.pickle", NULL, -1},
    {"epoch-4.pickle", NULL, -1},
    {"3.pickle", NULL, -1},
    {"frank.pickle", NULL, -1},
    {"ranking.pickle", NULL, -1},
    {"snapshot_3/data.pickle", NULL, -1},
    {"rank99999999999.pickle", NULL, -1},
    {"cuda_alloc_rank_3_training_step.2.pickle", NULL, 3},
    {"fsdp_mem_rank_11.log", NULL, 11},
    {"rank_3_memory_stats.yaml", NULL, 3},
    {"iteration_10/rank0_memory_snapshot.pickle", NULL, 0},
    {"memory_snapshot_rank-15.pickle", NULL, 15},
    {"fsdp_rank3.pickle", NULL, 3},
    {"global_rank_6_local_rank_2.pickle", NULL, 6},
    {"node_rank_1/snapshot_rank_9.pickle", NULL, 9},
    {"tp_rank_1_pp_rank_2.pickle", NULL, -1},
    {"snapshot_local_rank_2.pickle", NULL, 2},
    {"mp_rank_00/snapshot.pickle", NULL, -1},
    {"host_Nov_22_20_31_05.pickle", NULL, -1},
    {"snapshot_20261122.pickle", NULL, -1},
    {"snapshot_10_3.pickle", NULL, 3},
    {"node7_4711.1700000000000.pt.trace.json.gz", NULL, -1},
    {"host_4711.1700000000000000000.pt.trace.json", NULL, -1},
    {"gpu-2021.pt.trace.json", NULL, -1},
    {"gpu-3.pt.trace.json", NULL, 3},
    {"cuda_12.pickle", NULL, 12},
    {"rtx-4090.pickle", NULL, -1},
    {"bench/rtx_3090.pickle.gz", NULL, -1},
    {"snapshot_2024.pickle", NULL, -1},
    {"snapshot_2100.pickle", NULL, 2100},
    {"snapshot_02024.pickle", NULL, -1},
    {"2026-11-22.pickle", NULL, -1},
    {"snapshot-2026-11-22.pickle", NULL, -1},
    {"snapshot_2026_11.pickle", NULL, -1},
    {"snapshot_22-11-2026.pickle", NULL, -1},
    {"snapshot_20261122_1430.pickle", NULL, -1},
    {"snapshot_20261122_143005.pickle", NULL, -1},
    {"snapshot_20261122_3.pickle", NULL, 3},
    {"snapshot-torch-2.8.pickle", NULL, -1},
    {"snapshot_3.20261122.pickle", NULL, 3},
    {"checkpoint-500.pickle", NULL, -1},
    {"version_0/checkpoint-500/rank_2.pickle", NULL, 2},
    {"lightning_logs/version_3/fit-memory-1.pickle", NULL, 1},
    {"lightning_logs/version_3.pickle", NULL, -1},
    {"trial_7.pickle", NULL, -1},
    {"snapshot_bs_16.pickle", NULL, -1},
    {"job-4242.pickle", NULL, -1},
    {"world_8.pickle", NULL, -1},
    {"num_gpus_8.pickle", NULL, -1},
    {"node_3.pickle", NULL, -1},
    {"dp_0_tp_1_pp_2.pickle", NULL, -1},
    {"zero_pp_rank_3_mp_rank_00_optim_states.pickle", NULL, -1},
    {"dp0_tp1_rank5.pickle", NULL, 5},
    {"torchelastic_x/none_abc/attempt_0/3/snapshot.pickle", NULL, -1},
    {"attempt_0/rank_3/snapshot.pickle", NULL, 3},
    {"iteration_10_exit/rank3_memory_snapshot.pickle", NULL, 3},
    {"profile_6.json", NULL, 6},
    {"worker_3.1700000000000000000.pt.trace.json", NULL, 3},
    {"worker3.1700000000000000000.pt.trace.json", NULL, -1},
    {"rank0.1700000000000.pt.trace.json", NULL, 0},
    {"memory_snapshot_rank_0-2024-05-01.pickle", NULL, 0},
    {"snapshot-00017.pickle", NULL, 17},
    {"megatron_snapshot_1023.pickle", NULL, 1023},
    {"", NULL, -1},
    {"/", NULL, -1},
    {"-", NULL, -1},
    {"w12.pkl", "w{RANK}.pkl", 12},
    {"gpu3/snapshot_8.pickle", "gpu{RANK}/", 3},
    {"gpu3/gpu4/x", "gpu{RANK}/", 4},
    {"run12", "{RANK}", 12},
    {"rank3.pickle", "worker{RANK}", -1},
};

START_TEST(ranks_are_read_from_names)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(rank_of_path(cases[i].path, cases[i].pattern, NULL) == cases[i].rank,
                      "%s: expected %lld, found %lld", cases[i].path, (long long)cases[i].rank,
                      (long long)rank_of_path(cases[i].path, cases[i].pattern, NULL));
}
END_TEST

START_TEST(sources_are_told)
{
    enum rank_source source;
    rank_of_path("rank_3.pickle", NULL, &source);
    ck_assert_int_eq(source, RANK_NAMED);
    rank_of_path("snapshot_3.pickle", NULL, &source);
    ck_assert_int_eq(source, RANK_NUMBER);
    rank_of_path("snapshot.pickle", NULL, &source);
    ck_assert_int_eq(source, RANK_UNKNOWN);
    rank_of_path("w7", "w{RANK}", &source);
    ck_assert_int_eq(source, RANK_PATTERN);
}
END_TEST

START_TEST(high_numbers_are_not_ranks)
{
    ck_assert(rank_numbers_may_be_ranks(3, 1));    /* one rank, of a node */
    ck_assert(rank_numbers_may_be_ranks(504, 64)); /* one of each node */
    ck_assert(!rank_numbers_may_be_ranks(50, 2));
    ck_assert(!rank_numbers_may_be_ranks(1080, 3));
}
END_TEST

START_TEST(patterns_have_one_placeholder)
{
    ck_assert(rank_pattern_is_valid("a{RANK}b"));
    ck_assert(!rank_pattern_is_valid("a"));
    ck_assert(!rank_pattern_is_valid("{RANK}{RANK}"));
}
END_TEST

TCase *rank_name_tests(void)
{
    TCase *tests = tcase_create("rank names");
    tcase_add_test(tests, ranks_are_read_from_names);
    tcase_add_test(tests, sources_are_told);
    tcase_add_test(tests, high_numbers_are_not_ranks);
    tcase_add_test(tests, patterns_have_one_placeholder);
    return tests;
}
