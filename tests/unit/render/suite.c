#include "unit/render/render.h"

Suite *unit_suite(void)
{
    Suite *suite = suite_create("render");
    suite_add_tcase(suite, check_words_tests());
    suite_add_tcase(suite, columns_tests());
    suite_add_tcase(suite, database_tests());
    suite_add_tcase(suite, fields_tests());
    suite_add_tcase(suite, fit_tests());
    suite_add_tcase(suite, pickler_tests());
    suite_add_tcase(suite, records_tests());
    suite_add_tcase(suite, suggest_loops_tests());
    suite_add_tcase(suite, escape_tests());
    suite_add_tcase(suite, plot_kinds_tests());
    suite_add_tcase(suite, plot_ranks_tests());
    suite_add_tcase(suite, run_page_tests());
    suite_add_tcase(suite, plot_text_tests());
    suite_add_tcase(suite, plot_script_tests());
    suite_add_tcase(suite, svg_titles_tests());
    return suite;
}
