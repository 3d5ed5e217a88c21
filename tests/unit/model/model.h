/* The test cases of the model room, one a file. */
#ifndef MEMSNAP_TESTS_UNIT_MODEL_MODEL_H
#define MEMSNAP_TESTS_UNIT_MODEL_MODEL_H

#include "unit/unit.h"

TCase *addrmap_tests(void);
TCase *ahead_tests(void);
TCase *allocator_rules_tests(void);
TCase *fit_tests(void);
TCase *layout_tests(void);
TCase *loader_tests(void);
TCase *loader_limit_tests(void);
TCase *recording_tests(void);
TCase *snapshot_tests(void);
TCase *summary_tests(void);
TCase *timeline_tests(void);
TCase *timeline_bounds_tests(void);
TCase *timeline_cut_tests(void);
TCase *timeline_point_tests(void);
TCase *timeline_random_tests(void);
TCase *window_tests(void);

#endif
