/* The tests of the readers of a MemProfiler directory. */
#ifndef MEMSNAP_TESTS_UNIT_DECODE_RUN_RUN_H
#define MEMSNAP_TESTS_UNIT_DECODE_RUN_RUN_H

#include "unit/unit.h"

TCase *run_names_tests(void);
TCase *run_operators_tests(void);
TCase *run_stats_tests(void);
TCase *run_tables_tests(void);

#endif
