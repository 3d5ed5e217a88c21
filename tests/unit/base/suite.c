#include "unit/base/base.h"

Suite *unit_suite(void)
{
    Suite *suite = suite_create("base");
    suite_add_tcase(suite, arena_tests());
    suite_add_tcase(suite, background_tests());
    suite_add_tcase(suite, budget_tests());
    suite_add_tcase(suite, buffer_tests());
    suite_add_tcase(suite, error_tests());
    suite_add_tcase(suite, hash_tests());
    suite_add_tcase(suite, idtable_tests());
    suite_add_tcase(suite, machine_tests());
    suite_add_tcase(suite, pages_tests());
    suite_add_tcase(suite, progress_tests());
    suite_add_tcase(suite, symbols_tests());
    suite_add_tcase(suite, text_tests());
    suite_add_tcase(suite, traceback_tests());
    suite_add_tcase(suite, units_tests());
    suite_add_tcase(suite, utf8_tests());
    return suite;
}
