/* The test cases of the base room, one a file. */
#ifndef MEMSNAP_TESTS_UNIT_BASE_BASE_H
#define MEMSNAP_TESTS_UNIT_BASE_BASE_H

#include "unit/unit.h"

TCase *arena_tests(void);
TCase *background_tests(void);
TCase *budget_tests(void);
TCase *buffer_tests(void);
TCase *error_tests(void);
TCase *hash_tests(void);
TCase *idtable_tests(void);
TCase *machine_tests(void);
TCase *pages_tests(void);
TCase *progress_tests(void);
TCase *symbols_tests(void);
TCase *units_tests(void);
TCase *text_tests(void);
TCase *traceback_tests(void);
TCase *utf8_tests(void);

#endif
