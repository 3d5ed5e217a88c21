#include "unit/decode/run/run.h"

Suite *unit_suite(void)
{
    Suite *suite = suite_create("run");
    suite_add_tcase(suite, run_names_tests());
    suite_add_tcase(suite, run_operators_tests());
    suite_add_tcase(suite, run_stats_tests());
    suite_add_tcase(suite, run_tables_tests());
    return suite;
}
