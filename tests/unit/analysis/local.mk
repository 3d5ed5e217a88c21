unit_runners += tests/unit/analysis/run
tests_unit_analysis_run_CPPFLAGS = $(unit_cppflags)
tests_unit_analysis_run_LDADD = $(unit_libs)
tests_unit_analysis_run_SOURCES = $(unit_common) \
	tests/unit/analysis/analysis.h \
	tests/unit/analysis/capture.c \
	tests/unit/analysis/capture.h \
	tests/unit/analysis/category/caches_test.c \
	tests/unit/analysis/category/category_test.c \
	tests/unit/analysis/category/constructors_test.c \
	tests/unit/analysis/category/ends_test.c \
	tests/unit/analysis/category/guess_test.c \
	tests/unit/analysis/category/kept_lists_test.c \
	tests/unit/analysis/category/late_test.c \
	tests/unit/analysis/category/passes_test.c \
	tests/unit/analysis/category/plain_code_test.c \
	tests/unit/analysis/category/plain_weights_test.c \
	tests/unit/analysis/category/preexisting_test.c \
	tests/unit/analysis/category/roles_test.c \
	tests/unit/analysis/category/samples_test.c \
	tests/unit/analysis/chain/calls_test.c \
	tests/unit/analysis/chain/forward_chain_test.c \
	tests/unit/analysis/chain/pass.c \
	tests/unit/analysis/chain/pass.h \
	tests/unit/analysis/chain/pass_test.c \
	tests/unit/analysis/chain/replan_test.c \
	tests/unit/analysis/chain/sizes_test.c \
	tests/unit/analysis/check/check_test.c \
	tests/unit/analysis/check/rule_set_test.c \
	tests/unit/analysis/check/rules_test.c \
	tests/unit/analysis/code/dispatched_test.c \
	tests/unit/analysis/code/labels_test.c \
	tests/unit/analysis/code/reason_test.c \
	tests/unit/analysis/code/regex_test.c \
	tests/unit/analysis/code/site_names_test.c \
	tests/unit/analysis/code/site_pattern_test.c \
	tests/unit/analysis/code/site_test.c \
	tests/unit/analysis/curves/bands_test.c \
	tests/unit/analysis/diff/diff_test.c \
	tests/unit/analysis/fit/search_test.c \
	tests/unit/analysis/fit/summary_test.c \
	tests/unit/analysis/flame/flame_test.c \
	tests/unit/analysis/growth/dropped_graphs_test.c \
	tests/unit/analysis/growth/gradients_test.c \
	tests/unit/analysis/growth/growth_fit_test.c \
	tests/unit/analysis/growth/growth_test.c \
	tests/unit/analysis/growth/idle_gradients_test.c \
	tests/unit/analysis/growth/kept_results_test.c \
	tests/unit/analysis/growth/pending_test.c \
	tests/unit/analysis/joint/joint_test.c \
	tests/unit/analysis/layers/layers_test.c \
	tests/unit/analysis/layers/operator_curves_test.c \
	tests/unit/analysis/layers/panels_test.c \
	tests/unit/analysis/phase/forward_test.c \
	tests/unit/analysis/phase/steps_test.c \
	tests/unit/analysis/pool/fragmentation_test.c \
	tests/unit/analysis/pool/oom_error_test.c \
	tests/unit/analysis/pool/oom_test.c \
	tests/unit/analysis/pool/segment_map_test.c \
	tests/unit/analysis/ranks/rank_name_test.c \
	tests/unit/analysis/diff/summaries_test.c \
	tests/unit/analysis/ranks/ranks_test.c \
	tests/unit/analysis/replay/allocator_test.c \
	tests/unit/analysis/replay/block_set_test.c \
	tests/unit/analysis/replay/conf_test.c \
	tests/unit/analysis/replay/lives_test.c \
	tests/unit/analysis/replay/torch_programs.c \
	tests/unit/analysis/replay/torch_programs.h \
	tests/unit/analysis/report/elementwise_test.c \
	tests/unit/analysis/report/findings_copies_test.c \
	tests/unit/analysis/report/findings_inference_test.c \
	tests/unit/analysis/report/findings_logits_test.c \
	tests/unit/analysis/report/findings_operators_test.c \
	tests/unit/analysis/report/findings_pairs_test.c \
	tests/unit/analysis/report/findings_passes_test.c \
	tests/unit/analysis/report/findings_peak_test.c \
	tests/unit/analysis/report/findings_training_test.c \
	tests/unit/analysis/report/findings_test.c \
	tests/unit/analysis/report/oom_rest_test.c \
	tests/unit/analysis/report/report_notices_test.c \
	tests/unit/analysis/report/report_test.c \
	tests/unit/analysis/shard/by_unit_test.c \
	tests/unit/analysis/shard/columns_test.c \
	tests/unit/analysis/shard/curves_test.c \
	tests/unit/analysis/shard/optimizers_test.c \
	tests/unit/analysis/shard/shard_test.c \
	tests/unit/analysis/shard/snapshot_test.c \
	tests/unit/analysis/suite.c \
	tests/unit/analysis/trend/trend_test.c \
	tests/unit/decode/layers/check.c \
	tests/unit/decode/layers/layers.h

# What PyTorch's allocator did with random programs.
EXTRA_DIST += \
	tests/unit/analysis/replay/torch-2.1.txt \
	tests/unit/analysis/replay/torch-2.12.txt \
	tests/unit/analysis/replay/torch-2.15.txt \
	tests/unit/analysis/replay/torch-2.8.txt
