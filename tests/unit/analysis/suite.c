#include "unit/analysis/analysis.h"

Suite *unit_suite(void)
{
    Suite *suite = suite_create("analysis");
    suite_add_tcase(suite, site_names_tests());
    suite_add_tcase(suite, site_tests());
    suite_add_tcase(suite, steps_tests());
    suite_add_tcase(suite, growth_fit_tests());
    suite_add_tcase(suite, growth_tests());
    suite_add_tcase(suite, dropped_graphs_tests());
    suite_add_tcase(suite, pending_tests());
    suite_add_tcase(suite, category_tests());
    suite_add_tcase(suite, category_preexisting_tests());
    suite_add_tcase(suite, findings_tests());
    suite_add_tcase(suite, category_ends_tests());
    suite_add_tcase(suite, category_guess_tests());
    suite_add_tcase(suite, category_caches_tests());
    suite_add_tcase(suite, category_passes_tests());
    suite_add_tcase(suite, category_roles_tests());
    suite_add_tcase(suite, fragmentation_tests());
    suite_add_tcase(suite, oom_tests());
    suite_add_tcase(suite, oom_error_tests());
    suite_add_tcase(suite, labels_tests());
    suite_add_tcase(suite, forward_chain_tests());
    suite_add_tcase(suite, reason_tests());
    suite_add_tcase(suite, regex_tests());
    suite_add_tcase(suite, report_tests());
    suite_add_tcase(suite, report_notices_tests());
    suite_add_tcase(suite, bands_tests());
    suite_add_tcase(suite, segment_map_tests());
    suite_add_tcase(suite, fit_search_tests());
    suite_add_tcase(suite, fit_summary_tests());
    suite_add_tcase(suite, flame_tests());
    suite_add_tcase(suite, diff_tests());
    suite_add_tcase(suite, check_tests());
    suite_add_tcase(suite, check_rules_tests());
    suite_add_tcase(suite, check_rule_set_tests());
    suite_add_tcase(suite, site_pattern_tests());
    suite_add_tcase(suite, layers_report_tests());
    suite_add_tcase(suite, layer_panels_tests());
    suite_add_tcase(suite, operator_curves_tests());
    suite_add_tcase(suite, rank_name_tests());
    suite_add_tcase(suite, ranks_tests());
    suite_add_tcase(suite, replay_block_set_tests());
    suite_add_tcase(suite, replay_conf_tests());
    return suite;
}
