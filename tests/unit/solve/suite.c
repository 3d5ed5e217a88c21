#include "unit/solve/solve.h"

Suite *unit_suite(void)
{
    Suite *suite = suite_create("solve");
    suite_add_tcase(suite, backend_tests());
    suite_add_tcase(suite, cost_table_tests());
    suite_add_tcase(suite, cuts_tests());
    suite_add_tcase(suite, flops_tests());
    suite_add_tcase(suite, outer_tests());
    suite_add_tcase(suite, peak_tests());
    suite_add_tcase(suite, recorded_placement_tests());
    suite_add_tcase(suite, recorded_tests());
    suite_add_tcase(suite, rivals_tests());
    suite_add_tcase(suite, rotor_tests());
    suite_add_tcase(suite, schedule_tests());
    suite_add_tcase(suite, shared_tests());
    suite_add_tcase(suite, sum_tests());
    suite_add_tcase(suite, weighed_tests());
    return suite;
}
