/* The test cases of the solve room, one a file. */
#ifndef MEMSNAP_TESTS_UNIT_SOLVE_SOLVE_H
#define MEMSNAP_TESTS_UNIT_SOLVE_SOLVE_H

#include "unit/unit.h"

TCase *backend_tests(void);
TCase *cost_table_tests(void);

#endif
