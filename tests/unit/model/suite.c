#include "unit/model/model.h"

Suite *unit_suite(void)
{
    Suite *suite = suite_create("model");
    suite_add_tcase(suite, addrmap_tests());
    suite_add_tcase(suite, ahead_tests());
    suite_add_tcase(suite, allocator_rules_tests());
    suite_add_tcase(suite, fit_tests());
    suite_add_tcase(suite, layout_tests());
    suite_add_tcase(suite, loader_tests());
    suite_add_tcase(suite, loader_limit_tests());
    suite_add_tcase(suite, recording_tests());
    suite_add_tcase(suite, snapshot_tests());
    suite_add_tcase(suite, summary_tests());
    suite_add_tcase(suite, timeline_tests());
    suite_add_tcase(suite, timeline_bounds_tests());
    suite_add_tcase(suite, timeline_cut_tests());
    suite_add_tcase(suite, timeline_point_tests());
    suite_add_tcase(suite, timeline_random_tests());
    suite_add_tcase(suite, window_tests());
    return suite;
}
