/* The test cases of the solve room, one for each file. */
#ifndef MEMSNAP_TESTS_UNIT_SOLVE_SOLVE_H
#define MEMSNAP_TESTS_UNIT_SOLVE_SOLVE_H

#include "unit/unit.h"

TCase *backend_tests(void);
TCase *cost_table_tests(void);
TCase *cuts_tests(void);
TCase *flops_tests(void);
TCase *outer_tests(void);
TCase *peak_tests(void);
TCase *recorded_placement_tests(void);
TCase *recorded_tests(void);
TCase *rivals_tests(void);
TCase *rotor_tests(void);
TCase *schedule_tests(void);
TCase *shared_tests(void);
TCase *sum_tests(void);
TCase *weighed_tests(void);

#endif
