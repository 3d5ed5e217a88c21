/* The test cases of the analysis room, one a file. */
#ifndef MEMSNAP_TESTS_UNIT_ANALYSIS_ANALYSIS_H
#define MEMSNAP_TESTS_UNIT_ANALYSIS_ANALYSIS_H

#include "analysis/code/reason.h"
#include "unit/unit.h"

TCase *bands_tests(void);
TCase *category_tests(void);
TCase *fit_search_tests(void);
TCase *fit_summary_tests(void);
TCase *shard_columns_tests(void);
TCase *shard_tests(void);
TCase *flame_tests(void);
TCase *category_preexisting_tests(void);
TCase *diff_tests(void);
TCase *findings_tests(void);
TCase *category_ends_tests(void);
TCase *category_guess_tests(void);
TCase *category_caches_tests(void);
TCase *category_passes_tests(void);
TCase *category_roles_tests(void);
TCase *fragmentation_tests(void);
TCase *oom_error_tests(void);
TCase *oom_tests(void);
TCase *forward_chain_tests(void);
TCase *replan_tests(void);
TCase *reason_tests(void);
TCase *regex_tests(void);
TCase *report_tests(void);
TCase *report_notices_tests(void);
TCase *labels_tests(void);
TCase *layer_panels_tests(void);
TCase *joint_tests(void);
TCase *layers_report_tests(void);
TCase *operator_curves_tests(void);
TCase *rank_name_tests(void);
TCase *diff_summaries_tests(void);
TCase *ranks_tests(void);
TCase *trend_tests(void);
TCase *segment_map_tests(void);
TCase *site_names_tests(void);
TCase *site_tests(void);
TCase *growth_fit_tests(void);
TCase *growth_tests(void);
TCase *dropped_graphs_tests(void);
TCase *pending_tests(void);
TCase *steps_tests(void);
TCase *check_tests(void);
TCase *check_rules_tests(void);
TCase *check_rule_set_tests(void);
TCase *site_pattern_tests(void);
TCase *replay_allocator_tests(void);
TCase *replay_block_set_tests(void);
TCase *replay_conf_tests(void);
TCase *replay_lives_tests(void);

#endif
