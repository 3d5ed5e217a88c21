/* The test cases of the render room, one a file. */
#ifndef MEMSNAP_TESTS_UNIT_RENDER_RENDER_H
#define MEMSNAP_TESTS_UNIT_RENDER_RENDER_H

#include "unit/unit.h"

TCase *check_words_tests(void);
TCase *columns_tests(void);
TCase *database_tests(void);
TCase *fields_tests(void);
TCase *fit_tests(void);
TCase *pickler_tests(void);
TCase *records_tests(void);
TCase *plot_kinds_tests(void);
TCase *plot_ranks_tests(void);
TCase *plot_text_tests(void);
TCase *plot_script_tests(void);
TCase *svg_titles_tests(void);
TCase *run_page_tests(void);
TCase *suggest_loops_tests(void);
TCase *escape_tests(void);

#endif
